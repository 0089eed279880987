#pragma once

#include <nlohmann/json.hpp>

#include "parley/core/error.hpp"
#include "parley/engine/tool.hpp"
#include "providers/intents/catalog.hpp"

namespace parley::providers::intents {

/// The arguments of one call: values are brought to the types that the tool's input schema has for them ("50"
/// → 50 where it wants an integer, 50 → "50" where it wants a string), what is missing is left out, and the
/// whole must satisfy the schema. Fails with invalid_input where it does not, unsupported where the schema
/// itself cannot be checked (malformed, or it refers to documents elsewhere, which are never fetched).
Result<nlohmann::json> make_arguments(const Step& step, const engine::ToolSpec& tool,
                                      const nlohmann::json& scope);

}  // namespace parley::providers::intents
