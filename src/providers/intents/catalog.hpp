#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "parley/engine/tool.hpp"
#include "providers/intents/reply_text.hpp"
#include "providers/intents/sentence.hpp"

namespace parley::providers::intents {

struct ListValue {
  Part said;
  std::optional<nlohmann::json> out;  ///< nothing: the words as they were said
};

/// What a slot can be filled with.
struct List {
  enum class Kind { values, range, wildcard };
  Kind kind = Kind::values;
  std::vector<ListValue> values;
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t step = 1;
};

struct Sentence {
  Part part;
  std::size_t frame = 0;  ///< index in Catalog::frames
};

/// What may be said before and after every sentence of one file.
struct Frame {
  std::optional<Part> before;
  std::optional<Part> after;
};

struct Step {
  std::string tool;  ///< wire name, or name for the model
  std::vector<std::pair<std::string, ArgumentValue>> arguments;
};

/// What is done about a sentence. In force where all its tools exist.
struct Action {
  std::vector<Step> steps;
  std::vector<ReplyText> reply;  ///< empty: Replies::done; several: taken in turns
  std::optional<ReplyText> announce;
  std::optional<ReplyText> reply_error;
  std::optional<ReplyText> reply_missing;
  std::string emoji;
  bool end = false;
};

struct Intent {
  std::string name;
  std::vector<Sentence> sentences;
  std::vector<Action> actions;        ///< the first that is in force is taken; never empty
  std::vector<std::string> required;  ///< further tools without which the intent is not in force
  bool confirm = false;
  std::optional<ReplyText> question;  ///< empty: Replies::confirm
  std::string help;                   ///< "set the volume"; empty: not mentioned
};

struct Replies {
  std::vector<ReplyText> not_understood;
  ReplyText unavailable;
  ReplyText failed;
  ReplyText invalid;
  ReplyText out_of_range;
  ReplyText missing;
  ReplyText done;
  ReplyText confirm;
  ReplyText declined;
};

/// Everything that the configuration says, checked: all rules and lists that are named exist, no rule
/// contains itself.
struct Catalog {
  std::string language = "en";
  std::vector<Frame> frames;
  std::map<std::string, Part> rules;
  std::map<std::string, List> lists;
  std::vector<Intent> intents;  ///< in order of precedence
  Part yes;
  Part no;
  Replies replies;
  std::set<std::string> ignored;  ///< Word::key of what is dropped from every text ("um")
  std::map<std::string, std::vector<std::string>> pronunciations;
};

/// By wire name, else by the name for the model.
inline const engine::ToolSpec* find_tool(const engine::ToolSet& tools, const std::string& name) {
  const auto* found = tools.find_wire(name);
  return found != nullptr ? found : tools.find(name);
}

/// The first action whose tools all exist; null where the intent is not in force.
const Action* action_in_force(const Intent& intent, const engine::ToolSet& tools);

/// The tools that any intent names, sorted.
std::vector<std::string> tools_named(const Catalog& catalog);

}  // namespace parley::providers::intents
