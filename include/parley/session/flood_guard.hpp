#pragma once

#include <algorithm>

#include "parley/core/clock.hpp"

namespace parley::session {

/// Counts what a device does wrong: over 100 in 10 s is a flood, which ends the session (PROTOCOL.md, section
/// 2). Pure.
class FloodGuard {
 public:
  static constexpr int kLimit = 100;
  static constexpr Millis kWindow{10'000};

  explicit FloodGuard(int limit = kLimit) : limit_(limit) {}

  /// True: that was one too many.
  bool offend(TimePoint now) {
    if (now - window_began_ > kWindow) {
      window_began_ = now;
      count_ = 0;
    }
    return ++count_ > limit_;
  }

 private:
  int limit_;
  TimePoint window_began_{};
  int count_ = 0;
};

/// Lets through `rate` units a second and at most `burst` at once. Pure.
class RateLimit {
 public:
  RateLimit(double rate, double burst) : rate_(rate), burst_(burst), tokens_(burst) {}

  bool take(double units, TimePoint now) {
    if (last_ != TimePoint{}) {
      tokens_ = std::min(burst_, tokens_ + std::chrono::duration<double>(now - last_).count() * rate_);
    }
    last_ = now;
    if (tokens_ < units) return false;
    tokens_ -= units;
    return true;
  }

 private:
  double rate_;
  double burst_;
  double tokens_;
  TimePoint last_{};
};

}  // namespace parley::session
