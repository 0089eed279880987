#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "parley/core/error.hpp"

namespace parley::audio {

/// Raw little-endian 16-bit samples that come in pieces cut anywhere, mixed to mono.
class PcmAssembler {
 public:
  /// `channels` from 1 to 8.
  explicit PcmAssembler(std::size_t channels = 1) : channels_(channels) {}
  /// Appends what is complete to `samples`; keeps the rest.
  void feed(std::span<const std::uint8_t> bytes, std::vector<std::int16_t>& samples);

 private:
  std::size_t channels_;
  std::vector<std::uint8_t> rest_;
};

/// A RIFF WAVE of 16-bit PCM that is read while it is written: the length in its header is not believed where
/// a writer could not know it yet (0 or beyond 2^31 - 1).
class WavStream {
 public:
  /// Appends the samples in `bytes` to `samples`. Anything but 16-bit PCM is Errc::unsupported, anything but
  /// a WAV Errc::invalid_input; after an error, not called again.
  Result<> feed(std::span<const std::uint8_t> bytes, std::vector<std::int16_t>& samples);

  /// Hz; 0 before the header was read.
  int rate() const { return rate_; }

 private:
  Result<bool> read_chunk();
  Result<> read_format(std::span<const std::uint8_t> chunk);

  std::vector<std::uint8_t> header_;
  std::size_t skipped_ = 0;
  int rate_ = 0;
  bool riff_ = false;
  bool in_data_ = false;
  std::optional<std::size_t> data_left_;  ///< none: all that comes
  PcmAssembler pcm_;
};

}  // namespace parley::audio
