#pragma once

#include "parley/core/error.hpp"
#include "parley/engine/tool.hpp"

namespace parley::engine {

/// A server's schema as far as it is safe to check with: without references (they may be recursive), patterns
/// and formats (they may take for ever); what is nested too deeply allows anything.
nlohmann::json checkable_schema(const nlohmann::json& schema);

/// Whether the call's arguments are an object that satisfies the tool's input schema; Errc::invalid_input
/// with a reason that a model can act on. Only what checkable_schema() keeps is checked. A schema that is
/// malformed lets everything through: the server judges then.
Result<> check_arguments(const ToolSpec& tool, const nlohmann::json& arguments);

}  // namespace parley::engine
