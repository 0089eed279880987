#include "providers/intents/views.hpp"

#include <algorithm>

#include "providers/intents/grammar.hpp"

namespace parley::providers::intents {
namespace {

constexpr std::size_t kRemembered = 64;

}  // namespace

View::View(const Catalog& catalog, const engine::ToolSet& tools) : catalog_(catalog) {
  std::vector<std::string> help;
  for (const Intent& intent : catalog.intents) {
    const Action* action = action_in_force(intent, tools);
    actions_.push_back(action);
    in_force_.push_back(action != nullptr);
    const auto asks = [&](const Step& step) { return find_tool(tools, step.tool)->confirm; };
    confirms_.push_back(intent.confirm || (action != nullptr && std::ranges::any_of(action->steps, asks)));
    const bool new_help =
        !intent.help.empty() && std::find(help.begin(), help.end(), intent.help) == help.end();
    if (action != nullptr && new_help) help.push_back(intent.help);
  }
  for (std::size_t i = 0; i < help.size(); ++i) {
    abilities_ += (i == 0 ? "" : i + 1 < help.size() ? ", " : " and ") + help[i];
  }
}

std::shared_ptr<const engine::SpeechGrammar> View::grammar() const {
  std::call_once(once_, [this] {
    bool asks = false;
    for (std::size_t i = 0; i < in_force_.size(); ++i) asks = asks || (in_force_[i] && confirms_[i]);
    auto made = std::make_shared<const engine::SpeechGrammar>(make_grammar(catalog_, in_force_, asks));
    if (!made->jsgf.empty()) grammar_ = std::move(made);
  });
  return grammar_;
}

std::shared_ptr<const View> Views::get(const engine::ToolSet& tools) {
  if (tools.id.empty()) return std::make_shared<const View>(catalog_, tools);
  const std::lock_guard lock(mutex_);
  const auto known =
      std::find_if(recent_.begin(), recent_.end(), [&](const auto& one) { return one.first == tools.id; });
  if (known != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, known);
  } else {
    recent_.emplace_front(tools.id, std::make_shared<const View>(catalog_, tools));
    if (recent_.size() > kRemembered) recent_.pop_back();
  }
  return recent_.front().second;
}

}  // namespace parley::providers::intents
