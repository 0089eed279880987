#include "parley/turn/noise_floor.hpp"

#include <algorithm>

namespace parley::turn {
namespace {

// Below this it is no microphone but DTX, a muted device or a gap.
constexpr float kDigitalSilence = -85.0F;
constexpr float kSmoothing = 0.4F;
constexpr float kFall = 0.3F;
// dB a frame: 50 dB/s until something is known, then 6 dB/s.
constexpr float kFirstRise = 1.0F;
constexpr float kRise = 0.12F;
// The least of many levels lies below their mean.
constexpr float kBias = 2.0F;

}  // namespace

void NoiseFloor::remember(float level) {
  if (heard_ == 0) {
    minima_.fill(kNothing);
    smoothed_ = level;
  }
  smoothed_ += kSmoothing * (level - smoothed_);
  least_ = std::min(least_, smoothed_);
  if (heard_ < kParts * kPartFrames) ++heard_;
  if (++frames_ < kPartFrames) return;
  minima_[static_cast<std::size_t>(part_)] = least_;
  part_ = (part_ + 1) % kParts;
  frames_ = 0;
  least_ = kNothing;
}

void NoiseFloor::update(float level) {
  if (level < kDigitalSilence) return;
  remember(level);
  const float target = std::max(std::min(least_, *std::ranges::min_element(minima_)) + kBias, kLowest);
  if (target < floor_) {
    floor_ += kFall * (target - floor_);
  } else if (heard_ >= kPartFrames) {
    floor_ = std::min(target, floor_ + (heard_ < kParts * kPartFrames ? kFirstRise : kRise));
  }
}

}  // namespace parley::turn
