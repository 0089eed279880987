#include "parley/protocol/binary_frame.hpp"

#include <limits>
#include <string>
#include <utility>

namespace parley::protocol {
namespace {

constexpr std::size_t kTimestampedHeader = 16;
constexpr std::size_t kCompactHeader = 4;

std::uint32_t read_number(Bytes bytes) {
  std::uint32_t value = 0;
  for (const auto byte : bytes) value = value << 8U | byte;
  return value;
}

void write_number(std::vector<std::uint8_t>& out, std::uint32_t value, unsigned bytes) {
  for (unsigned i = bytes; i > 0; --i) out.push_back(static_cast<std::uint8_t>(value >> (8 * (i - 1))));
}

Error invalid(std::string why) {
  return {Errc::invalid_input, std::move(why)};
}

std::size_t header_size(Framing framing) {
  switch (framing) {
    case Framing::raw:
      return 0;
    case Framing::timestamped:
      return kTimestampedHeader;
    case Framing::compact:
      return kCompactHeader;
  }
  return 0;
}

}  // namespace

Result<BinaryFrame> parse_frame(Framing framing, Bytes message) {
  const auto header = header_size(framing);
  if (message.size() < header) {
    return invalid("the frame has " + std::to_string(message.size()) + " bytes; expected a header of " +
                   std::to_string(header));
  }
  BinaryFrame frame;
  frame.payload = message.subspan(header);
  if (framing != Framing::raw) {
    const bool timestamped = framing == Framing::timestamped;
    const auto type = timestamped ? read_number(message.subspan(2, 2)) : message[0];
    const auto size = timestamped ? read_number(message.subspan(12, 4)) : read_number(message.subspan(2, 2));
    if (timestamped) frame.timestamp = read_number(message.subspan(8, 4));
    if (type > 1) return invalid("the frame has the unknown type " + std::to_string(type));
    frame.type = type == 0 ? FrameType::opus : FrameType::json;
    if (size != frame.payload.size()) {
      return invalid("the frame says that its payload has " + std::to_string(size) + " bytes, but it has " +
                     std::to_string(frame.payload.size()));
    }
  }
  if (frame.payload.empty()) return invalid("the frame has no payload");
  if (frame.type == FrameType::opus && frame.payload.size() > kMaxOpusPacket) {
    return invalid("the Opus packet has " + std::to_string(frame.payload.size()) +
                   " bytes; expected at most " + std::to_string(kMaxOpusPacket));
  }
  return frame;
}

Result<std::vector<std::uint8_t>> write_frame(Framing framing, FrameType type, Bytes payload,
                                              std::uint32_t timestamp) {
  if (payload.empty()) return invalid("a frame without payload cannot be sent");
  if (framing == Framing::raw && type != FrameType::opus) return invalid("a raw frame cannot hold JSON");
  const std::size_t most = framing == Framing::compact ? std::numeric_limits<std::uint16_t>::max()
                                                       : std::numeric_limits<std::uint32_t>::max();
  if (payload.size() > most) {
    return Error(Errc::limit,
                 "a payload of " + std::to_string(payload.size()) + " bytes does not fit into a frame");
  }
  const auto size = static_cast<std::uint32_t>(payload.size());
  const std::uint32_t type_number = type == FrameType::opus ? 0 : 1;
  std::vector<std::uint8_t> out;
  out.reserve(header_size(framing) + payload.size());
  if (framing == Framing::timestamped) {
    write_number(out, 2, 2);
    write_number(out, type_number, 2);
    write_number(out, 0, 4);
    write_number(out, timestamp, 4);
    write_number(out, size, 4);
  } else if (framing == Framing::compact) {
    write_number(out, type_number, 1);
    write_number(out, 0, 1);
    write_number(out, size, 2);
  }
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

}  // namespace parley::protocol
