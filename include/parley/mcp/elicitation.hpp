#pragma once

#include <nlohmann/json.hpp>

namespace parley::mcp {

/// The answer to a server's `elicitation/create` where nobody can be asked: accepts with the defaults of the
/// requested schema, and declines when there is none, when a required property has none, or when a page is to
/// be opened.
nlohmann::json elicited(const nlohmann::json& params);

}  // namespace parley::mcp
