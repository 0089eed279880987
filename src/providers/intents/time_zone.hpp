#pragma once

#include <ctime>
#include <nlohmann/json.hpp>

#include "parley/core/time_zone.hpp"

namespace parley::providers::intents {

/// What replies know of a moment: `time` "3:05 PM", `time24` "15:05", `date` "Tuesday, March 4", `weekday`,
/// `day`, `month`, `year`.
nlohmann::json describe(const std::tm& local);

}  // namespace parley::providers::intents
