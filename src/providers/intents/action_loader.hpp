#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parley/config/node.hpp"
#include "providers/intents/catalog.hpp"

namespace parley::providers::intents {

/// Names that replies and arguments know beside the slots: `results`, `time`, `error`, …
bool is_reserved(std::string_view name);

/// One text or several under `key`; `slots` may be used in it, null: none.
std::vector<ReplyText> reply_texts(const config::Node& node, std::string_view key,
                                   const std::set<std::string>* slots);

/// Reads what an intent does (all keys but `sentences` and `enabled`) into `intent`.
void load_actions(const config::Node& node, const std::set<std::string>& slots, Intent& intent);

}  // namespace parley::providers::intents
