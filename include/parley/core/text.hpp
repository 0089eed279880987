#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace parley {

/// The first `bytes` bytes at most of a UTF-8 text, never cut within a character.
inline std::string_view head(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  return text.substr(0, bytes);
}

/// A text from elsewhere as it may go to a terminal: control characters become blanks.
inline std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

}  // namespace parley
