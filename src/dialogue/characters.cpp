#include "dialogue/characters.hpp"

#include <algorithm>
#include <array>

namespace parley::dialogue {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t N>
bool contains(const std::array<Range, N>& sorted, char32_t c) {
  const auto found = std::ranges::lower_bound(sorted, c, {}, &Range::last);
  return found != sorted.end() && c >= found->first;
}

constexpr std::array<Range, 14> kInvisible{{{0x00, 0x08},
                                            {0x0B, 0x1F},
                                            {0x7F, 0x9F},
                                            {0xAD, 0xAD},
                                            {0x61C, 0x61C},
                                            {0x180E, 0x180E},
                                            {0x200B, 0x200F},
                                            {0x202A, 0x202E},
                                            {0x2060, 0x206F},
                                            {0xD800, 0xF8FF},
                                            {0xFE00, 0xFE0F},
                                            {0xFEFF, 0xFEFF},
                                            {0xFFF0, 0xFFFF},
                                            {0xE0000, 0x10FFFF}}};

/// Symbols of the same blocks that people read as text (°, ™, →) are left out.
constexpr std::array<Range, 20> kEmoji{
    {{0x20E3, 0x20E3}, {0x231A, 0x231B}, {0x2328, 0x2328},   {0x23CF, 0x23CF},   {0x23E9, 0x23FA},
     {0x24C2, 0x24C2}, {0x25AA, 0x25AB}, {0x25B6, 0x25B6},   {0x25C0, 0x25C0},   {0x25FB, 0x25FE},
     {0x2600, 0x27BF}, {0x2934, 0x2935}, {0x2B00, 0x2BFF},   {0x3030, 0x3030},   {0x303D, 0x303D},
     {0x3297, 0x3297}, {0x3299, 0x3299}, {0x1F000, 0x1FAFF}, {0x1FB00, 0x1FBFF}, {0xE0020, 0xE007F}}};

constexpr std::array<Range, 20> kPunctuation{
    {{0x00, 0x2F},     {0x3A, 0x40},     {0x5B, 0x60},     {0x7B, 0xA1},     {0xA6, 0xA8},
     {0xAB, 0xAD},     {0xAF, 0xAF},     {0xB4, 0xB4},     {0xB6, 0xB8},     {0xBB, 0xBB},
     {0xBF, 0xBF},     {0x300, 0x36F},   {0x2000, 0x206F}, {0x2500, 0x25FF}, {0x3000, 0x3004},
     {0x3008, 0x3020}, {0x3030, 0x3030}, {0xFE30, 0xFE6F}, {0xFF01, 0xFF0F}, {0xFF1A, 0xFF20}}};
/// ASCII signs that a voice has a word for.
constexpr std::u32string_view kNamedSigns = U"$%&+=@#€";

/// Where upper and lower case take turns: an upper-case letter is even, or odd.
constexpr std::array<Range, 9> kEvenUpper{{{0x100, 0x137},
                                           {0x14A, 0x177},
                                           {0x182, 0x185},
                                           {0x1A0, 0x1A5},
                                           {0x1DE, 0x1EF},
                                           {0x1F8, 0x21F},
                                           {0x460, 0x481},
                                           {0x48A, 0x4BF},
                                           {0x4D0, 0x52F}}};
constexpr std::array<Range, 6> kOddUpper{
    {{0x139, 0x148}, {0x179, 0x17E}, {0x1AF, 0x1B0}, {0x1B3, 0x1B6}, {0x1CD, 0x1DC}, {0x4C1, 0x4CE}}};
/// Vietnamese, among others.
constexpr Range kAdditional{0x1E00, 0x1EFF};

enum class Case { none, lower, upper };

Case case_of(char32_t c) {
  if (c < 0x80) {
    if (c >= 'a' && c <= 'z') return Case::lower;
    return c >= 'A' && c <= 'Z' ? Case::upper : Case::none;
  }
  if (c == 0xD7 || c == 0xF7) return Case::none;
  if (c > kAdditional.last) return Case::none;
  if (c >= 0xC0 && c <= 0xDE) return Case::upper;
  if (c >= 0xDF && c <= 0xFF) return Case::lower;
  if (contains(kEvenUpper, c) || (c >= kAdditional.first && c <= kAdditional.last)) {
    return c % 2 == 0 ? Case::upper : Case::lower;
  }
  if (contains(kOddUpper, c)) return c % 2 == 1 ? Case::upper : Case::lower;
  if ((c >= 0x391 && c <= 0x3A9) || (c >= 0x400 && c <= 0x42F)) return Case::upper;
  if ((c >= 0x3AC && c <= 0x3CE) || (c >= 0x430 && c <= 0x45F)) return Case::lower;
  return Case::none;
}

}  // namespace

bool is_invisible(char32_t c) {
  if (c >= ' ' && c < 0x7F) return false;
  return c != '\t' && c != '\n' && contains(kInvisible, c);
}
bool is_joiner(char32_t c) {
  return c == 0x200C || c == 0x200D;
}
bool is_emoji(char32_t c) {
  return c >= 0x20E3 && contains(kEmoji, c);
}
bool is_lower(char32_t c) {
  return case_of(c) == Case::lower;
}
bool is_upper(char32_t c) {
  return case_of(c) == Case::upper;
}

char32_t to_lower(char32_t c) {
  if (case_of(c) != Case::upper) return c;
  if (c < 0x100 || (c >= 0x391 && c <= 0x3A9) || (c >= 0x410 && c <= 0x42F)) return c + 0x20;
  if (c >= 0x400 && c <= 0x40F) return c + 0x50;
  return c + 1;
}

bool is_speakable(char32_t c) {
  if (is_ascii_letter(c) || c == ' ') return c != ' ';
  return !contains(kPunctuation, c) || kNamedSigns.find(c) != std::u32string_view::npos;
}

}  // namespace parley::dialogue
