#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "parley/engine/http_endpoint.hpp"
#include "parley/engine/registry.hpp"

namespace parley::providers {

struct OpenAiTtsSettings {
  std::shared_ptr<const engine::HttpEndpoint> endpoint;
  std::string model;
  std::string voice;  ///< where the device has none of its own
  int sample_rate = 24000;
  /// Added to each request (`speed`, `instructions`, …); a null takes a key out.
  nlohmann::json extra_body = nlohmann::json::object();
};

/// A voice behind OpenAI's `/audio/speech`, played while it arrives.
std::shared_ptr<engine::TtsProvider> make_openai_tts(OpenAiTtsSettings settings);

/// Keys: model, voice, sample_rate, extra_body, and those of http_endpoint_from_config().
std::shared_ptr<engine::TtsProvider> openai_tts_from_config(const config::Node& node,
                                                            const engine::EngineContext& context);

}  // namespace parley::providers
