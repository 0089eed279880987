#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "providers/intents/automaton.hpp"
#include "providers/intents/catalog.hpp"
#include "providers/intents/words.hpp"

namespace parley::providers::intents {

/// What a text was understood as.
struct Reading {
  std::size_t intent = 0;    ///< index in Catalog::intents
  std::size_t sentence = 0;  ///< index in its sentences
  nlohmann::json slots = nlohmann::json::object();
  std::size_t guessed = 0;  ///< words that a wildcard took
  /// A number that its list does not have; the reading is to be answered, not carried out.
  struct OutOfRange {
    std::int64_t value = 0;
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  std::optional<OutOfRange> out_of_range;
};

enum class Answer { yes, no, neither };

/// All sentences of a catalog, compiled. Immutable; used by all threads. The catalog must outlive it.
class Matcher {
 public:
  /// Throws Failure where sentences have too many forms.
  explicit Matcher(const Catalog& catalog);

  /// The words to match: without those that are ignored.
  std::vector<Word> words(std::string_view text) const;

  /// The best reading of a whole text among the intents that are `allowed` (one flag an intent). Better is:
  /// numbers in range, then fewer words taken by wildcards, then more words of the sentence itself, then what
  /// the configuration has first. Time grows with words × states of the sentences that can begin so.
  std::optional<Reading> read(std::string_view text, const std::vector<bool>& allowed) const;

  Answer answer(std::string_view text) const;

 private:
  struct Entry {
    std::size_t intent = 0;
    std::size_t sentence = 0;
    Automaton automaton;
  };
  void index_beginnings();

  const Catalog& catalog_;
  AutomatonBuilder builder_;
  std::vector<Automaton> lists_;  ///< by list number; empty for ranges and wildcards
  std::vector<const List*> list_of_;
  std::vector<Entry> entries_;
  /// By word number: the entries that can begin with it, ascending. The last one: those that can begin with
  /// any.
  std::vector<std::vector<std::uint32_t>> by_first_word_;
  Automaton answers_;
};

}  // namespace parley::providers::intents
