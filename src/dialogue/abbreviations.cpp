#include "dialogue/abbreviations.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "dialogue/characters.hpp"

namespace parley::dialogue {
namespace {

using namespace std::string_view_literals;

/// A name or a thing follows, in upper case too.
constexpr std::array kNever = {
    U"mr"sv,   U"mrs"sv,  U"ms"sv,   U"mx"sv,   U"dr"sv,   U"prof"sv, U"rev"sv,  U"gen"sv,  U"col"sv,
    U"capt"sv, U"lt"sv,   U"sgt"sv,  U"gov"sv,  U"sen"sv,  U"st"sv,   U"mt"sv,   U"vs"sv,   U"cf"sv,
    U"eg"sv,   U"ie"sv,   U"al"sv,   U"ca"sv,   U"hr"sv,   U"hrn"sv,  U"fr"sv,   U"bzw"sv,  U"ggf"sv,
    U"vgl"sv,  U"sog"sv,  U"dipl"sv, U"bspw"sv, U"evtl"sv, U"inkl"sv, U"exkl"sv, U"sr"sv,   U"sra"sv,
    U"dra"sv,  U"srta"sv, U"mme"sv,  U"mlle"sv, U"ул"sv,   U"им"sv,   U"проф"sv, U"акад"sv, U"доц"sv,
    U"tp"sv,   U"ths"sv,  U"ts"sv,   U"gs"sv,   U"pgs"sv,  U"bs"sv,   U"ks"sv,   U"tx"sv,   U"tt"sv,
};
/// Longer than three letters, and may end a sentence.
constexpr std::array kDepends = {U"approx"sv, U"dept"sv, U"corp"sv, U"sept"sv, U"blvd"sv, U"avda"sv,
                                 U"aprox"sv,  U"млрд"sv, U"zzgl"sv, U"mind"sv, U"assn"sv, U"bros"sv};
/// Letters with a full stop each that may end a sentence; others (U.S., z.B., т.е.) never do.
constexpr std::array kDottedDepends = {U"a.m"sv, U"p.m"sv,   U"u.a"sv, U"т.д"sv,
                                       U"т.п"sv, U"n.chr"sv, U"v.v"sv};
/// Before a German ordinal: "am 3. Oktober".
constexpr std::array kBeforeOrdinal = {U"am"sv,  U"der"sv,  U"den"sv,  U"dem"sv,  U"des"sv, U"das"sv,
                                       U"die"sv, U"vom"sv,  U"zum"sv,  U"bis"sv,  U"ab"sv,  U"im"sv,
                                       U"und"sv, U"seit"sv, U"beim"sv, U"jeden"sv};
constexpr std::size_t kShort = 3;

template <std::size_t N>
bool contains(const std::array<std::u32string_view, N>& words, std::u32string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool parts_words(char32_t c) {
  return c == ' ' || c == '"' || is_opening(c) || c == '-' || c == '/' || c == U'–' || c == U'—';
}

/// The last word of `text` in lower case, and what stands before it.
std::u32string last_word(std::u32string_view& text) {
  auto begin = text.size();
  while (begin > 0 && !parts_words(text[begin - 1])) --begin;
  std::u32string word(text.substr(begin));
  std::ranges::transform(word, word.begin(), to_lower);
  text = text.substr(0, begin);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return word;
}

/// "u.s", "т.е": single letters.
bool is_dotted(std::u32string_view word) {
  for (std::size_t i = 0; i < word.size(); ++i) {
    if ((i % 2 == 1) != (word[i] == '.') || is_digit(word[i])) return false;
  }
  return word.size() > 2;
}

}  // namespace

FullStop full_stop_after(std::u32string_view before) {
  const auto last = before.empty() ? U' ' : before.back();
  auto rest = before;
  const auto word = last_word(rest);
  if (word.empty()) return FullStop::depends;
  if (is_wide(last)) return FullStop::ends;
  if (std::ranges::all_of(word, is_digit)) {
    if (rest.empty() && word.size() <= 3) return FullStop::never;
    return word.size() <= 2 && contains(kBeforeOrdinal, last_word(rest)) ? FullStop::never
                                                                         : FullStop::depends;
  }
  if (word.size() == 1) {
    // An initial, or half of "z. B."; but words of one letter end sentences (I, я, ạ).
    const bool initial =
        (is_ascii_letter(last) && last != 'I') || (last >= U'А' && last < U'я' && last != U'Я');
    return initial ? FullStop::never : FullStop::depends;
  }
  if (contains(kDottedDepends, word)) return FullStop::depends;
  if (is_dotted(word) || contains(kNever, word)) return FullStop::never;
  const bool plain = word.size() > kShort && word.find(U'.') == std::u32string::npos && !is_digit(last);
  return plain && !contains(kDepends, word) ? FullStop::ends : FullStop::depends;
}

}  // namespace parley::dialogue
