#pragma once

#include <string_view>

namespace parley::dialogue {

/// What a full stop after a word, a number or an initial is.
enum class FullStop {
  ends,     ///< the sentence, if a blank follows
  depends,  ///< on the case of the next word
  never,    ///< part of an abbreviation, an ordinal, a list's number
};

/// `before` is the piece up to the full stop. Knows abbreviations of English, German, Spanish, French,
/// Russian and Vietnamese; a word of up to three letters is taken for one if the text goes on in lower case.
FullStop full_stop_after(std::u32string_view before);

}  // namespace parley::dialogue
