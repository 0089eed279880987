#include "providers/intents/action_loader.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace parley::providers::intents {
namespace {

using config::Node;

/// The faces that the firmware knows (PROTOCOL.md, section 4), as a reply shows them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kFaces{{
    {"neutral", "😶"},   {"happy", "🙂"},    {"laughing", "😆"},  {"funny", "😂"},       {"sad", "😔"},
    {"angry", "😠"},     {"crying", "😭"},   {"loving", "😍"},    {"embarrassed", "😳"}, {"surprised", "😯"},
    {"shocked", "😱"},   {"thinking", "🤔"}, {"winking", "😉"},   {"cool", "😎"},        {"relaxed", "😌"},
    {"delicious", "🤤"}, {"kissy", "😘"},    {"confident", "😏"}, {"sleepy", "😴"},      {"silly", "😜"},
    {"confused", "🙄"},
}};

constexpr std::array<std::string_view, 13> kReserved{"results",   "time",  "time24", "date",  "weekday",
                                                     "day",       "month", "year",   "error", "said",
                                                     "abilities", "from",  "to"};

std::string emoji_of(const Node& node) {
  const std::string name = node.get("emotion", "");
  if (name.empty()) return {};
  std::vector<std::string> names;
  for (const auto& [known, emoji] : kFaces) {
    if (known == name) return std::string(emoji);
    names.emplace_back(known);
  }
  const std::string near = config::nearest(name, names);
  node.fail("emotion",
            "there is no emotion `" + name + "`" + (near.empty() ? "" : "; did you mean `" + near + "`?"));
}

/// Reads the actions of one intent, which know its slots.
class ActionLoader {
 public:
  explicit ActionLoader(const std::set<std::string>& slots) : slots_(slots) {}

  /// Keys that are absent are taken from `base`.
  Action action(const Node& node, const Action& base) const {
    Action out = base;
    if (node.has("tool") && node.has("steps")) node.fail("steps", "expected either `tool` or `steps`");
    if (node.has("tool")) {
      out.steps = {step(node)};
    } else if (node.has("arguments")) {
      node.fail("arguments", "expected `tool` beside it");
    }
    if (node.has("steps")) {
      out.steps.clear();
      for (const Node& one : node.items("steps")) out.steps.push_back(step(one));
      if (out.steps.empty()) node.fail("steps", "expected at least one tool call");
    }
    if (node.has("reply")) out.reply = reply_texts(node, "reply", &slots_);
    read(node, "announce", out.announce);
    read(node, "reply_error", out.reply_error);
    read(node, "reply_missing", out.reply_missing);
    if (node.has("emotion")) out.emoji = emoji_of(node);
    out.end = node.get("end", out.end);
    return out;
  }

  void read(const Node& node, std::string_view key, std::optional<ReplyText>& out) const {
    if (!node.has(key)) return;
    auto texts = reply_texts(node, key, &slots_);
    if (texts.size() != 1) node.fail(key, "expected one text");
    out = std::move(texts.front());
  }

 private:
  Step step(const Node& node) const {
    Step out{.tool = node.require("tool")};
    const auto arguments = node.child("arguments");
    if (!arguments) return out;
    if (!arguments->is_map()) arguments->fail("expected the tool's arguments by name");
    for (const auto& [name, place] : arguments->entries()) {
      auto value = ArgumentValue::parse(place.json());
      if (!value) place.fail(value.error().message);
      std::set<std::string> names;
      value->collect_names(names);
      check_names(place, names, slots_);
      out.arguments.emplace_back(name, *std::move(value));
    }
    return out;
  }

 public:
  static void check_names(const Node& place, const std::set<std::string>& names,
                          const std::set<std::string>& slots) {
    for (const std::string& name : names) {
      if (slots.contains(name) || is_reserved(name)) continue;
      std::vector<std::string> known(slots.begin(), slots.end());
      known.insert(known.end(), kReserved.begin(), kReserved.end());
      const std::string near = config::nearest(name, known);
      place.fail("no sentence of this intent has a slot `" + name + "`" +
                 (near.empty() ? "" : "; did you mean `" + near + "`?"));
    }
  }

 private:
  const std::set<std::string>& slots_;
};

}  // namespace

bool is_reserved(std::string_view name) {
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

std::vector<ReplyText> reply_texts(const Node& node, std::string_view key,
                                   const std::set<std::string>* slots) {
  static const std::set<std::string> kNone;
  std::vector<ReplyText> out;
  for (const std::string& text : node.get_strings(key, {})) {
    auto parsed = ReplyText::parse(text);
    if (!parsed) node.fail(key, parsed.error().message);
    std::set<std::string> names;
    parsed->collect_names(names);
    ActionLoader::check_names(*node.child(key), names, slots != nullptr ? *slots : kNone);
    out.push_back(*std::move(parsed));
  }
  if (out.empty()) node.fail(key, "expected a text");
  return out;
}

void load_actions(const Node& node, const std::set<std::string>& slots, Intent& intent) {
  const ActionLoader loader(slots);
  const Action base = loader.action(node, {});
  if (!node.has("any_of")) {
    intent.actions = {base};
  } else {
    if (!base.steps.empty()) node.fail("any_of", "expected either `tool`, `steps` or `any_of`");
    for (const Node& one : node.items("any_of")) intent.actions.push_back(loader.action(one, base));
    if (intent.actions.empty()) node.fail("any_of", "expected at least one way to do it");
  }
  const bool does_something =
      std::all_of(intent.actions.begin(), intent.actions.end(),
                  [](const Action& action) { return !action.steps.empty() || !action.reply.empty(); });
  if (!does_something) node.fail("expected `tool`, `steps` or `reply`");

  intent.required = node.get_strings("requires", {});
  intent.help = node.get("help", "");
  if (const auto confirm = node.child("confirm")) {
    const std::string text = confirm->is_scalar() ? confirm->text() : "";
    intent.confirm = text != "false";
    if (text != "true" && text != "false") loader.read(node, "confirm", intent.question);
  }
}

}  // namespace parley::providers::intents
