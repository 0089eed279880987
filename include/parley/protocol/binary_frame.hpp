#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "parley/core/error.hpp"

// Audio on the WebSocket: PROTOCOL.md, section 2. All numbers are big-endian.
namespace parley::protocol {

using Bytes = std::span<const std::uint8_t>;

/// The framing that hello agreed on.
enum class Framing : std::uint8_t { raw = 1, timestamped = 2, compact = 3 };

enum class FrameType { opus, json };

/// One binary message taken apart; `payload` points into it.
struct BinaryFrame {
  FrameType type = FrameType::opus;
  std::uint32_t timestamp = 0;  ///< framing 2 only: ms
  Bytes payload;
};

/// The longest Opus packet that is let through (RFC 6716: 1275 bytes a frame; 120 ms of 20 ms frames).
inline constexpr std::size_t kMaxOpusPacket = 1275 * 6 + 7;

/// Errc::invalid_input: header too short, size that disagrees with the message, unknown type, empty payload,
/// Opus over kMaxOpusPacket. The version field of framing 2 is not checked.
Result<BinaryFrame> parse_frame(Framing framing, Bytes message);

/// Header bytes that go before an Opus packet of `payload` bytes, 0, 16 or 4 of them, and the packet behind.
/// Errc::limit when framing 3 cannot say the size (over 65535).
Result<std::vector<std::uint8_t>> write_frame(Framing framing, FrameType type, Bytes payload,
                                              std::uint32_t timestamp);

}  // namespace parley::protocol
