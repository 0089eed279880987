#include "providers/pocketsphinx/lexicon.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>

#include "parley/providers/pocketsphinx_asr.hpp"

namespace parley::providers::pocketsphinx {
namespace {

constexpr std::size_t kRemembered = 64;

/// `tomato(2) T AH M AA T OW` → `tomato` and `T AH M AA T OW`.
bool parse_entry(std::string_view line, std::string_view& word, std::string_view& phones) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  const auto blank = line.find_first_of(" \t");
  if (blank == std::string_view::npos || blank == 0) return false;
  word = line.substr(0, blank);
  const auto variant = word.find('(');
  if (variant != std::string_view::npos && variant != 0) word = word.substr(0, variant);
  phones = line.substr(line.find_first_not_of(" \t", blank));
  return true;
}

}  // namespace

Result<Pronunciations> find_pronunciations(const engine::SpeechGrammar& grammar,
                                           const std::filesystem::path& dictionary) {
  Pronunciations found;
  for (const auto& word : grammar.words) {
    const auto own = grammar.pronunciations.find(word);
    if (own != grammar.pronunciations.end() && !own->second.empty()) found.emplace(word, own->second);
  }
  const Pronunciations own = found;
  std::ifstream file(dictionary);
  if (!file) {
    return Error(Errc::configuration, "the pronunciation dictionary " + dictionary.string() +
                                          " cannot be read; install pocketsphinx-en-us or set `dictionary`");
  }
  std::string line;
  while (std::getline(file, line)) {
    std::string_view word;
    std::string_view phones;
    if (!parse_entry(line, word, phones)) continue;
    if (!std::binary_search(grammar.words.begin(), grammar.words.end(), word)) continue;
    const std::string key(word);
    if (!own.contains(key)) found[key].emplace_back(phones);
  }
  return found;
}

std::vector<std::string> missing_words(const engine::SpeechGrammar& grammar, const Pronunciations& found) {
  std::vector<std::string> missing;
  for (const auto& word : grammar.words) {
    if (!found.contains(word)) missing.push_back(word);
  }
  return missing;
}

Result<std::shared_ptr<const Pronunciations>> Lexicon::load(const engine::SpeechGrammar& grammar) const {
  auto found = find_pronunciations(grammar, dictionary_);
  if (found.has_error()) return found.error();
  const auto missing = missing_words(grammar, *found);
  if (!missing.empty()) return Error(Errc::configuration, missing_pronunciations_message(missing));
  return std::make_shared<const Pronunciations>(std::move(*found));
}

Result<std::shared_ptr<const Pronunciations>> Lexicon::of(const engine::SpeechGrammar& grammar) {
  const auto of_this = [&grammar](const Entry& entry) { return entry.first == grammar.id; };
  {
    const std::scoped_lock lock(mutex_);
    const auto found = std::find_if(entries_.begin(), entries_.end(), of_this);
    if (found != entries_.end()) return found->second;
  }
  auto loaded = load(grammar);
  const std::scoped_lock lock(mutex_);
  if (std::none_of(entries_.begin(), entries_.end(), of_this)) {
    if (entries_.size() == kRemembered) entries_.erase(entries_.begin());
    entries_.emplace_back(grammar.id, loaded);
  }
  return loaded;
}

}  // namespace parley::providers::pocketsphinx
