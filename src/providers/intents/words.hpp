#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace parley::providers::intents {

/// One spoken word of a text.
struct Word {
  std::string text;       ///< lower case, as written in a dictionary: `i'd`
  std::string key;        ///< what is compared: `text` without apostrophes
  std::size_t begin = 0;  ///< bytes of the source that it comes from; all words of `50` share theirs
  std::size_t end = 0;
};

/// What is said when `text` is read aloud, whatever a recogniser made of it: lower case, punctuation dropped,
/// hyphens are spaces, `%` is "percent", `&` "and", `°` "degrees". Whole numbers below a million become words
/// where the language is English and stay digits elsewhere. Each ideograph is a word of its own.
std::vector<Word> split_words(std::string_view text, std::string_view language);

/// The texts of `words` from `begin` to `end`, separated by spaces.
std::string join(const std::vector<Word>& words, std::size_t begin, std::size_t end);

}  // namespace parley::providers::intents
