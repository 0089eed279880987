#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "parley/engine/http_endpoint.hpp"
#include "parley/engine/registry.hpp"

namespace parley::providers {

struct ElevenLabsTtsSettings {
  std::shared_ptr<const engine::HttpEndpoint> endpoint;
  std::string model;
  std::string voice;  ///< the id of the voice, where the device has none of its own
  int sample_rate = 24000;
  bool stream = true;  ///< false: the whole sentence is made before the first of it is sent
  /// Added to each request (`voice_settings`, `language_code`, …); a null takes a key out.
  nlohmann::json extra_body = nlohmann::json::object();
};

/// A voice of ElevenLabs (`/v1/text-to-speech/{voice}/stream`, or without `/stream`), played while it
/// arrives.
std::shared_ptr<engine::TtsProvider> make_elevenlabs_tts(ElevenLabsTtsSettings settings);

/// Keys: model, voice, sample_rate (8000, 16000, 22050, 24000, 44100 or 48000), stream,
/// extra_body, and those of
/// http_endpoint_from_config().
std::shared_ptr<engine::TtsProvider> elevenlabs_tts_from_config(const config::Node& node,
                                                                const engine::EngineContext& context);

}  // namespace parley::providers
