#pragma once

#include <nlohmann/json.hpp>

#include "parley/engine/llm.hpp"
#include "parley/providers/openai_llm.hpp"

namespace parley::providers::openai {

/// The body of a chat completion that asks for a stream.
nlohmann::json chat_body(const OpenAiLlmSettings& settings, const engine::ChatRequest& request);

}  // namespace parley::providers::openai
