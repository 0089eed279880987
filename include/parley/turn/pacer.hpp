#pragma once

#include "parley/core/clock.hpp"

namespace parley::turn {

/// Says when each downlink frame may leave, so that the device never holds more than `send_ahead` beyond real
/// time (its queue drops the newest frame on overflow; PROTOCOL.md, section 4). Reckoned from the first
/// frame, so nothing drifts; after an underrun the reckoning starts anew. Pure.
class Pacer {
 public:
  /// `earliest`: when the first frame may leave.
  Pacer(Duration frame, Duration send_ahead, TimePoint earliest = TimePoint::min())
      : frame_(frame), send_ahead_(send_ahead), earliest_(earliest) {}

  /// When the next frame may leave.
  TimePoint next_due() const { return frames_ == 0 ? earliest_ : playout_end() - send_ahead_; }

  /// One frame left at `now`. True: the device had run dry before it.
  bool sent(TimePoint now) {
    const bool underrun = frames_ != 0 && now > playout_end();
    if (frames_ == 0 || underrun) {
      start_ = now;
      since_start_ = 0;
    }
    ++frames_;
    ++since_start_;
    return underrun;
  }

  /// When everything sent so far will have been played, if playing began as the frame arrived.
  TimePoint playout_end() const { return start_ + frame_ * since_start_; }
  std::int64_t frames() const { return frames_; }

  /// How much of what was sent has been played at `now`, in frames.
  double played(TimePoint now) const {
    const auto waiting =
        std::chrono::duration<double>(playout_end() - now) / std::chrono::duration<double>(frame_);
    const auto sent = static_cast<double>(frames_);
    return waiting <= 0 ? sent : (waiting >= sent ? 0 : sent - waiting);
  }

 private:
  Duration frame_;
  Duration send_ahead_;
  TimePoint earliest_;
  TimePoint start_{};
  std::int64_t frames_ = 0;
  std::int64_t since_start_ = 0;
};

}  // namespace parley::turn
