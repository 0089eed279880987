#include "parley/dialogue/emotion.hpp"

#include <array>

#include "dialogue/utf8.hpp"

namespace parley::dialogue {
namespace {

/// The face's own emoji first, then others that mean the same.
struct Face {
  std::string_view name;
  std::string_view emoji;
  std::u32string_view also;
};

constexpr std::array<Face, 21> kFaces{{
    {"neutral", "😶", U"😶😐😑"},   {"happy", "🙂", U"🙂😀😃😄😊☺"}, {"laughing", "😆", U"😆😁"},
    {"funny", "😂", U"😂🤣"},       {"sad", "😔", U"😔😟🙁☹😞😢"},   {"angry", "😠", U"😠😡🤬"},
    {"crying", "😭", U"😭😿"},      {"loving", "😍", U"😍🥰❤💕"},    {"embarrassed", "😳", U"😳😅"},
    {"surprised", "😯", U"😯😮😲"}, {"shocked", "😱", U"😱😨🤯"},    {"thinking", "🤔", U"🤔🧐"},
    {"winking", "😉", U"😉"},       {"cool", "😎", U"😎"},           {"relaxed", "😌", U"😌"},
    {"delicious", "🤤", U"🤤😋"},   {"kissy", "😘", U"😘😗😙😚"},    {"confident", "😏", U"😏💪"},
    {"sleepy", "😴", U"😴😪🥱"},    {"silly", "😜", U"😜🤪😝😛"},    {"confused", "🙄", U"🙄😕😵"},
}};

bool is_emoji(char32_t c) {
  return (c >= 0x1F000 && c <= 0x1FAFF) || (c >= 0x2600 && c <= 0x27BF) || (c >= 0x2B00 && c <= 0x2BFF) ||
         (c >= 0xE0020 && c <= 0xE007F);
}
/// Variation selectors, the joiner and the keycap mark only mean something next to an emoji.
bool is_emoji_glue(char32_t c) {
  return c == 0x200D || c == 0xFE0F || c == 0xFE0E || c == 0x20E3;
}

}  // namespace

Emotion emotion_of(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  const auto first = decode_utf8(text.substr(begin)).code;
  for (const auto& face : kFaces) {
    if (face.also.find(first) != std::u32string_view::npos) return {face.name, face.emoji};
  }
  return {};
}

std::string without_emoji(std::string_view text) {
  std::string out;
  bool cut = false;
  while (!text.empty()) {
    const auto next = decode_utf8(text);
    const auto bytes = text.substr(0, next.size);
    text.remove_prefix(next.size);
    if (is_emoji(next.code) || is_emoji_glue(next.code)) {
      cut = true;
      continue;
    }
    const bool blank = next.code == ' ' || next.code == '\t';
    // The blanks on both sides of what was cut become one.
    if (blank && (out.empty() || (cut && (out.back() == ' ' || out.back() == '\n')))) continue;
    cut = cut && blank;
    out += bytes;
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == '\n' || out.back() == '\t')) out.pop_back();
  return out;
}

}  // namespace parley::dialogue
