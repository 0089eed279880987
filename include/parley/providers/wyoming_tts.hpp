#pragma once

#include <memory>
#include <string>

#include "parley/engine/registry.hpp"
#include "parley/engine/tts.hpp"
#include "parley/providers/wyoming_endpoint.hpp"

namespace parley::providers {

struct WyomingTtsSettings {
  enum class Streaming {
    automatic,  ///< where the server can, and the text holds several sentences
    on,
    off,
  };

  WyomingEndpoint endpoint;
  /// Empty: the server's default.
  std::string voice;
  /// Of a voice that has several; only with `voice`.
  std::string speaker;
  Streaming streaming = Streaming::automatic;
};

/// A voice behind the Wyoming protocol (Piper, …), on a connection of its own for each text. Speech is 16-bit
/// PCM of 8000 to 48000 Hz with one or two channels; other speech is Errc::unsupported.
std::shared_ptr<engine::TtsProvider> make_wyoming_tts(WyomingTtsSettings settings);

/// Keys: voice, speaker, streaming, and those of wyoming_endpoint_from_config().
std::shared_ptr<engine::TtsProvider> wyoming_tts_from_config(const config::Node& node,
                                                             const engine::EngineContext& context);

}  // namespace parley::providers
