#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "parley/audio/pcm.hpp"
#include "parley/core/error.hpp"

namespace parley::audio {

/// Reads samples from bytes that come in pieces cut anywhere: raw 16-bit little-endian samples at the given
/// rate, of one channel or two (the mean is taken), or, where they begin like one, a WAV file (16-bit PCM,
/// one or two channels, its own rate; the length in its header is not believed, since who streams does not
/// know it).
class PcmReader {
 public:
  explicit PcmReader(int rate, int channels = 1) : rate_(rate), channels_(channels) {}

  /// The samples that are complete by now, perhaps none. Errors: unsupported (MP3, Ogg, FLAC, or a WAV of
  /// another kind), invalid_input (a broken WAV header).
  Result<Pcm> push(std::string_view bytes);
  /// Half a sample, or a header that never ended, is dropped.
  bool has_rest() const { return !pending_.empty(); }

 private:
  enum class Stage { start, chunks, skipping, samples };

  Result<> read_header();
  Pcm take_samples();

  int rate_;
  int channels_;
  bool has_format_ = false;
  Stage stage_ = Stage::start;
  std::size_t skip_ = 0;
  std::string pending_;
};

}  // namespace parley::audio
