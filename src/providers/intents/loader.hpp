#pragma once

#include <vector>

#include "parley/config/node.hpp"
#include "providers/intents/catalog.hpp"

namespace parley::providers::intents {

/// Reads the keys of intents files (config/intents/en.yaml documents them) from several places. Where two
/// define the same intent, rule, list or text, the first one's counts; so do its intents where sentences are
/// equal. Throws Failure with the place of the mistake. Unknown keys are the caller's to refuse
/// (Node::finish).
Catalog load_catalog(const std::vector<config::Node>& documents);

/// The intents that are compiled in: config/intents/en.yaml.
config::Node builtin_document();

}  // namespace parley::providers::intents
