#pragma once

#include <string>
#include <vector>

#include "parley/config/settings.hpp"

namespace parley::config {

/// What the names in `roles` may be.
using EngineNames = std::vector<std::string>;

/// Reads what `node` has of a profile over what `profile` holds already. Throws Failure for wrong values.
void read_profile(const Node& node, const EngineNames& engines, Profile& profile);

}  // namespace parley::config
