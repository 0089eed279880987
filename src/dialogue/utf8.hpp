#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace parley::dialogue {

struct Decoded {
  char32_t code = 0;
  std::size_t size = 1;  ///< bytes
  bool complete = true;  ///< false: the text ends within this character
};

/// What stands for a byte that is no UTF-8.
constexpr char32_t kNoCharacter = 0xFFFD;

/// The first character of a text that is not empty. A byte that is no UTF-8 (RFC 3629: also overlong forms,
/// surrogates and what is beyond U+10FFFF) stands for itself as U+FFFD.
inline Decoded decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const auto lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return {kNoCharacter, 1, true};
  char32_t code = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if (i >= text.size()) return {kNoCharacter, text.size(), false};
    // The second byte decides whether the form is a legal one.
    const unsigned lowest = i == 1 && lead == 0xE0 ? 0xA0 : i == 1 && lead == 0xF0 ? 0x90 : 0x80;
    const unsigned highest = i == 1 && lead == 0xED ? 0x9F : i == 1 && lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(i) < lowest || byte(i) > highest) return {kNoCharacter, 1, true};
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  return {code, size, true};
}

inline void append_utf8(std::string& out, char32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<std::uint8_t>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | (code >> 6U));
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3FU));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

/// Characters out of bytes that may be cut anywhere, within a character too.
class Utf8Reader {
 public:
  /// Calls `take(char32_t)` for each character that `bytes` completes; U+FFFD for bytes that are none.
  template <class Take>
  void push(std::string_view bytes, Take take) {
    if (!partial_.empty()) {
      // The begun character ends within its next three bytes, or is none.
      while (!partial_.empty() && !bytes.empty()) {
        partial_ += bytes.front();
        bytes.remove_prefix(1);
        drain_partial(take);
      }
    }
    while (!bytes.empty()) {
      const auto next = decode_utf8(bytes);
      if (!next.complete) {
        partial_ = bytes;
        return;
      }
      bytes.remove_prefix(next.size);
      take(next.code);
    }
  }
  /// Forgets a character that was begun.
  void reset() { partial_.clear(); }

 private:
  template <class Take>
  void drain_partial(Take& take) {
    while (!partial_.empty()) {
      const auto next = decode_utf8(partial_);
      if (!next.complete) return;
      partial_.erase(0, next.size);
      take(next.code);
    }
  }
  std::string partial_;
};

}  // namespace parley::dialogue
