#include "parley/device/statistics.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace parley::device {
namespace {

TEST(Percentiles, NearestRank) {
  std::vector<double> values(100);
  std::iota(values.rbegin(), values.rend(), 1);
  const auto all = percentiles(values);
  EXPECT_EQ(all.count, 100U);
  EXPECT_DOUBLE_EQ(all.p50, 50);
  EXPECT_DOUBLE_EQ(all.p90, 90);
  EXPECT_DOUBLE_EQ(all.p99, 99);
  EXPECT_DOUBLE_EQ(all.max, 100);
}

TEST(Percentiles, FewValues) {
  EXPECT_EQ(percentiles({}).count, 0U);
  const auto one = percentiles({-3});
  EXPECT_DOUBLE_EQ(one.p50, -3);
  EXPECT_DOUBLE_EQ(one.max, -3);
  const auto three = percentiles({5, 1, 3});
  EXPECT_DOUBLE_EQ(three.p50, 3);
  EXPECT_DOUBLE_EQ(three.p90, 5);
}

TEST(ReplyPacing, LateAndEarlyFrames) {
  const auto zero = TimePoint{} + std::chrono::hours(1);
  ReplyPacing pacing(Millis(60), Millis(180));
  struct Step {
    int arrives_ms;
    int late_ms;
    int early_ms;
  };
  constexpr Step steps[] = {{0, 0, -180}, {0, -60, -120}, {1, -119, -61},
                            {0, -180, 0}, {50, -190, 10}, {310, 10, -190}};
  for (const auto& step : steps) {
    const auto frame = pacing.arrived(zero + Millis(step.arrives_ms));
    EXPECT_EQ(frame.late, Millis(step.late_ms)) << step.arrives_ms;
    EXPECT_EQ(frame.early, Millis(step.early_ms)) << step.arrives_ms;
  }
}

TEST(ProcessTimes, NameMayHoldAnything) {
  const auto cpu =
      parse_cpu_seconds("42 (a) b (c) S 1 42 42 0 -1 4194560 1 2 3 4 150 50 7 8 20 0 3 0 100 1000 250", 100);
  ASSERT_TRUE(cpu);
  EXPECT_DOUBLE_EQ(*cpu, 2.0);
}

TEST(ProcessTimes, BadTextsAreErrors) {
  EXPECT_FALSE(parse_cpu_seconds("", 100));
  EXPECT_FALSE(parse_cpu_seconds("42 name S 1", 100));
  EXPECT_FALSE(parse_cpu_seconds("42 (name) S 1 2 3", 100));
  EXPECT_FALSE(parse_cpu_seconds("42 (n) S 1 42 42 0 -1 4194560 1 2 3 4 x 50 7", 100));
  EXPECT_FALSE(parse_cpu_seconds("42 (n) S 1 42 42 0 -1 4194560 1 2 3 4 1 50 7", 0));
}

TEST(ProcessMemory, ReadsVmRss) {
  const auto rss = parse_rss_kib("Name:\tparley\nVmHWM:\t  9000 kB\nVmRSS:\t  8123 kB\nThreads:\t2\n");
  ASSERT_TRUE(rss);
  EXPECT_DOUBLE_EQ(*rss, 8123);
  EXPECT_FALSE(parse_rss_kib("Name:\tkthreadd\n"));
  EXPECT_FALSE(parse_rss_kib("VmRSS:\t many kB\n"));
}

TEST(TurnLog, TakesAddedMsAndSkipsTheRest) {
  const auto values = parse_added_ms(
      "{\"added_ms\": 1.5}\n"
      "not json\n"
      "{\"added_ms\": null}\n"
      "{\"added_ms\": \"7\"}\n"
      "[1]\n"
      "\n"
      "{\"turn\": 3, \"added_ms\": 4}\n"
      "{\"added_ms\": 9");
  EXPECT_EQ(values, (std::vector<double>{1.5, 4}));
  EXPECT_TRUE(parse_added_ms("").empty());
}

}  // namespace
}  // namespace parley::device
