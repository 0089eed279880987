#pragma once

#include <cstddef>
#include <string_view>

namespace parley {

/// The first `bytes` bytes at most of a UTF-8 text, never cut within a character.
inline std::string_view head(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  return text.substr(0, bytes);
}

}  // namespace parley
