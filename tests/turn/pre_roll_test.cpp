#include "turn/pre_roll.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace parley::turn {
namespace {

std::vector<std::int16_t> range(int from, int to) {
  std::vector<std::int16_t> out(static_cast<std::size_t>(to - from));
  std::iota(out.begin(), out.end(), static_cast<std::int16_t>(from));
  return out;
}
std::vector<std::int16_t> copy(audio::PcmView view) {
  return {view.begin(), view.end()};
}

TEST(PreRoll, KeepsTheNewestInOrder) {
  for (const int piece : {1, 3, 7, 10, 25}) {
    PreRoll ring(10);
    for (int at = 0; at < 100; at += piece) {
      ring.add(range(at, std::min(at + piece, 100)));
      const int end = std::min(at + piece, 100);
      ASSERT_EQ(copy(ring.last(4)), range(std::max(0, end - 4), end)) << piece;
      ASSERT_EQ(copy(ring.last(100)), range(std::max(0, end - 10), end)) << piece;
    }
  }
}

TEST(PreRoll, ForgetsTheOldest) {
  PreRoll ring(10);
  ring.add(range(0, 8));
  ring.keep(3);
  EXPECT_EQ(copy(ring.last(10)), range(5, 8));
  ring.keep(5);
  ring.add(range(8, 10));
  EXPECT_EQ(copy(ring.last(10)), range(5, 10));
  ring.keep(0);
  EXPECT_TRUE(ring.last(10).empty());
}

TEST(PreRoll, OfNothingIsHarmless) {
  PreRoll ring(0);
  ring.add(range(0, 5));
  EXPECT_TRUE(ring.last(5).empty());
}

}  // namespace
}  // namespace parley::turn
