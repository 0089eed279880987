#include "parley/device/statistics.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace parley::device {
namespace {

std::string_view next_word(std::string_view& text) {
  const auto begin = std::min(text.find_first_not_of(" \t\n"), text.size());
  const auto end = std::min(text.find_first_of(" \t\n", begin), text.size());
  const auto word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

bool parse_number(std::string_view word, std::uint64_t& value) {
  const auto* const end = word.data() + word.size();
  const auto [stopped, failed] = std::from_chars(word.data(), end, value);
  return failed == std::errc() && stopped == end;
}

}  // namespace

Percentiles percentiles(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto rank = [&](double share) {
    const auto nearest = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
    return values[std::max<std::size_t>(nearest, 1) - 1];
  };
  return {values.size(), rank(0.50), rank(0.90), rank(0.99), values.back()};
}

ReplyPacing::Frame ReplyPacing::arrived(TimePoint now) {
  if (!first_) first_ = now;
  const auto late = now - (*first_ + needed_);
  needed_ += frame_;
  return {late, -late - send_ahead_};
}

Result<double> parse_cpu_seconds(std::string_view stat, long ticks) {
  // The program's name is in parentheses and may hold anything; utime and stime are fields 14 and 15.
  const auto name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || ticks <= 0) {
    return Error(Errc::invalid_input, "this is not a /proc/PID/stat text");
  }
  auto rest = stat.substr(name_end + 1);
  for (int skipped = 3; skipped < 14; ++skipped) next_word(rest);
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  if (!parse_number(next_word(rest), user) || !parse_number(next_word(rest), system)) {
    return Error(Errc::invalid_input, "the /proc/PID/stat text has no CPU times");
  }
  return static_cast<double>(user + system) / static_cast<double>(ticks);
}

Result<double> parse_rss_kib(std::string_view status) {
  constexpr std::string_view key = "VmRSS:";
  const auto at = status.find(key);
  if (at != std::string_view::npos) {
    auto rest = status.substr(at + key.size());
    std::uint64_t kib = 0;
    if (parse_number(next_word(rest), kib)) return static_cast<double>(kib);
  }
  return Error(Errc::invalid_input, "the /proc/PID/status text has no VmRSS");
}

std::vector<double> parse_added_ms(std::string_view lines) {
  std::vector<double> values;
  while (!lines.empty()) {
    const auto end = std::min(lines.find('\n'), lines.size());
    const auto line = nlohmann::json::parse(lines.substr(0, end), nullptr, false);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (!line.is_object()) continue;
    const auto added = line.find("added_ms");
    if (added != line.end() && added->is_number()) values.push_back(added->get<double>());
  }
  return values;
}

}  // namespace parley::device
