#include "parley/protocol/binary_frame.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parley::protocol {
namespace {

using testing::ElementsAre;

const std::vector<std::uint8_t> kPacket = {0x78, 0x01, 0x02};

TEST(BinaryFrame, IsWrittenBigEndian) {
  EXPECT_THAT(*write_frame(Framing::raw, FrameType::opus, kPacket, 7), ElementsAre(0x78, 1, 2));
  EXPECT_THAT(*write_frame(Framing::timestamped, FrameType::opus, kPacket, 0x01020304),
              ElementsAre(0, 2, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 3, 0x78, 1, 2));
  EXPECT_THAT(*write_frame(Framing::timestamped, FrameType::json, kPacket, 0),
              ElementsAre(0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0x78, 1, 2));
  EXPECT_THAT(*write_frame(Framing::compact, FrameType::opus, kPacket, 7),
              ElementsAre(0, 0, 0, 3, 0x78, 1, 2));
  EXPECT_THAT(*write_frame(Framing::compact, FrameType::json, kPacket, 7),
              ElementsAre(1, 0, 0, 3, 0x78, 1, 2));
}

TEST(BinaryFrame, PayloadPointsIntoTheMessage) {
  const auto message = *write_frame(Framing::timestamped, FrameType::opus, kPacket, 90);
  const auto frame = parse_frame(Framing::timestamped, message);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->timestamp, 90U);
  EXPECT_EQ(frame->payload.data(), message.data() + 16);
  EXPECT_EQ(frame->payload.size(), 3U);
}

TEST(BinaryFrame, OpusPacketsHaveALongest) {
  for (const auto framing : {Framing::raw, Framing::timestamped, Framing::compact}) {
    const std::vector<std::uint8_t> longest(kMaxOpusPacket, 1);
    const std::vector<std::uint8_t> longer(kMaxOpusPacket + 1, 1);
    EXPECT_TRUE(parse_frame(framing, *write_frame(framing, FrameType::opus, longest, 0)));
    const auto refused = parse_frame(framing, *write_frame(framing, FrameType::opus, longer, 0));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::invalid_input);
    EXPECT_EQ(refused.error().message, "the Opus packet has 7658 bytes; expected at most 7657");
    if (framing == Framing::raw) continue;
    EXPECT_TRUE(parse_frame(framing, *write_frame(framing, FrameType::json, longer, 0)));
  }
}

TEST(BinaryFrame, CannotSayEverySize) {
  const std::vector<std::uint8_t> largest(65535, 1);
  const std::vector<std::uint8_t> larger(65536, 1);
  EXPECT_TRUE(write_frame(Framing::compact, FrameType::json, largest, 0));
  const auto refused = write_frame(Framing::compact, FrameType::json, larger, 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::limit);
  EXPECT_TRUE(write_frame(Framing::timestamped, FrameType::json, larger, 0));
}

TEST(BinaryFrame, IsNotWrittenWithoutSense) {
  for (const auto framing : {Framing::raw, Framing::timestamped, Framing::compact}) {
    EXPECT_EQ(write_frame(framing, FrameType::opus, {}, 0).error().code, Errc::invalid_input);
  }
  EXPECT_EQ(write_frame(Framing::raw, FrameType::json, kPacket, 0).error().code, Errc::invalid_input);
}

}  // namespace
}  // namespace parley::protocol
