#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "parley/device/device.hpp"

namespace parley::tools {

/// What `parley-device` was asked to do.
struct DeviceOptions {
  /// One thing to say: a text to synthesise, or a file.
  struct Speech {
    bool is_file = false;
    std::string value;
  };

  device::Settings device;
  std::vector<Speech> speech;
  std::string wake;
  std::filesystem::path tools;
  std::size_t tool_page = device::kToolPage;
  std::filesystem::path noise;
  double snr_db = 15;
  Millis stay{0};  ///< at the end; 0: not at all
  std::filesystem::path reply_wav;
  bool json = false;
};

/// Prints help or complaints itself; then `exit_code` is set and the options mean nothing.
DeviceOptions parse_device_options(int argc, const char* const* argv, std::optional<int>& exit_code);

}  // namespace parley::tools
