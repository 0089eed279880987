#include "parley/mcp/announcement.hpp"

#include <map>

#include "mcp/spoken_time.hpp"

namespace parley::mcp {
namespace {

constexpr auto kLate = std::chrono::minutes(1);

using Values = std::map<std::string, std::string, std::less<>>;

/// What is not the name of a value stays as it is.
std::string filled(std::string_view phrase, const Values& values) {
  std::string out;
  while (!phrase.empty()) {
    const auto open = phrase.find('{');
    out += phrase.substr(0, open);
    if (open == std::string_view::npos) break;
    phrase.remove_prefix(open);
    const auto close = phrase.find('}');
    const auto value =
        close == std::string_view::npos ? values.end() : values.find(phrase.substr(1, close - 1));
    out += value == values.end() ? std::string(1, '{') : value->second;
    phrase.remove_prefix(value == values.end() ? 1 : close + 1);
  }
  return out;
}

/// The sentence around it has its own.
std::string without_full_stop(std::string text) {
  while (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

std::string past_time(WallTime due, WallTime now, const TimeZone& zone, const std::string& language) {
  const auto there = zone.local(due);
  const auto today = zone.local(now);
  if (there.tm_year == today.tm_year && there.tm_yday == today.tm_yday) return clock_time(there);
  return language.starts_with("en") ? clock_time(there) + " on " + long_date(there)
                                    : iso_time(there).substr(0, 10) + " " + clock_time(there);
}

}  // namespace

std::string announcement(const std::vector<engine::Reminder>& due, WallTime now, const TimeZone& zone,
                         const config::Profile& profile) {
  const auto& phrases = profile.session;
  std::string out;
  const auto say = [&](const std::string& sentence) { out += (out.empty() ? "" : " ") + sentence; };
  for (const auto& reminder : due) {
    const auto text = without_full_stop(reminder.text);
    if (now - reminder.due >= kLate) {
      say(filled(phrases.late_phrase, {{"time", past_time(reminder.due, now, zone, profile.language)}}));
    }
    if (reminder.kind == engine::Reminder::Kind::reminder) {
      say(filled(phrases.reminder_phrase, {{"text", text}}));
    } else if (text.empty()) {
      say(phrases.timer_phrase);
    } else {
      say(filled(phrases.named_timer_phrase, {{"name", text}}));
    }
  }
  return out;
}

}  // namespace parley::mcp
