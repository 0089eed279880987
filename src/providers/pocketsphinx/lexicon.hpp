#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "parley/core/error.hpp"
#include "parley/engine/asr.hpp"

namespace parley::providers::pocketsphinx {

/// Word → its pronunciations, phones separated by one blank.
using Pronunciations = std::map<std::string, std::vector<std::string>>;

/// The pronunciations of a grammar's words: its own first, else the dictionary's. Words in neither are left
/// out. Errc::configuration when the dictionary cannot be read. Reads the whole file (some milliseconds).
Result<Pronunciations> find_pronunciations(const engine::SpeechGrammar& grammar,
                                           const std::filesystem::path& dictionary);

std::vector<std::string> missing_words(const engine::SpeechGrammar& grammar, const Pronunciations& found);

/// The same, complete or an error, remembered for the grammars used last. Thread-safe.
class Lexicon {
 public:
  explicit Lexicon(std::filesystem::path dictionary) : dictionary_(std::move(dictionary)) {}

  Result<std::shared_ptr<const Pronunciations>> of(const engine::SpeechGrammar& grammar);

 private:
  using Entry = std::pair<std::string, Result<std::shared_ptr<const Pronunciations>>>;

  Result<std::shared_ptr<const Pronunciations>> load(const engine::SpeechGrammar& grammar) const;

  const std::filesystem::path dictionary_;
  std::mutex mutex_;
  std::vector<Entry> entries_;  // by grammar id, the oldest first
};

}  // namespace parley::providers::pocketsphinx
