#include "providers/intents/analysis.hpp"

#include <algorithm>
#include <optional>

namespace parley::providers::intents {
namespace {

constexpr std::size_t kMaxParts = 50'000;

/// Depth first; a rule that is met while it is open contains itself.
class RuleCheck {
 public:
  explicit RuleCheck(const std::map<std::string, Part>& rules) : rules_(rules) {}

  /// Its parts when everything is written out.
  std::size_t rule(const std::string& name) {
    const auto found = rules_.find(name);
    if (found == rules_.end()) return 0;
    const auto [size, is_new] = sizes_.try_emplace(name);
    if (!is_new) {
      if (size->second) return *size->second;
      throw Failure(Error(Errc::configuration, "the rule `" + name + "` contains itself"));
    }
    const auto parts = part(found->second);
    if (parts > kMaxParts) {
      throw Failure(Error(Errc::configuration,
                          "the rule `" + name + "` is too long when the rules in it are written out"));
    }
    size->second = parts;
    return parts;
  }

 private:
  std::size_t part(const Part& part_) {
    std::size_t parts = 1;
    if (part_.kind == Part::Kind::rule) parts += rule(part_.text);
    for (const Part& inner : part_.parts) parts += part(inner);
    return parts;
  }

  const std::map<std::string, Part>& rules_;
  std::map<std::string, std::optional<std::size_t>> sizes_;  ///< nothing while a rule is open
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

void check_rules(const std::map<std::string, Part>& rules) {
  RuleCheck check(rules);
  for (const auto& [name, part] : rules) check.rule(name);
}

}  // namespace parley::providers::intents
