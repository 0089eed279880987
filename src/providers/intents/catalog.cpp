#include "providers/intents/catalog.hpp"

#include <algorithm>

namespace parley::providers::intents {

const Action* action_in_force(const Intent& intent, const engine::ToolSet& tools) {
  const auto exists = [&](const std::string& name) { return find_tool(tools, name) != nullptr; };
  if (!std::all_of(intent.required.begin(), intent.required.end(), exists)) return nullptr;
  for (const Action& action : intent.actions) {
    if (std::all_of(action.steps.begin(), action.steps.end(),
                    [&](const Step& step) { return exists(step.tool); })) {
      return &action;
    }
  }
  return nullptr;
}

std::vector<std::string> tools_named(const Catalog& catalog) {
  std::set<std::string> names;
  for (const Intent& intent : catalog.intents) {
    names.insert(intent.required.begin(), intent.required.end());
    for (const Action& action : intent.actions) {
      for (const Step& step : action.steps) names.insert(step.tool);
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace parley::providers::intents
