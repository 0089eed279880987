#include "config/scalar.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace parley::config {
namespace {

constexpr std::string_view kDigits = "0123456789";

struct Unit {
  std::string_view name;
  std::int64_t factor;
};
// Largest first, for formatting.
constexpr std::array<Unit, 5> kDurations{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr std::array<Unit, 4> kSizes{{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}, {"B", 1}}};
constexpr double kMaxMillis = 3.2e15;
constexpr double kMaxBytes = 4611686018427387904.0;

bool is_name(std::string_view name) {
  if (name.empty() || kDigits.find(name.front()) != std::string_view::npos) return false;
  return std::ranges::all_of(name, [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  });
}

template <class T>
std::optional<T> from_chars_whole(std::string_view text, auto... how) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, how...);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A decimal number without sign and exponent, and the unit behind it.
std::optional<double> parse_scaled(std::string_view text, const auto& units, double limit) {
  const auto split = text.find_first_not_of("0123456789.");
  const auto number = text.substr(0, split);
  const auto unit = split == std::string_view::npos ? std::string_view() : text.substr(split);
  if (number.find_first_of(kDigits) == std::string_view::npos || number.front() == '.' ||
      number.back() == '.') {
    return std::nullopt;
  }
  const auto value = from_chars_whole<double>(number, std::chars_format::fixed);
  if (!value) return std::nullopt;
  for (const auto& [name, factor] : units) {
    if (name != unit) continue;
    const double scaled = *value * static_cast<double>(factor);
    const double whole = std::round(scaled);
    if (std::abs(scaled - whole) > 1e-6) return std::nullopt;
    return std::min(whole, limit);
  }
  return std::nullopt;
}

std::string format_scaled(std::int64_t value, const auto& units) {
  for (const auto& [name, factor] : units) {
    if (value != 0 && value % factor == 0) return std::to_string(value / factor) + std::string(name);
  }
  return "0" + std::string(units.back().name);
}

}  // namespace

Result<std::string> expand(std::string_view text) {
  std::string out;
  for (;;) {
    const auto start = text.find("${");
    if (start == std::string_view::npos) return out.append(text);
    if (start > 0 && text[start - 1] == '$') {
      out.append(text.substr(0, start - 1)).append("${");
      text.remove_prefix(start + 2);
      continue;
    }
    out.append(text.substr(0, start));
    text.remove_prefix(start + 2);
    const auto end = text.find('}');
    const auto inside = text.substr(0, end);
    const auto colon = inside.find(":-");
    const std::string name(inside.substr(0, colon));
    if (end == std::string_view::npos || !is_name(name) || inside.find("${") != std::string_view::npos) {
      return Error(
          Errc::configuration,
          "there is a ${ without a variable behind it; expected ${NAME} or ${NAME:-default}, or $${ for "
          "the characters themselves");
    }
    text.remove_prefix(end + 1);
    // Nobody changes the environment while a configuration is read.
    const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
    if (value != nullptr && (*value != '\0' || colon == std::string_view::npos)) {
      out += value;
    } else if (colon != std::string_view::npos) {
      out += inside.substr(colon + 2);
    } else {
      std::string why = "the environment variable ";
      why.append(name).append(" is not set; expected it to be, or a default as in ${").append(name);
      return Error(Errc::configuration, why + ":-default}");
    }
  }
}

std::optional<bool> parse_bool(std::string_view text) {
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  return std::nullopt;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0o")) {
    if (text.size() < 3 || text[2] == '-') return std::nullopt;
    return from_chars_whole<std::int64_t>(text.substr(2), text[1] == 'x' ? 16 : 8);
  }
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  return from_chars_whole<std::int64_t>(text, 10);
}

std::optional<double> parse_number(std::string_view text) {
  // from_chars also takes words such as inf, which JSON and our settings have no use for.
  if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  return from_chars_whole<double>(text, std::chars_format::general);
}

bool is_null(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

std::optional<Millis> parse_duration(std::string_view text) {
  const auto value = parse_scaled(text, kDurations, kMaxMillis);
  if (!value) return std::nullopt;
  return Millis(static_cast<std::int64_t>(*value));
}

std::string format_duration(Millis duration) {
  return format_scaled(duration.count(), kDurations);
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  const bool plain = !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
  const auto value = parse_scaled(plain ? std::string(text) + "B" : std::string(text), kSizes, kMaxBytes);
  if (!value) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::string format_bytes(std::int64_t bytes) {
  return format_scaled(bytes, kSizes);
}

}  // namespace parley::config
