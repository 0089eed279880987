#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "parley/engine/http_endpoint.hpp"
#include "parley/engine/registry.hpp"

namespace parley::providers {

struct OpenAiLlmSettings {
  engine::HttpEndpoint endpoint;
  std::string model;
  std::optional<double> temperature;
  std::optional<int> max_tokens;
  std::optional<bool> parallel_tool_calls;
  bool tools = true;  ///< whether the model is told of tools at all
  bool usage = true;  ///< ask for the number of tokens
  /// Added to each request; a null takes a key out.
  nlohmann::json extra_body = nlohmann::json::object();
};

/// A language model behind the chat completions API of OpenAI, streamed; also answers that come whole.
std::shared_ptr<engine::LlmProvider> make_openai_llm(OpenAiLlmSettings settings);

/// Keys: model, temperature, max_tokens, parallel_tool_calls, tools, usage, extra_body, and those of
/// http_endpoint_from_config().
std::shared_ptr<engine::LlmProvider> openai_llm_from_config(const config::Node& node,
                                                            const engine::EngineContext& context);

}  // namespace parley::providers
