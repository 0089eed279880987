#include "parley/turn/pacer.hpp"

#include <gtest/gtest.h>

namespace parley::turn {
namespace {

using namespace std::chrono_literals;
const TimePoint kStart{10s};

TEST(PacerTest, SendsAheadByExactlyTheConfiguredTime) {
  Pacer pacer(60ms, 180ms);
  auto now = kStart;
  std::vector<Duration> sent;
  for (int frame = 0; frame < 100; ++frame) {
    now = std::max(now, pacer.next_due());
    pacer.sent(now);
    sent.push_back(now - kStart);
  }
  EXPECT_EQ(sent[3], 0ms) << "180 ms at once";
  EXPECT_EQ(sent[4], 60ms);
  EXPECT_EQ(sent[99], 99 * 60ms - 180ms) << "no drift";
}

TEST(PacerTest, LateTimersDoNotShiftTheSchedule) {
  Pacer pacer(60ms, 180ms);
  auto now = kStart;
  for (int frame = 0; frame < 1000; ++frame) {
    now = std::max(now, pacer.next_due() + 7ms);
    EXPECT_FALSE(pacer.sent(now));
  }
  EXPECT_LE(pacer.playout_end(), kStart + 1000 * 60ms + 7ms);
}

TEST(PacerTest, AnUnderrunStartsTheReckoningAnew) {
  Pacer pacer(60ms, 180ms);
  pacer.sent(kStart);
  EXPECT_TRUE(pacer.sent(kStart + 1s));
  EXPECT_EQ(pacer.playout_end(), kStart + 1s + 60ms);
  EXPECT_EQ(pacer.next_due(), kStart + 1s + 60ms - 180ms);
}

TEST(PacerTest, KnowsWhatWasPlayed) {
  Pacer pacer(60ms, 180ms);
  EXPECT_EQ(pacer.played(kStart), 0);
  for (int i = 0; i < 4; ++i) pacer.sent(kStart);
  EXPECT_DOUBLE_EQ(pacer.played(kStart), 0);
  EXPECT_DOUBLE_EQ(pacer.played(kStart + 90ms), 1.5);
  EXPECT_DOUBLE_EQ(pacer.played(kStart + 1s), 4);
}

}  // namespace
}  // namespace parley::turn
