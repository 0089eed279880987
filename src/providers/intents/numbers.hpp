#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "providers/intents/words.hpp"

namespace parley::providers::intents {

/// Whether spoken numbers are known for a language ("en", "en-US").
bool speaks_numbers(std::string_view language);

/// The ways of saying a whole number between -999,999 and 999,999, the usual one first; digits where the
/// language's numbers are not known.
std::vector<std::vector<std::string>> spoken_number(std::int64_t value, std::string_view language);

struct SpokenNumber {
  std::int64_t value = 0;
  std::size_t end = 0;  ///< index after its last word
};

/// All numbers that begin at word `begin`, the longest first: "twenty five" is 25 and 20.
std::vector<SpokenNumber> numbers_at(const std::vector<Word>& words, std::size_t begin,
                                     std::string_view language);

}  // namespace parley::providers::intents
