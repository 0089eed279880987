#include "mcp/spoken_time.hpp"

#include <array>
#include <charconv>
#include <vector>

namespace parley::mcp {
namespace {

std::string formatted(const std::tm& moment, const char* format) {
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &moment)};
}

/// Takes a text from its front.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<int> number(std::size_t digits) {
    int out = 0;
    if (text_.size() < digits) return std::nullopt;
    const auto [stop, error] = std::from_chars(text_.data(), text_.data() + digits, out);
    if (error != std::errc() || stop != text_.data() + digits || text_.front() == '-') return std::nullopt;
    text_.remove_prefix(digits);
    return out;
  }
  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void skip_digits() {
    while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9') text_.remove_prefix(1);
  }
  bool done() const { return text_.empty(); }

 private:
  std::string_view text_;
};

/// Seconds east of Greenwich of "Z", "+01:00", "-0530", "+02"; nothing: it is none of them.
std::optional<int> read_offset(Scanner& text) {
  if (text.take('Z') || text.take('z')) return 0;
  const bool west = text.take('-');
  if (!west && !text.take('+')) return std::nullopt;
  const auto hours = text.number(2);
  if (!hours || *hours > 23) return std::nullopt;
  int minutes = 0;
  if (text.take(':') || !text.done()) {
    const auto read = text.number(2);
    if (!read || *read > 59) return std::nullopt;
    minutes = *read;
  }
  const int seconds = *hours * 3600 + minutes * 60;
  return west ? -seconds : seconds;
}

/// Nothing: not a date and a time that there are.
std::optional<std::tm> read_date_and_time(Scanner& text) {
  const auto year = text.number(4);
  // What a time in nanoseconds can hold ends in 2262.
  if (!year || *year < 1970 || *year > 2200 || !text.take('-')) return std::nullopt;
  const auto month = text.number(2);
  if (!month || !text.take('-')) return std::nullopt;
  const auto day = text.number(2);
  if (!day || !(text.take('T') || text.take('t') || text.take(' '))) return std::nullopt;
  const auto hour = text.number(2);
  if (!hour || !text.take(':')) return std::nullopt;
  const auto minute = text.number(2);
  std::optional<int> second = 0;
  if (text.take(':')) {
    second = text.number(2);
    if (text.take('.')) text.skip_digits();
  }
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || !minute || !second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  std::tm out{};
  out.tm_year = *year - 1900;
  out.tm_mon = *month - 1;
  out.tm_mday = *day;
  out.tm_hour = *hour;
  out.tm_min = *minute;
  out.tm_sec = *second;
  return out;
}

}  // namespace

std::string in_words(std::chrono::milliseconds span) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(span).count();
  std::vector<std::string> parts;
  const auto add = [&](std::int64_t count, const char* unit) {
    if (count != 0) parts.push_back(std::to_string(count) + " " + unit + (count == 1 ? "" : "s"));
  };
  add(seconds / 86'400, "day");
  add(seconds / 3600 % 24, "hour");
  add(seconds / 60 % 60, "minute");
  add(seconds % 60, "second");
  if (parts.empty()) return "0 seconds";
  std::string out = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) out += (i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return out;
}

std::string clock_time(const std::tm& moment) {
  return formatted(moment, "%H:%M");
}

std::string long_date(const std::tm& moment) {
  return formatted(moment, "%A ") + std::to_string(moment.tm_mday) + formatted(moment, " %B %Y");
}

std::string iso_time(const std::tm& moment) {
  return formatted(moment, "%Y-%m-%dT%H:%M:%S");
}

std::string time_and_day(WallTime time, WallTime now, const TimeZone& zone) {
  const auto there = zone.local(time);
  const auto same_day = [&](const std::tm& other) {
    return there.tm_year == other.tm_year && there.tm_yday == other.tm_yday;
  };
  auto midday = zone.local(now);
  if (same_day(midday)) return clock_time(there);
  // From noon to noon no change of the clocks leads past the next day.
  midday.tm_hour = 12;
  if (same_day(zone.local(zone.moment(midday) + std::chrono::hours(24))))
    return clock_time(there) + " tomorrow";
  return clock_time(there) + " on " + long_date(there);
}

std::optional<WallTime> parse_iso_time(std::string_view text, const TimeZone& zone) {
  Scanner scanner(text);
  auto moment = read_date_and_time(scanner);
  if (!moment) return std::nullopt;
  if (scanner.done()) return zone.moment(*moment);
  const auto offset = read_offset(scanner);
  if (!offset || !scanner.done()) return std::nullopt;
  return WallTime(std::chrono::seconds(timegm(&*moment) - *offset));
}

}  // namespace parley::mcp
