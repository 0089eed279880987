#pragma once

#include <cstdint>
#include <string_view>

namespace parley::dialogue {

struct Decoded {
  char32_t code = 0;
  std::size_t size = 1;  ///< bytes
  bool complete = true;  ///< false: the text ends within this character
};

/// The first character of a text that is not empty. A byte that is no UTF-8 stands for itself as U+FFFD.
inline Decoded decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const auto lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return {0xFFFD, 1, true};
  char32_t code = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if (i >= text.size()) return {0xFFFD, text.size(), false};
    if ((byte(i) & 0xC0U) != 0x80U) return {0xFFFD, 1, true};
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  return {code, size, true};
}

}  // namespace parley::dialogue
