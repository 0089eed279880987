#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "providers/intents/catalog.hpp"

namespace parley::providers::intents {

/// A sentence as states; rules are spelled out in it. Acyclic: no sentence repeats anything.
struct Automaton {
  struct State {
    enum class Kind {
      word,    ///< `id`: the word's number
      list,    ///< `id`: the list's number, `slot`: the slot's
      split,   ///< `branches`, the preferred one first
      accept,  ///< `id`: what is accepted
    };
    Kind kind = Kind::accept;
    std::int32_t id = 0;
    std::int32_t slot = 0;
    std::uint32_t next = 0;
    std::vector<std::uint32_t> branches;
  };
  std::vector<State> states;
  std::uint32_t start = 0;
};

/// Numbers for names.
class Names {
 public:
  std::int32_t add(const std::string& name) {
    const auto [at, added] = ids_.try_emplace(name, static_cast<std::int32_t>(names_.size()));
    if (added) names_.push_back(name);
    return at->second;
  }
  /// -1 where it is not known.
  std::int32_t find(const std::string& name) const {
    const auto found = ids_.find(name);
    return found == ids_.end() ? -1 : found->second;
  }
  const std::string& operator[](std::int32_t id) const { return names_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::unordered_map<std::string, std::int32_t> ids_;
  std::vector<std::string> names_;
};

/// Builds automata that share the numbers of words, lists and slots.
class AutomatonBuilder {
 public:
  explicit AutomatonBuilder(const Catalog& catalog);

  /// The sentences of `parts`; the n-th accepts with id n. Throws Failure where it gets too large.
  Automaton build(const std::vector<const Part*>& parts);
  Automaton build(const Part& part, const Frame& frame);

  Names words;
  Names lists;  ///< all lists of the catalog, by name
  Names slots;

 private:
  std::uint32_t add(Automaton& out, Automaton::State state) const;
  std::uint32_t compile(Automaton& out, const Part& part, std::uint32_t next);
  std::uint32_t permutation(Automaton& out, const Part& part, unsigned remaining, std::uint32_t next,
                            std::vector<std::uint32_t>& known);
  const Catalog& catalog_;
};

}  // namespace parley::providers::intents
