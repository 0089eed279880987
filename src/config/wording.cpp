#include "config/wording.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace parley::config {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMaxShown = 40;
  auto end = text.size();
  if (end > kMaxShown) {
    end = kMaxShown;
    while (end > 0 && (static_cast<std::uint8_t>(text[end]) & 0xc0U) == 0x80) --end;
  }
  const std::string shown(text.substr(0, end));
  return "\"" + printable(shown) + (end < text.size() ? "…\"" : "\"");
}

std::string printable(std::string text) {
  const auto is_control = [](char c) { return static_cast<std::uint8_t>(c) < 0x20 || c == 0x7f; };
  std::ranges::replace_if(text, is_control, '?');
  return text;
}

std::string either(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 < words.size() ? ", " : " or ";
    out += words[i];
  }
  return out;
}

std::string range(const std::string& min, const std::string& max, bool open_ended) {
  return open_ended ? min + " or more" : min + " to " + max;
}

std::string format_number(double value) {
  std::array<char, 32> text{};
  const auto done = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), done.ptr};
}

}  // namespace parley::config
