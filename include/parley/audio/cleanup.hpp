#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "parley/audio/pcm.hpp"
#include "parley/core/error.hpp"

namespace parley::audio {

/// Removes what lies below speech (second-order Butterworth at 80 Hz) from 16 kHz audio, in place.
class HighPass {
 public:
  void process(std::span<std::int16_t> samples);
  void reset();

 private:
  float x1_ = 0, x2_ = 0, y1_ = 0, y2_ = 0;
};

/// webrtc's noise suppression on 16 kHz audio, in place, in blocks of 10 ms (160 samples).
class NoiseSuppressor {
 public:
  virtual ~NoiseSuppressor() = default;
  /// Any multiple of 160 samples.
  virtual void process(std::span<std::int16_t> samples) = 0;
};

/// `level`: low, moderate, high or very_high; Errc::configuration for another.
Result<std::unique_ptr<NoiseSuppressor>> make_noise_suppressor(std::string_view level);

}  // namespace parley::audio
