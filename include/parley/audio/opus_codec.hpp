#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "parley/audio/pcm.hpp"
#include "parley/core/error.hpp"

namespace parley::audio {

/// How much audio a packet holds, from its first bytes (RFC 6716, section 3.1); `nominal` for DTX packets of
/// 1 or 2 bytes and for what is no Opus.
Duration packet_duration(std::span<const std::uint8_t> packet, Millis nominal);

/// One Opus stream of a device, mono. Costs 18 KB: made when a conversation starts.
class OpusDecoder {
 public:
  /// `rate`: what to decode to, whatever the stream was encoded at: 8000, 12000, 16000, 24000 or 48000 Hz.
  static Result<OpusDecoder> make(int rate);

  /// Decodes one packet into a buffer of this decoder, valid until the next call. Packets of 1 or 2 bytes are
  /// DTX: silence (comfort noise) of `nominal`. Errc::invalid_input for undecodable ones and for more than
  /// 120 ms.
  Result<PcmView> decode(std::span<const std::uint8_t> packet, Millis nominal);

  int rate() const { return rate_; }

 private:
  struct Free {
    void operator()(void* state) const;
  };
  OpusDecoder(void* state, int rate);
  std::unique_ptr<void, Free> state_;
  int rate_;
  std::vector<std::int16_t> buffer_;
};

struct OpusEncoderSettings {
  int rate = 24000;
  int bitrate = 32000;
  int complexity = 5;
  /// RFC 6716: speech at low rates (true) or everything else, cheaper at low complexity (false).
  bool voip = false;
  bool dtx = false;
};

/// One Opus stream to a device, mono. Costs 44 KB: made when a reply starts.
class OpusEncoder {
 public:
  static Result<OpusEncoder> make(const OpusEncoderSettings& settings);

  /// Encodes exactly one frame of 2.5 to 120 ms (a length Opus allows). The packet is valid until the next
  /// call.
  Result<std::span<const std::uint8_t>> encode(PcmView frame);
  /// Starts a new stream: nothing of what was encoded before is heard in what comes.
  void reset();

 private:
  struct Free {
    void operator()(void* state) const;
  };
  explicit OpusEncoder(void* state);
  std::unique_ptr<void, Free> state_;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace parley::audio
