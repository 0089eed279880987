#include "providers/intents/matcher.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "providers/intents/numbers.hpp"

namespace parley::providers::intents {

using State = Automaton::State;

namespace {

/// Longer texts are no commands.
constexpr std::size_t kMaxWords = 64;

/// One value of a list, found in the text.
struct Found {
  std::size_t end = 0;
  std::int64_t value = 0;  ///< index of the list's value; a range's number
  bool out_of_range = false;
};

struct Capture {
  std::int32_t slot = 0;
  std::int32_t list = 0;
  std::size_t begin = 0;
  Found found;
};

/// One text while it is matched with all sentences.
class Run {
 public:
  Run(const Catalog& catalog, const AutomatonBuilder& builder, const std::vector<Automaton>& lists,
      const std::vector<const List*>& list_of, const std::vector<Word>& words)
      : catalog_(catalog),
        lists_(lists),
        list_of_(list_of),
        words_(words),
        known_(list_of.size() * words.size()) {
    ids_.reserve(words.size());
    for (const Word& word : words) ids_.push_back(builder.words.find(word.key));
  }

  const std::vector<std::int32_t>& ids() const { return ids_; }
  const std::vector<Capture>& captures() const { return captures_; }

  /// Whether the whole text is accepted; the captures are those of the preferred path.
  bool match(const Automaton& automaton, std::int32_t& accepted) {
    captures_.clear();
    seen_.assign(automaton.states.size() * (words_.size() + 1), false);
    return walk(automaton, automaton.start, 0, accepted);
  }

 private:
  // A state that failed once at a word fails there for good, so each is entered once per word.
  bool walk(const Automaton& automaton, std::uint32_t at, std::size_t word, std::int32_t& accepted) {
    for (;;) {
      const State& state = automaton.states[at];
      if (state.kind == State::Kind::word) {
        if (word == words_.size() || ids_[word] != state.id) return false;
        ++word;
        at = state.next;
        continue;
      }
      if (state.kind == State::Kind::accept) {
        accepted = state.id;
        return word == words_.size();
      }
      const std::size_t mark = at * (words_.size() + 1) + word;
      if (seen_[mark]) return false;
      seen_[mark] = true;
      if (state.kind == State::Kind::list) return walk_list(automaton, state, word, accepted);
      for (std::size_t i = 0; i + 1 < state.branches.size(); ++i) {
        if (walk(automaton, state.branches[i], word, accepted)) return true;
      }
      at = state.branches.back();
    }
  }

  bool walk_list(const Automaton& automaton, const State& state, std::size_t word, std::int32_t& accepted) {
    if (word == words_.size()) return false;
    const std::vector<Found>& all = values(state.id, word);
    for (const Found& found : all) {
      captures_.push_back({.slot = state.slot, .list = state.id, .begin = word, .found = found});
      if (walk(automaton, state.next, found.end, accepted)) return true;
      captures_.pop_back();
    }
    return false;
  }

  /// The values of a list that begin at a word, in order of preference.
  const std::vector<Found>& values(std::int32_t list, std::size_t word) {
    Known& known = known_[static_cast<std::size_t>(list) * words_.size() + word];
    if (!known.made) known = {.made = true, .values = find_values(static_cast<std::size_t>(list), word)};
    return known.values;
  }

  std::vector<Found> find_values(std::size_t list, std::size_t word) {
    const List& what = *list_of_[list];
    std::vector<Found> out;
    if (what.kind == List::Kind::wildcard) {
      for (std::size_t end = word + 1; end <= words_.size(); ++end) out.push_back({.end = end});
      return out;
    }
    if (what.kind == List::Kind::range) {
      for (const SpokenNumber& number : numbers_at(words_, word, catalog_.language)) {
        const bool in_range = number.value >= what.from && number.value <= what.to &&
                              (number.value - what.from) % what.step == 0;
        out.push_back({.end = number.end, .value = number.value, .out_of_range = !in_range});
      }
      std::stable_sort(out.begin(), out.end(),
                       [](const Found& a, const Found& b) { return a.out_of_range < b.out_of_range; });
      return out;
    }
    std::vector<bool> seen(lists_[list].states.size() * (words_.size() + 1));
    collect(lists_[list], lists_[list].start, word, seen, out);
    std::sort(out.begin(), out.end(), [](const Found& a, const Found& b) {
      return std::tie(b.end, a.value) < std::tie(a.end, b.value);
    });
    return out;
  }

