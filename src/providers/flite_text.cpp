#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "parley/providers/flite_tts.hpp"

namespace parley::providers {
namespace {

constexpr std::size_t kMaxText = 2000;
constexpr std::size_t kMaxToken = 60;

/// The code point at `at`, which moves past it; U+FFFD for malformed UTF-8.
char32_t next_code_point(std::string_view text, std::size_t& at) {
  constexpr char32_t replacement = 0xFFFD;
  const auto lead = static_cast<std::uint8_t>(text[at++]);
  if (lead < 0x80) return lead;
  const std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  if (more == 0 || lead > 0xF4 || at + more > text.size()) return replacement;
  char32_t point = lead & (0x3FU >> more);
  for (std::size_t i = 0; i < more; ++i) {
    const auto byte = static_cast<std::uint8_t>(text[at + i]);
    if ((byte & 0xC0U) != 0x80) return replacement;
    point = (point << 6U) | (byte & 0x3FU);
  }
  at += more;
  return point;
}

/// Latin-1 letters from U+00C0 on, by their nearest ASCII spelling.
constexpr std::array<std::string_view, 64> kLatin1 = {
    "A", "A", "A", "A", "A", "A", "AE", "C", "E", "E", "E", "E", "I", "I", "I",  "I",
    "D", "N", "O", "O", "O", "O", "O",  " ", "O", "U", "U", "U", "U", "Y", "Th", "ss",
    "a", "a", "a", "a", "a", "a", "ae", "c", "e", "e", "e", "e", "i", "i", "i",  "i",
    "d", "n", "o", "o", "o", "o", "o",  " ", "o", "u", "u", "u", "u", "y", "th", "y"};

constexpr std::array<std::pair<char32_t, std::string_view>, 22> kSpelled = {{
    {0x2018, "'"},
    {0x2019, "'"},
    {0x201C, "\""},
    {0x201D, "\""},
    {0x2010, "-"},
    {0x2011, "-"},
    {0x2013, ", "},
    {0x2014, ", "},
    {0x2026, "..."},
    {0x00B0, " degrees "},
    {0x20AC, " euros "},
    {0x00A3, " pounds "},
    {0x00BD, " one half "},
    {0x00BC, " one quarter "},
    {0x00BE, " three quarters "},
    {0x00B1, " plus or minus "},
    {0x2212, "-"},
    {0x0152, "OE"},
    {0x0153, "oe"},
    {0x3002, ". "},
    {0xFF0C, ", "},
    {0xFF01, "! "},
}};

std::string_view spelled(char32_t point) {
  if (point >= 0xC0 && point <= 0xFF) return kLatin1.at(point - 0xC0);
  const auto* found = std::find_if(kSpelled.begin(), kSpelled.end(),
                                   [point](const auto& entry) { return entry.first == point; });
  return found == kSpelled.end() ? " " : found->second;
}

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Appends one character: blanks are single, tokens have a limit.
void append(std::string& out, std::size_t& token, char c) {
  if (c <= ' ' || c == 0x7F) {
    if (!out.empty() && out.back() != ' ') out.push_back(' ');
    token = 0;
    return;
  }
  if (token == kMaxToken) {
    out.push_back(' ');
    token = 0;
  }
  out.push_back(c);
  ++token;
}

}  // namespace

std::string flite_speakable(std::string_view text) {
  std::string out;
  std::size_t token = 0;
  for (std::size_t at = 0; at < text.size() && out.size() < kMaxText;) {
    const char32_t point = next_code_point(text, at);
    if (point < 0x80) {
      append(out, token, static_cast<char>(point));
    } else {
      for (const char c : spelled(point)) append(out, token, c);
    }
  }
  if (out.size() > kMaxText) out.resize(kMaxText);
  if (out.size() == kMaxText) {
    // A word cut in half is worse than a missing one.
    const auto blank = out.rfind(' ');
    if (blank != std::string::npos) out.resize(blank);
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  if (std::none_of(out.begin(), out.end(), is_alnum)) out.clear();
  return out;
}

}  // namespace parley::providers
