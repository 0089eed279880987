#pragma once

#include <vector>

#include "options.hpp"
#include "parley/audio/pcm.hpp"
#include "parley/core/error.hpp"
#include "parley/device/socket.hpp"

namespace parley::tools {

/// One uplink frame, encoded once for all devices.
struct UplinkFrame {
  std::vector<std::uint8_t> opus;
  device::SharedBytes message;  ///< with its header
};

/// What one phrase sounds like.
struct Phrase {
  std::vector<UplinkFrame> frames;
  std::size_t last_voiced = 0;  ///< index of the frame in which the speech ends
};

/// The sounds that all devices share.
struct Material {
  std::vector<Phrase> phrases;
  std::vector<UplinkFrame> silence;
  audio::Pcm reply;  ///< speech of the downlink's kind, for the floor's encoder
};

/// Synthesises and encodes everything.
Result<Material> make_material(const BenchOptions& options);

}  // namespace parley::tools
