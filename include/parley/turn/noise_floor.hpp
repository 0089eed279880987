#pragma once

#include <array>

namespace parley::turn {

/// Follows the level of what is heard when nobody speaks, by minimum statistics: the least smoothed frame
/// level of the last 2 s. Falls within frames and rises slowly, and never above that minimum: speech pauses
/// within 2 s, steady noise does not.
class NoiseFloor {
 public:
  /// One frame of 20 ms; `level` in dB below full scale.
  void update(float level);
  /// In dB below full scale; kLowest before anything was heard.
  float level() const { return floor_; }
  /// A second has been heard. Before that it is too low in a noisy room.
  bool known() const { return heard_ >= kKnownFrames; }

  /// No microphone in a room is more quiet.
  static constexpr float kLowest = -70.0F;

 private:
  void remember(float level);

  static constexpr int kPartFrames = 10;
  static constexpr int kParts = 10;
  static constexpr int kKnownFrames = 50;
  static constexpr float kNothing = 0.0F;

  std::array<float, kParts> minima_{};  // the least level of each part of 200 ms, in a ring
  int part_ = 0;
  int frames_ = 0;  // of the newest part
  int heard_ = 0;   // frames in all, until the first window is full
  float least_ = kNothing;
  float smoothed_ = kNothing;
  float floor_ = kLowest;
};

}  // namespace parley::turn
