#include "providers/intents/automaton.hpp"

#include <algorithm>
#include <utility>

namespace parley::providers::intents {

using State = Automaton::State;

namespace {

constexpr std::size_t kMaxStates = 50'000;
constexpr std::uint32_t kUnknown = ~0U;

std::string key_of(std::string word) {
  std::erase(word, '\'');
  return word;
}

}  // namespace

AutomatonBuilder::AutomatonBuilder(const Catalog& catalog) : catalog_(catalog) {
  for (const auto& [name, list] : catalog.lists) lists.add(name);
}

Automaton AutomatonBuilder::build(const std::vector<const Part*>& parts) {
  Automaton out;
  State all{.kind = State::Kind::split};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::uint32_t accept = add(out, {.kind = State::Kind::accept, .id = static_cast<std::int32_t>(i)});
    all.branches.push_back(compile(out, *parts[i], accept));
  }
  out.start = add(out, std::move(all));
  return out;
}

Automaton AutomatonBuilder::build(const Part& part, const Frame& frame) {
  Automaton out;
  std::uint32_t next = add(out, {.kind = State::Kind::accept});
  if (frame.after) next = compile(out, *frame.after, next);
  next = compile(out, part, next);
  if (frame.before) next = compile(out, *frame.before, next);
  out.start = next;
  return out;
}

std::uint32_t AutomatonBuilder::add(Automaton& out, State state) const {
  if (out.states.size() >= kMaxStates) {
    throw Failure(Error(Errc::configuration,
                        "an intents sentence has too many forms; write it with fewer alternatives"));
  }
  out.states.push_back(std::move(state));
  return static_cast<std::uint32_t>(out.states.size() - 1);
}

std::uint32_t AutomatonBuilder::compile(Automaton& out, const Part& part, std::uint32_t next) {
  switch (part.kind) {
    case Part::Kind::word:
      return add(out, {.kind = State::Kind::word, .id = words.add(key_of(part.text)), .next = next});
    case Part::Kind::list:
      return add(out, {.kind = State::Kind::list,
                       .id = lists.add(part.text),
                       .slot = slots.add(part.slot),
                       .next = next});
    case Part::Kind::rule:
      return compile(out, catalog_.rules.at(part.text), next);
    case Part::Kind::sequence:
      for (auto it = part.parts.rbegin(); it != part.parts.rend(); ++it) next = compile(out, *it, next);
      return next;
    case Part::Kind::optional: {
      const std::uint32_t inner = compile(out, part.parts.front(), next);
      return add(out, {.kind = State::Kind::split, .branches = {inner, next}});
    }
    case Part::Kind::choice: {
      State split{.kind = State::Kind::split};
      for (const Part& option : part.parts) split.branches.push_back(compile(out, option, next));
      return add(out, std::move(split));
    }
    case Part::Kind::permutation:
      break;
  }
  std::vector<std::uint32_t> known(std::size_t{1} << part.parts.size(), kUnknown);
  return permutation(out, part, static_cast<unsigned>(known.size() - 1), next, known);
}

/// The parts whose bits are set in `remaining`, in any order; one state for each set of them.
std::uint32_t AutomatonBuilder::permutation(Automaton& out, const Part& part, unsigned remaining,
                                            std::uint32_t next, std::vector<std::uint32_t>& known) {
  if (remaining == 0) return next;
  if (known[remaining] != kUnknown) return known[remaining];
  State split{.kind = State::Kind::split};
  for (unsigned i = 0; i < part.parts.size(); ++i) {
    const unsigned bit = 1U << i;
    if ((remaining & bit) == 0) continue;
    const std::uint32_t rest = permutation(out, part, remaining & ~bit, next, known);
    split.branches.push_back(compile(out, part.parts[i], rest));
  }
  known[remaining] = add(out, std::move(split));
  return known[remaining];
}

}  // namespace parley::providers::intents
