#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parley/core/error.hpp"

namespace parley::providers::intents {

/// A sentence template as a tree.
struct Part {
  enum class Kind {
    word,         ///< `text`: one word in lower case
    sequence,     ///< `parts` one after the other
    choice,       ///< one of `parts`
    optional,     ///< `parts[0]`, or nothing
    permutation,  ///< all of `parts`, in any order
    list,         ///< a value of the list `text`, kept in `slot`
    rule,         ///< whatever the rule `text` stands for
  };
  Kind kind = Kind::sequence;
  std::string text;
  std::string slot;
  std::vector<Part> parts;
};

/// Parses Home Assistant's sentence syntax: `[optional]`, `(one|other)`, `(any;order)`, `{list}`,
/// `{list:slot}`,
/// `<rule>`. Brackets that touch a word are part of it: `light[s]`, `turn(s|ed)`. Also accepts `one|other`
/// outside of parentheses. The error says what is wrong and in which column (from 1).
Result<Part> parse_sentence(std::string_view text, std::string_view language);

/// Whether `name` can be the name of a list, slot or rule.
bool is_name(std::string_view name);

}  // namespace parley::providers::intents
