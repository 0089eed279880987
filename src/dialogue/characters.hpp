#pragma once

#include <string_view>

// Classes of characters, as far as speech needs them.
namespace parley::dialogue {

constexpr bool is_ascii_letter(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_digit(char32_t c) {
  return (c >= '0' && c <= '9') || (c >= U'０' && c <= U'９');
}
constexpr bool is_ascii_punctuation(char32_t c) {
  return c > ' ' && c < 0x7F && !is_ascii_letter(c) && (c < '0' || c > '9');
}
/// The width of a word is one blank: what takes none is dropped before.
constexpr bool is_blank(char32_t c) {
  return c == ' ' || c == '\t' || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}
constexpr bool is_line_break(char32_t c) {
  return c == '\n' || c == 0x2028 || c == 0x2029;
}
/// Chinese, Japanese, and what is written with them, but not Korean: no blanks between words.
constexpr bool is_wide(char32_t c) {
  return (c >= 0x2E80 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE4F) ||
         (c >= 0xFF01 && c <= 0xFF9F) || (c >= 0x20000 && c <= 0x3FFFF);
}
/// Follows the character that it belongs to.
constexpr bool is_combining(char32_t c) {
  return (c >= 0x300 && c <= 0x36F) || (c >= 0x1AB0 && c <= 0x1AFF) || (c >= 0x1DC0 && c <= 0x1DFF) ||
         (c >= 0x20D0 && c <= 0x20FF) || (c >= 0x3099 && c <= 0x309A) || (c >= 0xFE20 && c <= 0xFE2F);
}
/// Never spoken and never shown: controls (but blanks and line breaks), bidi controls, zero-width characters,
/// private use, tags, non-characters. Joiners within Arabic and Indic words are part of their spelling: those
/// are for the caller.
bool is_invisible(char32_t c);
bool is_joiner(char32_t c);

/// Pictures, with the joiners, selectors and marks that only mean something next to one.
bool is_emoji(char32_t c);

/// Of Latin, Greek and Cyrillic letters; false for all others.
bool is_lower(char32_t c);
bool is_upper(char32_t c);
/// Of the same letters; any other character is its own.
char32_t to_lower(char32_t c);

/// Ends a sentence: also of scripts that have marks of their own.
constexpr bool is_stop(char32_t c) {
  return c == '.' || c == '!' || c == '?' || c == U'。' || c == U'！' || c == U'？' || c == U'．' ||
         c == U'｡' || c == U'؟' || c == U'۔' || c == U'।' || c == U'॥' || c == U'։' || c == U'።' ||
         c == U'។' || c == U'။' || c == U'‼' || c == U'⁇' || c == U'⁈' || c == U'⁉';
}
constexpr bool is_ellipsis(char32_t c) {
  return c == U'…' || c == U'⋯';
}
/// Ends a clause.
constexpr bool is_clause_mark(char32_t c) {
  return c == ',' || c == ';' || c == ':' || c == U'，' || c == U'；' || c == U'：' || c == U'、' ||
         c == U'､' || c == U'،' || c == U'؛' || c == U'—' || c == U'–';
}
/// Opening and closing quotes and brackets that say which they are.
constexpr bool is_opening(char32_t c) {
  return c == '(' || c == '[' || c == U'“' || c == U'„' || c == U'‘' || c == U'‚' || c == U'«' ||
         c == U'「' || c == U'『' || c == U'（' || c == U'【' || c == U'《' || c == U'〈' || c == U'‹' ||
         c == U'［';
}
constexpr bool is_closing(char32_t c) {
  return c == ')' || c == ']' || c == U'”' || c == U'’' || c == U'»' || c == U'」' || c == U'』' ||
         c == U'）' || c == U'】' || c == U'》' || c == U'〉' || c == U'›' || c == U'］';
}
/// A letter, a digit or a sign with a name: something can be said.
bool is_speakable(char32_t c);

}  // namespace parley::dialogue
