#include <algorithm>
#include <cmath>

#include "providers/intents/expression.hpp"

// Values as words for a listener.
namespace parley::providers::intents {

using nlohmann::json;

namespace {

/// Something to pronounce: UTF-8 that begins with E2, EE or more is punctuation, symbols and emoji.
bool has_word(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c >= 0xc3 && c <= 0xed && c != 0xe2);
  });
}

}  // namespace

std::optional<std::string> to_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_integer()) return value.dump();
  if (value.is_number()) {
    const auto x = value.get<double>();
    if (!std::isfinite(x)) return std::nullopt;
    // One decimal is as much as a listener takes in.
    const double tenths = std::round(x * 10) / 10;
    if (tenths == std::round(tenths) && std::abs(tenths) < 9e15) return std::to_string(std::llround(tenths));
    return json(tenths).dump();
  }
  return std::nullopt;
}

std::optional<std::string> speakable(const json& result, std::size_t limit) {
  if (result.is_object()) {
    for (const char* key : {"response", "message", "text"}) {
      const auto found = result.find(key);
      if (found != result.end() && found->is_string()) return speakable(*found, limit);
    }
    return std::nullopt;
  }
  if (!result.is_string()) return result.is_number() ? to_text(result) : std::nullopt;

  std::string text;
  for (const char c : result.get_ref<const std::string&>()) {
    const bool space = static_cast<unsigned char>(c) <= ' ';
    if (!space) {
      text.push_back(c);
    } else if (!text.empty() && text.back() != ' ') {
      text.push_back(' ');
    }
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  for (const char* code : {"://", "{", "}", "[", "]", "<", ">", "```", "\\", "::", "=="}) {
    if (text.find(code) != std::string::npos) return std::nullopt;
  }
  if (text.size() > limit) {
    constexpr std::string_view kFullStop = "。";
    const std::size_t stop = text.find_last_of(".!?", limit - 1);
    const std::size_t wide = text.rfind(kFullStop, limit - kFullStop.size());
    const std::size_t end = std::max(stop == std::string::npos ? 0 : stop + 1,
                                     wide == std::string::npos ? 0 : wide + kFullStop.size());
    text.resize(end);
  }
  if (!has_word(text)) return std::nullopt;
  return text;
}

}  // namespace parley::providers::intents
