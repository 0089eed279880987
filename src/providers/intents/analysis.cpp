#include "providers/intents/analysis.hpp"

#include <algorithm>

namespace parley::providers::intents {
namespace {

enum class Visit { open, done };

/// Depth first; a rule that is met while it is open contains itself.
class RecursionCheck {
 public:
  explicit RecursionCheck(const std::map<std::string, Part>& rules) : rules_(rules) {}

  void rule(const std::string& name) {
    const auto found = rules_.find(name);
    if (found == rules_.end()) return;
    if (const auto state = state_.find(name); state != state_.end()) {
      if (state->second == Visit::done) return;
      throw Failure(Error(Errc::configuration, "the rule `" + name + "` contains itself"));
    }
    state_[name] = Visit::open;
    part(found->second);
    state_[name] = Visit::done;
  }

 private:
  void part(const Part& part_) {
    if (part_.kind == Part::Kind::rule) rule(part_.text);
    for (const Part& inner : part_.parts) part(inner);
  }

  const std::map<std::string, Part>& rules_;
  std::map<std::string, Visit> state_;
};

}  // namespace

void collect_slots(const Catalog& catalog, const Part& part, std::set<std::string>& slots) {
  if (part.kind == Part::Kind::list) slots.insert(part.slot);
  if (part.kind == Part::Kind::rule) collect_slots(catalog, catalog.rules.at(part.text), slots);
  for (const Part& inner : part.parts) collect_slots(catalog, inner, slots);
}

bool has_slots(const Catalog& catalog, const Part& part) {
  std::set<std::string> slots;
  collect_slots(catalog, part, slots);
  return !slots.empty();
}

bool is_nullable(const Catalog& catalog, const Part& part) {
  const auto nullable = [&](const Part& inner) { return is_nullable(catalog, inner); };
  switch (part.kind) {
    case Part::Kind::word:
    case Part::Kind::list:
      return false;
    case Part::Kind::optional:
      return true;
    case Part::Kind::choice:
      return std::any_of(part.parts.begin(), part.parts.end(), nullable);
    case Part::Kind::rule:
      return is_nullable(catalog, catalog.rules.at(part.text));
    case Part::Kind::sequence:
    case Part::Kind::permutation:
      break;
  }
  return std::all_of(part.parts.begin(), part.parts.end(), nullable);
}

void check_recursion(const std::map<std::string, Part>& rules) {
  RecursionCheck check(rules);
  for (const auto& [name, part] : rules) check.rule(name);
}

}  // namespace parley::providers::intents
