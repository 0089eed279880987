#include "providers/intents/time_zone.hpp"

#include <array>

namespace parley::providers::intents {
namespace {

constexpr std::array<const char*, 7> kWeekdays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                               "Thursday", "Friday", "Saturday"};
constexpr std::array<const char*, 12> kMonths{"January",   "February", "March",    "April",
                                              "May",       "June",     "July",     "August",
                                              "September", "October",  "November", "December"};

}  // namespace

nlohmann::json describe(const std::tm& local) {
  const auto two = [](int n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  const int hour = local.tm_hour % 12 == 0 ? 12 : local.tm_hour % 12;
  const std::string weekday = kWeekdays.at(static_cast<std::size_t>(local.tm_wday));
  const std::string month = kMonths.at(static_cast<std::size_t>(local.tm_mon));
  return {{"time", std::to_string(hour) + ":" + two(local.tm_min) + (local.tm_hour < 12 ? " AM" : " PM")},
          {"time24", two(local.tm_hour) + ":" + two(local.tm_min)},
          {"date", weekday + ", " + month + " " + std::to_string(local.tm_mday)},
          {"weekday", weekday},
          {"day", local.tm_mday},
          {"month", month},
          {"year", local.tm_year + 1900}};
}

}  // namespace parley::providers::intents
