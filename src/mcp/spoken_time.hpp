#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "parley/core/time_zone.hpp"

// Times as English sentences have them. Pure.
namespace parley::mcp {

/// "1 hour, 2 minutes and 3 seconds"; what is not a whole second is rounded up.
std::string in_words(std::chrono::milliseconds span);

/// "17:10"
std::string clock_time(const std::tm& moment);
/// "Friday 6 March 2026"
std::string long_date(const std::tm& moment);
/// "2026-03-06T17:10:05"
std::string iso_time(const std::tm& moment);
/// "17:10", "17:10 tomorrow", "17:10 on Friday 6 March 2026", seen from `now`.
std::string time_and_day(WallTime time, WallTime now, const TimeZone& zone);

/// "2026-03-06T17:10", with or without seconds and their fraction, a blank instead of the T, and an offset
/// (Z, +01:00); without one it is the time in `zone`. Nothing: it is no such text, or no real date and time.
std::optional<WallTime> parse_iso_time(std::string_view text, const TimeZone& zone);

}  // namespace parley::mcp
