#include "parley/dialogue/sentence_splitter.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "dialogue/utf8.hpp"

namespace parley::dialogue {
namespace {

/// Below this a clause is not worth a request of its own, in characters.
constexpr std::size_t kMinClause = 12;
constexpr std::size_t kMinSentence = 2;
/// A piece without any mark is cut at a blank from here on, in characters …
constexpr std::size_t kLong = 180;
/// … and anywhere from here on.
constexpr std::size_t kTooLong = 300;

constexpr std::array<std::string_view, 28> kAbbreviations = {
    "mr",  "mrs", "ms",  "dr", "prof", "st",  "vs",  "etc", "e.g", "i.e", "no",  "approx", "jr",  "sr",
    "fig", "inc", "ltd", "co", "dept", "est", "min", "max", "tel", "a.m", "p.m", "u.s",    "т.е", "т.д"};

bool is_full_stop(char32_t c) {
  return c == '.' || c == '!' || c == '?' || c == U'。' || c == U'！' || c == U'？' || c == U'…' ||
         c == U'．' || c == U'؟' || c == U'।';
}
bool is_wide_stop(char32_t c) {
  return c > 0x7F && is_full_stop(c);
}
bool is_clause_mark(char32_t c) {
  return c == ',' || c == ';' || c == ':' || c == U'，' || c == U'；' || c == U'：' || c == U'、' ||
         c == U'—' || c == U'،';
}
bool is_wide_clause_mark(char32_t c) {
  return c > 0x7F && is_clause_mark(c) && c != U'—';
}
bool is_closing(char32_t c) {
  return c == '"' || c == '\'' || c == ')' || c == ']' || c == U'”' || c == U'’' || c == U'」' ||
         c == U'』' || c == U'）' || c == U'»' || c == U'】';
}
bool is_blank(char32_t c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == U'　';
}

/// Whether the dot that ends `before` belongs to its last word: an abbreviation, an initial, a list number.
bool dot_belongs_to_word(std::string_view before) {
  const auto start = before.find_last_of(" \t\n(\"");
  auto word = std::string(start == std::string_view::npos ? before : before.substr(start + 1));
  std::ranges::transform(word, word.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (word.empty()) return false;
  if (word.size() == 1 && std::isalpha(static_cast<unsigned char>(word[0])) != 0 && word != "i") return true;
  const bool all_digits = std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c) != 0; });
  // "1. first": a number that opens a line.
  if (all_digits && word.size() <= 2 && (start == std::string_view::npos || before[start] == '\n'))
    return true;
  return std::ranges::find(kAbbreviations, word) != kAbbreviations.end();
}

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  const auto end = text.find_last_not_of(" \t\r\n");
  return std::string(text.substr(begin, end - begin + 1));
}

}  // namespace

/// The bytes of the first complete piece; 0 while there is none.
std::size_t SentenceSplitter::find_end() const {
  const std::string_view text = text_;
  std::size_t characters = 0;
  std::size_t last_blank = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto here = decode_utf8(text.substr(at));
    if (!here.complete && !finished_) return 0;
    const auto after = at + here.size;
    const bool at_end = after >= text.size();
    if (here.code == '\n' && characters >= kMinSentence) return after;
    if (!is_blank(here.code)) {
      ++characters;
    } else {
      last_blank = after;
    }
    if (is_full_stop(here.code) && characters >= kMinSentence) {
      // What follows decides about ASCII marks: "3.5", "example.com", "?!".
      if (at_end && !finished_ && !is_wide_stop(here.code)) return 0;
      auto end = after;
      while (end < text.size()) {
        const auto next = decode_utf8(text.substr(end));
        if (!is_full_stop(next.code) && !is_closing(next.code)) break;
        end += next.size;
      }
      const bool stands_free = end >= text.size() || is_blank(decode_utf8(text.substr(end)).code);
      const bool closed = is_wide_stop(here.code) ||
                          (stands_free && !(here.code == '.' && dot_belongs_to_word(text.substr(0, at))));
      if (closed) return end;
    }
    if (first_ && is_clause_mark(here.code) && characters > kMinClause) {
      if (is_wide_clause_mark(here.code)) return after;
      if (!at_end && is_blank(decode_utf8(text.substr(after)).code)) return after;
    }
    if (characters >= kLong && last_blank > 0) return last_blank;
    if (characters >= kTooLong) return after;
    at = after;
  }
  return finished_ ? text.size() : 0;
}

std::optional<std::string> SentenceSplitter::next() {
  while (true) {
    const auto end = find_end();
    if (end == 0) return std::nullopt;
    auto piece = trimmed(std::string_view(text_).substr(0, end));
    text_.erase(0, end);
    if (piece.empty()) continue;
    first_ = false;
    return piece;
  }
}

}  // namespace parley::dialogue
