#pragma once

#include <vector>

#include "parley/engine/asr.hpp"
#include "providers/intents/catalog.hpp"

namespace parley::providers::intents {

/// What can be said to the intents that are `allowed` (one flag an intent), and "yes" and "no" where one of
/// them asks, or where `asks` says so. Wildcards cannot be said: sentences go without, or are left out.
/// Ranges are spelled in words; sentences with ranges are left out where the language's numbers are not
/// known.
engine::SpeechGrammar make_grammar(const Catalog& catalog, const std::vector<bool>& allowed,
                                   bool asks = false);

}  // namespace parley::providers::intents
