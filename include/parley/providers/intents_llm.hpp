#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/config/node.hpp"
#include "parley/engine/llm.hpp"
#include "parley/engine/registry.hpp"

namespace parley::providers {

/// A text that was understood.
struct IntentMatch {
  std::string intent;                               ///< its name in the configuration
  nlohmann::json slots = nlohmann::json::object();  ///< by name
  bool exact = true;  ///< every word is the template's; false: a wildcard took some
};

/// What a configuration of intents holds, for a check before it is used.
struct IntentsSummary {
  std::size_t intents = 0;
  std::size_t sentences = 0;
  /// Every word that a grammar may hold, sorted, each once; a recogniser must know all of them …
  std::vector<std::string> words;
  /// … but these, whose pronunciation is given.
  std::map<std::string, std::vector<std::string>> pronunciations;
  std::vector<std::string> tools;  ///< that any intent calls or requires, sorted
};

/// A "language model" made of sentence templates (config/intents/en.yaml documents them): what a template has
/// means its tool calls and its reply, what none has gets a short honest answer. Stateless: everything
/// follows from the messages of the request. Its stream always holds one text, one tool call, or both; never
/// fails.
class IntentsLlm : public engine::LlmProvider {
 public:
  /// What a text means to the intents in force; nothing where it is not understood.
  virtual std::optional<IntentMatch> match(std::string_view text, const engine::ToolSet& tools) const = 0;
  /// Whether chat() has more to say than that it did not understand: a match, an answer to its own question,
  /// the results of its own calls.
  bool understands(const engine::ChatRequest& request) const override = 0;
  virtual const IntentsSummary& summary() const = 0;
};

/// Keys: `builtin` (default: true where there are no `files`), `files` (relative to the file that names
/// them), `timezone` (default: the process's own), and all keys of intents files, which count before those of
/// the files.
std::shared_ptr<IntentsLlm> intents_from_config(const config::Node& node,
                                                const engine::EngineContext& context);

}  // namespace parley::providers
