#pragma once

#include <memory>

#include "parley/engine/registry.hpp"

namespace parley::providers {

/// webrtc's Gaussian-mixture VAD: 736 bytes a device, no model to load.
/// `aggressiveness`: 0 (hears voice everywhere) to 3 (misses some); throws Failure(Errc::configuration) for
/// others.
std::shared_ptr<engine::VadProvider> make_webrtc_vad(int aggressiveness);

/// Keys: `aggressiveness` (0 to 3, default 2).
std::shared_ptr<engine::VadProvider> webrtc_vad_from_config(const config::Node& node,
                                                            const engine::EngineContext& context);

}  // namespace parley::providers
