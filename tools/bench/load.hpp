#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "material.hpp"
#include "options.hpp"
#include "parley/device/playout.hpp"
#include "parley/protocol/messages.hpp"

namespace parley::tools {

/// One frame of the measured window, for the floor to replay.
struct TracedFrame {
  std::uint32_t at_us = 0;  ///< from the window's beginning
  std::uint32_t bytes = 0;  ///< of the whole message
};

/// What one device sent and got in the window.
struct Trace {
  std::vector<TracedFrame> uplink;
  std::vector<TracedFrame> downlink;
};

/// What was measured. Counts and samples are of the measured window only, but for the handshakes and
/// failures.
struct LoadResult {
  std::size_t connected = 0;
  std::map<std::string, std::size_t> failures;  ///< devices that did not connect or were lost, by reason
  std::size_t turns_completed = 0;
  std::size_t turns_failed = 0;
  std::size_t violations = 0;  ///< texts and frames that a device cannot understand
  std::size_t tool_calls = 0;
  std::vector<double> handshake_ms;
  std::vector<double> answer_ms;    ///< end of speech sent to first downlink frame
  std::vector<double> lateness_ms;  ///< of every downlink frame; negative: in time
  std::size_t late_frames = 0;
  std::size_t early_frames = 0;  ///< over 20 ms beyond what send-ahead allows
  double most_early_ms = 0;      ///< beyond what send-ahead allows, any frame
  device::PlayoutCounts playout;
  std::size_t uplink_frames = 0;
  std::size_t uplink_heard = 0;  ///< of those, sent before the answer: the server had to decode them
  std::size_t downlink_frames = 0;
  std::vector<Trace> traces;
  std::vector<double> loop_lag_ms;  ///< of this program's own event loop
  protocol::AudioParams downlink{24000, 60, 1};

  double window_s = 0;
  std::optional<double> server_cpu_s;
  std::optional<double> rss_before_kib;
  std::optional<double> rss_kib;  ///< the largest of one sample a second
  double own_cpu_s = 0;
  std::optional<std::vector<double>> added_ms;
};

/// Connects, warms up, measures, disconnects. Errors: the server cannot be found, its process or turn log is
/// not there, or it vanished. Devices that fail are counted, not errors.
Result<LoadResult> run_load(const BenchOptions& options, const Material& material);

}  // namespace parley::tools
