#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "parley/engine/http_endpoint.hpp"
#include "parley/engine/registry.hpp"

namespace parley::providers {

struct OpenAiAsrSettings {
  engine::HttpEndpoint endpoint;
  std::string model;
  /// Empty: the device's; `auto`: the service finds out.
  std::string language;
  std::string prompt;  ///< words and names that are likely; may be empty
  Millis max_audio{60'000};
  /// Further fields of the form: texts, numbers, booleans.
  nlohmann::json extra_body = nlohmann::json::object();
};

/// A recogniser behind OpenAI's `/audio/transcriptions`: the whole utterance goes up as WAV when it is over.
std::shared_ptr<engine::AsrProvider> make_openai_asr(OpenAiAsrSettings settings);

/// Keys: model, language, prompt, max_audio, extra_body, and those of http_endpoint_from_config().
std::shared_ptr<engine::AsrProvider> openai_asr_from_config(const config::Node& node,
                                                            const engine::EngineContext& context);

}  // namespace parley::providers
