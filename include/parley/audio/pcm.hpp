#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parley/core/clock.hpp"

namespace parley::audio {

/// Mono signed 16-bit samples; the rate is said where they are passed.
using PcmView = std::span<const std::int16_t>;

/// Mono signed 16-bit samples with their rate in Hz.
struct Pcm {
  int rate = 16000;
  std::vector<std::int16_t> samples;
};

/// What the speech detector and the recognisers hear: 16 kHz mono.
inline constexpr int kListeningRate = 16000;

inline constexpr std::size_t samples_in(Millis duration, int rate) {
  return static_cast<std::size_t>(duration.count() * rate / 1000);
}
inline constexpr Duration duration_of(std::size_t samples, int rate) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::nanoseconds(static_cast<std::int64_t>(samples) * 1'000'000'000 / rate));
}

}  // namespace parley::audio
