#include "parley/device/playout.hpp"

#include <gtest/gtest.h>

namespace parley::device {
namespace {

constexpr TimePoint kZero{};

TimePoint at(int ms) {
  return kZero + std::chrono::hours(1) + Millis(ms);
}

Playout::Packet packet(std::uint8_t mark) {
  return {mark};
}

/// Speaking since 5 ms.
Playout speaking(PlayoutSettings settings = {}) {
  Playout playout(settings);
  playout.tts_start(at(0));
  playout.advance(at(5));
  return playout;
}

TEST(Playout, DropsAudioOutsideSpeaking) {
  Playout playout({});
  playout.push(packet(1), at(0));
  EXPECT_EQ(playout.counts().dropped_outside, 1U);
  EXPECT_TRUE(playout.advance(at(1000)).empty());
  EXPECT_TRUE(playout.drained());
}

TEST(Playout, LosesFramesThatComeWithTheStart) {
  Playout playout({});
  playout.tts_start(at(0));
  playout.push(packet(1), at(0));
  playout.push(packet(2), at(4));
  playout.push(packet(3), at(6));
  const auto played = playout.advance(at(10));
  ASSERT_EQ(played.size(), 1U);
  EXPECT_EQ(played[0], packet(3));
  EXPECT_EQ(playout.counts().dropped_outside, 2U);
}

TEST(Playout, ASecondStartClearsTheQueue) {
  auto playout = speaking();
  for (int i = 0; i < 5; ++i) playout.push(packet(1), at(10));
  playout.tts_start(at(20));
  playout.push(packet(2), at(30));
  EXPECT_EQ(playout.counts().cleared, 4U);
  const auto played = playout.advance(at(30));
  ASSERT_EQ(played.size(), 2U);
  EXPECT_EQ(played[1], packet(2));
  EXPECT_EQ(playout.starts(), 2U);
}

TEST(Playout, PlaysOnePacketAFrame) {
  auto playout = speaking();
  for (std::uint8_t i = 0; i < 3; ++i) playout.push(packet(i), at(10));
  EXPECT_EQ(playout.advance(at(10)).size(), 1U);
  EXPECT_EQ(playout.plays_until(), at(190));
  EXPECT_EQ(playout.next_change(), at(70));
  EXPECT_TRUE(playout.advance(at(69)).empty());
  EXPECT_EQ(playout.advance(at(130)).size(), 2U);
  EXPECT_FALSE(playout.drained());
  playout.advance(at(190));
  EXPECT_TRUE(playout.drained());
  EXPECT_EQ(playout.next_change(), std::nullopt);
  EXPECT_EQ(playout.counts().underruns, 0U);
}

TEST(Playout, DropsTheNewestOnOverflow) {
  auto playout = speaking({Millis(60), 3, Millis(5)});
  for (std::uint8_t i = 0; i < 6; ++i) playout.push(packet(i), at(10));  // One plays, three wait.
  EXPECT_EQ(playout.counts().dropped_full, 2U);
  const auto played = playout.advance(at(1000));
  ASSERT_EQ(played.size(), 4U);
  EXPECT_EQ(played.back(), packet(3));
}

TEST(Playout, CountsUnderrunsWithinAReplyOnly) {
  auto playout = speaking();
  playout.push(packet(1), at(10));
  playout.push(packet(2), at(100));  // Ran dry at 70.
  EXPECT_EQ(playout.counts().underruns, 1U);
  EXPECT_EQ(playout.counts().gaps, Millis(30));
  playout.tts_stop(at(160));
  playout.tts_start(at(500));
  playout.push(packet(3), at(600));
  EXPECT_EQ(playout.counts().underruns, 1U);
}

TEST(Playout, DrainsAfterTheStopAndTakesNothingMore) {
  auto playout = speaking();
  for (std::uint8_t i = 0; i < 3; ++i) playout.push(packet(i), at(10));
  playout.tts_stop(at(20));
  playout.push(packet(9), at(26));
  EXPECT_FALSE(playout.speaking());
  EXPECT_EQ(playout.advance(at(500)).size(), 3U);
  EXPECT_EQ(playout.counts().dropped_outside, 1U);
  EXPECT_TRUE(playout.drained());
}

TEST(Playout, IsNotDrainedWhileTheMainLoopOwesAnEvent) {
  Playout playout({});
  playout.tts_start(at(0));
  EXPECT_FALSE(playout.drained());
  EXPECT_EQ(playout.next_change(), at(5));
}

TEST(Playout, TimeNeverRunsBackwards) {
  auto playout = speaking();
  playout.push(packet(1), at(100));
  playout.push(packet(2), at(50));
  playout.tts_stop(at(20));
  EXPECT_EQ(playout.next_change(), at(105));
  EXPECT_EQ(playout.advance(at(400)).size(), 2U);
}

}  // namespace
}  // namespace parley::device
