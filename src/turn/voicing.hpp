#pragma once

#include <array>
#include <cstddef>

#include "parley/audio/pcm.hpp"

namespace parley::turn {

/// Tells the sound of vocal cords from noise: how well the newest 30 ms below 1 kHz repeat at the pitch of a
/// voice (80 to 400 Hz).
class Voicing {
 public:
  /// One frame of 20 ms at 16 kHz.
  void add(audio::PcmView frame);
  /// The highest normalised autocorrelation, 0 to 1. About 0.4 for noise, over 0.8 for vowels.
  float strength() const;

 private:
  static constexpr std::size_t kDecimation = 4;
  static constexpr std::size_t kRate = audio::kListeningRate / kDecimation;
  static constexpr std::size_t kFrame = kRate / 50;
  static constexpr std::size_t kWindow = kRate * 3 / 100;
  static constexpr std::size_t kShortest = kRate / 400;
  static constexpr std::size_t kLongest = kRate / 80;

  std::array<float, kWindow + kLongest> heard_{};  // oldest first
  std::array<float, kDecimation> sums_{};
};

}  // namespace parley::turn
