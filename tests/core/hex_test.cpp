#include "parley/core/hex.hpp"

#include <gtest/gtest.h>

#include <array>

namespace parley {
namespace {

TEST(Hex, WritesTwoDigitsAByte) {
  EXPECT_EQ(to_hex(std::array<unsigned char, 3>{0x00, 0x7f, 0xf0}), "007ff0");
  EXPECT_EQ(to_hex({}), "");
}

TEST(Hex, DigestsAsFips180Does) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hex, RandomIsNeverTheSame) {
  EXPECT_EQ(random_hex(16).size(), 32U);
  EXPECT_NE(random_hex(16), random_hex(16));
}

}  // namespace
}  // namespace parley
