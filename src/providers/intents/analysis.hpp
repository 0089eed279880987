#pragma once

#include <set>
#include <string>

#include "providers/intents/catalog.hpp"

// What can be said of a sentence without saying it. The rules must not contain themselves.
namespace parley::providers::intents {

/// The slots that it may fill.
void collect_slots(const Catalog& catalog, const Part& part, std::set<std::string>& slots);
bool has_slots(const Catalog& catalog, const Part& part);

/// Whether silence matches it.
bool is_nullable(const Catalog& catalog, const Part& part);

/// Throws Failure with a sentence where a rule contains itself, or has more than 50,000 parts when the rules
/// in it are written out.
void check_rules(const std::map<std::string, Part>& rules);

}  // namespace parley::providers::intents
