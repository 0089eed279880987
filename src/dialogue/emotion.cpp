#include "parley/dialogue/emotion.hpp"

#include <algorithm>
#include <array>

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

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kAround = " \t\"'";
  const auto begin = text.find_first_not_of(kAround);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kAround) - begin + 1);
}

bool equal_in_any_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, {},
                            [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
}

}  // namespace

std::optional<Emotion> emotion_of_emoji(char32_t emoji) {
  for (const auto& face : kFaces) {
    if (face.also.find(emoji) != std::u32string_view::npos) return Emotion{face.name, face.emoji};
  }
  return std::nullopt;
}

std::optional<Emotion> emotion_named(std::string_view name) {
  for (const auto& face : kFaces) {
    if (equal_in_any_case(name, face.name)) return Emotion{face.name, face.emoji};
  }
  return std::nullopt;
}

std::optional<Emotion> emotion_of_tag(std::string_view tag) {
  const auto separator = tag.find_first_of(":= ");
  if (separator == std::string_view::npos) return emotion_named(trimmed(tag));
  const auto key = trimmed(tag.substr(0, separator));
  if (!equal_in_any_case(key, "emotion") && !equal_in_any_case(key, "mood")) return std::nullopt;
  const auto value = tag.find_first_not_of(":= ", separator);
  if (value == std::string_view::npos) return std::nullopt;
  return emotion_named(trimmed(tag.substr(value))).value_or(Emotion{});
}

}  // namespace parley::dialogue
