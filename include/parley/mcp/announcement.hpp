#pragma once

#include <string>
#include <vector>

#include "parley/config/settings.hpp"
#include "parley/core/time_zone.hpp"
#include "parley/engine/reminder_store.hpp"

namespace parley::mcp {

/// What is said when these are due, in the phrases of the profile; those late by a minute or more say for
/// when they were. Pure.
std::string announcement(const std::vector<engine::Reminder>& due, WallTime now, const TimeZone& zone,
                         const config::Profile& profile);

}  // namespace parley::mcp
