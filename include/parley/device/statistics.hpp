#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/core/error.hpp"

// What a load test counts. Pure.
namespace parley::device {

/// Nearest-rank percentiles; all 0 when nothing was counted.
struct Percentiles {
  std::size_t count = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double max = 0;
};
Percentiles percentiles(std::vector<double> values);

/// When the frames of one reply came, against when they were needed: frame k (from 0) is needed `k` frames
/// after the arrival of the first, and may come `send_ahead` before that.
class ReplyPacing {
 public:
  struct Frame {
    Duration late{};   ///< arrival minus the moment it was needed; negative: in time
    Duration early{};  ///< how much earlier than allowed; 0 or less: allowed
  };

  ReplyPacing(Duration frame, Duration send_ahead) : frame_(frame), send_ahead_(send_ahead) {}
  Frame arrived(TimePoint now);

 private:
  Duration frame_;
  Duration send_ahead_;
  std::optional<TimePoint> first_;
  Duration needed_{};
};

/// utime + stime in seconds of a `/proc/PID/stat` text; `ticks`: clock ticks a second.
Result<double> parse_cpu_seconds(std::string_view stat, long ticks);
/// VmRSS in KiB of a `/proc/PID/status` text.
Result<double> parse_rss_kib(std::string_view status);

/// The `added_ms` of every line of a turn log that has one; broken lines are skipped.
std::vector<double> parse_added_ms(std::string_view lines);

}  // namespace parley::device