  /// All ends that an automaton without lists can reach.
  void collect(const Automaton& automaton, std::uint32_t at, std::size_t word, std::vector<bool>& seen,
               std::vector<Found>& out) const {
    const std::size_t mark = at * (words_.size() + 1) + word;
    if (seen[mark]) return;
    seen[mark] = true;
    const State& state = automaton.states[at];
    if (state.kind == State::Kind::accept) {
      out.push_back({.end = word, .value = state.id});
    } else if (state.kind == State::Kind::word) {
      if (word < words_.size() && ids_[word] == state.id) collect(automaton, state.next, word + 1, seen, out);
    } else {
      for (const std::uint32_t branch : state.branches) collect(automaton, branch, word, seen, out);
    }
  }

  const Catalog& catalog_;
  const std::vector<Automaton>& lists_;
  const std::vector<const List*>& list_of_;
  const std::vector<Word>& words_;
  std::vector<std::int32_t> ids_;
  struct Known {
    bool made = false;
    std::vector<Found> values;
  };
  std::vector<Known> known_;  ///< by list and word
  std::vector<bool> seen_;
  std::vector<Capture> captures_;
};

struct Rank {
  bool out_of_range = false;
  std::size_t guessed = 0;
  std::size_t from_lists = 0;

  friend bool operator<(const Rank& a, const Rank& b) {
    return std::tie(a.out_of_range, a.guessed, a.from_lists) <
           std::tie(b.out_of_range, b.guessed, b.from_lists);
  }
};

Rank rank_of(const std::vector<Capture>& captures, const std::vector<const List*>& list_of) {
  Rank out;
  for (const Capture& capture : captures) {
    const bool guessed = list_of[static_cast<std::size_t>(capture.list)]->kind == List::Kind::wildcard;
    (guessed ? out.guessed : out.from_lists) += capture.found.end - capture.begin;
    out.out_of_range = out.out_of_range || capture.found.out_of_range;
  }
  return out;
}

nlohmann::json value_of(const List& list, const Capture& capture, std::string_view text,
                        const std::vector<Word>& words) {
  if (list.kind == List::Kind::range) return capture.found.value;
  if (list.kind == List::Kind::wildcard) {
    const std::size_t begin = words[capture.begin].begin;
    return text.substr(begin, words[capture.found.end - 1].end - begin);
  }
  const std::optional<nlohmann::json>& out = list.values[static_cast<std::size_t>(capture.found.value)].out;
  return out ? *out : nlohmann::json(join(words, capture.begin, capture.found.end));
}

/// Adds the words that a state can begin with to `words`; true where it can begin with any.
bool beginnings(const Automaton& automaton, std::uint32_t at, const std::vector<Automaton>& lists,
                const std::vector<const List*>& list_of, std::vector<bool>& seen, std::vector<bool>& words) {
  if (seen[at]) return false;
  seen[at] = true;
  const State& state = automaton.states[at];
  if (state.kind == State::Kind::word) {
    words[static_cast<std::size_t>(state.id)] = true;
    return false;
  }
  if (state.kind == State::Kind::list) {
    const auto list = static_cast<std::size_t>(state.id);
    if (list_of[list]->kind != List::Kind::values) return true;
    std::vector<bool> inner(lists[list].states.size());
    return beginnings(lists[list], lists[list].start, lists, list_of, inner, words);
  }
  bool any = false;
  for (const std::uint32_t branch : state.branches) {
    any = beginnings(automaton, branch, lists, list_of, seen, words) || any;
  }
  return any;
}

}  // namespace

Matcher::Matcher(const Catalog& catalog) : catalog_(catalog), builder_(catalog) {
  for (const auto& [name, list] : catalog.lists) {
    std::vector<const Part*> values;
    values.reserve(list.values.size());
    for (const ListValue& value : list.values) values.push_back(&value.said);
    lists_.push_back(builder_.build(values));
    list_of_.push_back(&list);
  }
  for (std::size_t i = 0; i < catalog.intents.size(); ++i) {
    const auto& sentences = catalog.intents[i].sentences;
    for (std::size_t k = 0; k < sentences.size(); ++k) {
      entries_.push_back(
          {.intent = i,
           .sentence = k,
           .automaton = builder_.build(sentences[k].part, catalog.frames[sentences[k].frame])});
    }
  }
  answers_ = builder_.build({&catalog.yes, &catalog.no});
  index_beginnings();
}

void Matcher::index_beginnings() {
  const std::size_t any_word = builder_.words.size();
  by_first_word_.resize(any_word + 1);
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const Automaton& automaton = entries_[i].automaton;
    std::vector<bool> seen(automaton.states.size());
    std::vector<bool> words(any_word);
    if (beginnings(automaton, automaton.start, lists_, list_of_, seen, words)) {
      by_first_word_.back().push_back(i);
      continue;
    }
    for (std::size_t word = 0; word < any_word; ++word) {
      if (words[word]) by_first_word_[word].push_back(i);
    }
  }
}

