#pragma once

#include "parley/core/error.hpp"
#include "parley/engine/tool.hpp"

namespace parley::engine {

/// Whether the call's arguments are an object that satisfies the tool's input schema; Errc::invalid_input
/// with a reason that a model can act on. References, patterns and formats are not checked: a server's schema
/// may make them endless. A schema that is malformed lets everything through: the server judges then.
Result<> check_arguments(const ToolSpec& tool, const nlohmann::json& arguments);

}  // namespace parley::engine
