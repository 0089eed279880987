#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/device/socket.hpp"

namespace parley::tools {

enum class Profile { idle, listening, talking };

struct BenchOptions {
  std::string url_text;
  device::Url url;
  std::string token;
  std::size_t devices = 100;
  Profile profile = Profile::talking;
  Duration ramp{};
  Duration warm_up{};   ///< from the last connection to the measured window
  Duration duration{};  ///< of the measured window
  Duration think{};     ///< mean pause between turns
  Duration reply_timeout{};
  Duration send_ahead{};
  Millis frame{60};  ///< uplink
  int version = 1;
  bool dtx = false;
  std::vector<std::string> say;
  int tools = -1;  ///< per device; below 0: the stock ones
  int server_pid = 0;
  std::filesystem::path turn_log;
  std::filesystem::path json;
  bool floor = true;
  Duration floor_duration{};  ///< of the WebSocket replay, at most
  int bitrate = 32000;        ///< of the floor's encoder
  int complexity = 5;
};

std::string_view to_string(Profile profile);

/// Prints help or complaints itself; then `exit_code` is set and the options mean nothing.
BenchOptions parse_bench_options(int argc, const char* const* argv, std::optional<int>& exit_code);

}  // namespace parley::tools