std::vector<Word> Matcher::words(std::string_view text) const {
  std::vector<Word> out = split_words(text, catalog_.language);
  std::erase_if(out, [this](const Word& word) { return catalog_.ignored.contains(word.key); });
  return out;
}

std::optional<Reading> Matcher::read(std::string_view text, const std::vector<bool>& allowed) const {
  const std::vector<Word> words = this->words(text);
  if (words.empty() || words.size() > kMaxWords) return std::nullopt;
  Run run(catalog_, builder_, lists_, list_of_, words);

  std::vector<std::uint32_t> candidates = by_first_word_.back();
  if (const std::int32_t first = run.ids().front(); first >= 0) {
    const auto& more = by_first_word_[static_cast<std::size_t>(first)];
    candidates.insert(candidates.end(), more.begin(), more.end());
    std::sort(candidates.begin(), candidates.end());
  }

  const Entry* best = nullptr;
  Rank best_rank;
  std::vector<Capture> captures;
  for (const std::uint32_t i : candidates) {
    if (!allowed[entries_[i].intent]) continue;
    std::int32_t accepted = 0;
    if (!run.match(entries_[i].automaton, accepted)) continue;
    const Rank rank = rank_of(run.captures(), list_of_);
    if (best != nullptr && !(rank < best_rank)) continue;
    best = &entries_[i];
    best_rank = rank;
    captures = run.captures();
  }
  if (best == nullptr) return std::nullopt;

  Reading out{.intent = best->intent, .sentence = best->sentence, .guessed = best_rank.guessed};
  for (const Capture& capture : captures) {
    const List& list = *list_of_[static_cast<std::size_t>(capture.list)];
    out.slots[builder_.slots[capture.slot]] = value_of(list, capture, text, words);
    if (!capture.found.out_of_range) continue;
    out.out_of_range = Reading::OutOfRange{.value = capture.found.value, .from = list.from, .to = list.to};
  }
  return out;
}

Answer Matcher::answer(std::string_view text) const {
  const std::vector<Word> words = this->words(text);
  if (words.empty() || words.size() > kMaxWords) return Answer::neither;
  Run run(catalog_, builder_, lists_, list_of_, words);
  std::int32_t accepted = 0;
  if (!run.match(answers_, accepted)) return Answer::neither;
  return accepted == 0 ? Answer::yes : Answer::no;
}

}  // namespace parley::providers::intents
