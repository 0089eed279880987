#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "parley/engine/asr.hpp"
#include "parley/engine/tool.hpp"
#include "providers/intents/catalog.hpp"

namespace parley::providers::intents {

/// A catalog as one set of tools has it in force.
class View {
 public:
  View(const Catalog& catalog, const engine::ToolSet& tools);

  /// One flag an intent.
  const std::vector<bool>& in_force() const { return in_force_; }
  /// The action of an intent that is in force.
  const Action& action(std::size_t intent) const { return *actions_[intent]; }
  /// Whether the person is asked first: the intent wants it, or a tool of its action does.
  bool confirms(std::size_t intent) const { return confirms_[intent]; }
  /// "set the volume, turn on the lamp and tell the time"; empty where no intent says what it helps with.
  const std::string& abilities() const { return abilities_; }
  /// Made when it is asked for the first time; null where nothing can be said.
  std::shared_ptr<const engine::SpeechGrammar> grammar() const;

 private:
  const Catalog& catalog_;
  std::vector<bool> in_force_;
  std::vector<const Action*> actions_;
  std::vector<bool> confirms_;
  std::string abilities_;
  mutable std::once_flag once_;
  mutable std::shared_ptr<const engine::SpeechGrammar> grammar_;
};

/// The views of the tool sets used last. Thread-safe. The catalog must outlive it and its views.
class Views {
 public:
  explicit Views(const Catalog& catalog) : catalog_(catalog) {}

  /// The same view for equal ids, while it is remembered; a set without an id is not remembered.
  std::shared_ptr<const View> get(const engine::ToolSet& tools);

 private:
  const Catalog& catalog_;
  std::mutex mutex_;
  std::list<std::pair<std::string, std::shared_ptr<const View>>> recent_;  ///< the last used one first
};

}  // namespace parley::providers::intents
