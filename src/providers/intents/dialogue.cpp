#include "providers/intents/dialogue.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "parley/core/log.hpp"
#include "providers/intents/arguments.hpp"

namespace parley::providers::intents {

using engine::Message;
using nlohmann::json;

namespace {

constexpr std::string_view kCallPrefix = "intent-";
constexpr std::size_t kReasonLimit = 160;  ///< bytes of a tool's own words about its failure

/// The number of a call of ours; 0 for the calls of others.
std::uint64_t call_number(const std::string& id) {
  std::uint64_t out = 0;
  if (!id.starts_with(kCallPrefix)) return 0;
  const char* end = id.data() + id.size();
  const auto [stop, error] = std::from_chars(id.data() + kCallPrefix.size(), end, out);
  return error == std::errc() && stop == end ? out : 0;
}

/// Unlike those of all calls that can be seen.
std::string next_call_id(const std::vector<Message>& messages) {
  std::uint64_t last = 0;
  for (const Message& message : messages) {
    for (const auto& call : message.calls) last = std::max(last, call_number(call.id));
  }
  return std::string(kCallPrefix) + std::to_string(last + 1);
}

struct StepResult {
  std::string tool;  ///< name for the model
  json arguments;
  json value;  ///< JSON where the text is, else the text
  bool failed = false;
};

StepResult read_result(const engine::ToolCall& call, const Message& message) {
  StepResult out{.tool = call.name,
                 .arguments = call.arguments,
                 .value = json::parse(message.text, nullptr, false),
                 .failed = message.failed};
  if (out.value.is_discarded()) out.value = message.text;
  // Device tools that reach further report failures inside of a successful result (PROTOCOL.md, section 8).
  if (out.value.is_object()) {
    const auto success = out.value.find("success");
    out.failed = out.failed || (success != out.value.end() && success->is_boolean() && !success->get<bool>());
  }
  return out;
}

bool same_words(const std::vector<Word>& a, const std::vector<Word>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Word& x, const Word& y) { return x.key == y.key; });
}

std::string reason(const json& result) {
  std::string out = speakable(result, kReasonLimit).value_or("");
  while (!out.empty() && (out.back() == '.' || out.back() == '!')) out.pop_back();
  return out;
}

}  // namespace

/// One request, taken apart.
struct Dialogue::Turn {
  const engine::ChatRequest& request;
  WallTime now;
  std::shared_ptr<const View> view;
  std::size_t user = 0;  ///< index of the last user message
  std::vector<StepResult> results;
  bool foreign = false;  ///< calls after it that are not ours
  bool answered = true;  ///< each of those calls has its result

  Turn(const engine::ChatRequest& asked, WallTime moment, Views& views)
      : request(asked), now(moment), view(views.get(*asked.tools)) {
    const auto& messages = asked.messages;
    user = messages.size();
    for (std::size_t i = messages.size(); i-- > 0 && user == messages.size();) {
      if (messages[i].role == Message::Role::user) user = i;
    }
    for (std::size_t i = user + 1; i < messages.size(); ++i) {
      for (const auto& call : messages[i].calls) take_result(call, i);
    }
  }

  bool empty() const { return user >= request.messages.size(); }
  const std::string& text() const { return request.messages[user].text; }

  /// The message before `index` that is not a system prompt; null where it is not of that role, or of an
  /// earlier conversation: a yes there is no yes to it.
  const Message* before(std::size_t& index, Message::Role role) const {
    while (index-- > 0) {
      const Message& message = request.messages[index];
      if (message.role != Message::Role::system)
        return message.role == role && !message.earlier ? &message : nullptr;
    }
    return nullptr;
  }

 private:
  void take_result(const engine::ToolCall& call, std::size_t from) {
    foreign = foreign || call_number(call.id) == 0;
    for (std::size_t i = from + 1; i < request.messages.size(); ++i) {
      const Message& message = request.messages[i];
      if (message.role != Message::Role::tool || message.call_id != call.id) continue;
      results.push_back(read_result(call, message));
      return;
    }
    answered = false;
  }
};

Dialogue::Dialogue(Catalog catalog, TimeZone zone)
    : catalog_(std::make_unique<const Catalog>(std::move(catalog))),
      zone_(std::move(zone)),
      matcher_(*catalog_),
      views_(*catalog_) {
}

Outcome Dialogue::respond(const engine::ChatRequest& request, WallTime now) const {
  const Turn turn(request, now, views_);
  if (turn.empty()) return not_understood(turn);
  if (turn.foreign) return take_over(turn);
  if (auto outcome = answer_to_question(turn)) return *std::move(outcome);
  const auto reading = matcher_.read(turn.text(), turn.view->in_force());
  if (!reading) return not_understood(turn);
  const std::vector<Word> words = matcher_.words(turn.text());
  const std::string said = join(words, 0, words.size());
  if (turn.view->confirms(reading->intent) && !reading->out_of_range) {
    return {.understood = true, .text = question(turn, *reading, said)};
  }
  return perform(turn, *reading, said);
}

std::optional<Outcome> Dialogue::answer_to_question(const Turn& turn) const {
  const Answer answer = matcher_.answer(turn.text());
  if (answer == Answer::neither) return std::nullopt;
  std::size_t index = turn.user;
  const Message* asked = turn.before(index, Message::Role::assistant);
  const Message* command = asked != nullptr ? turn.before(index, Message::Role::user) : nullptr;
  if (command == nullptr) return std::nullopt;
  const auto reading = matcher_.read(command->text, turn.view->in_force());
  if (!reading || !turn.view->confirms(reading->intent) || reading->out_of_range) return std::nullopt;
  const std::vector<Word> words = matcher_.words(command->text);
  const std::string said = join(words, 0, words.size());
  const std::string expected = question(turn, *reading, said);
  if (!same_words(matcher_.words(asked->text), matcher_.words(expected))) return std::nullopt;
  if (answer == Answer::yes) return perform(turn, *reading, said);
  return Outcome{.understood = true,
                 .text = catalog_->replies.declined.render(scope(turn, *reading, said)).value_or("")};
}

Outcome Dialogue::not_understood(const Turn& turn) const {
  Outcome out;
  const Reading nothing;
  const json names = scope(turn, nothing, "");
  if (!turn.empty()) {
    const std::vector<bool> all(catalog_->intents.size(), true);
    const auto reading = matcher_.read(turn.text(), all);
    if (reading && reading->guessed == 0) {
      out.text = catalog_->replies.unavailable.render(names).value_or("");
      return out;
    }
  }
  const auto& texts = catalog_->replies.not_understood;
  out.text = texts[turn.request.messages.size() / 2 % texts.size()].render(names).value_or("");
  return out;
}

Outcome Dialogue::take_over(const Turn& turn) const {
  const auto reading = matcher_.read(turn.text(), turn.view->in_force());
  if (!reading || reading->out_of_range || turn.view->confirms(reading->intent)) return {.lost = true};
  const std::vector<Word> words = matcher_.words(turn.text());
  const std::string said = join(words, 0, words.size());
  if (!would_have_called(turn, *reading, said)) return {.lost = true};
  Outcome out = perform(turn, *reading, said);
  out.understood = false;
  return out;
}

bool Dialogue::would_have_called(const Turn& turn, const Reading& reading, const std::string& said) const {
  const auto& steps = turn.view->action(reading.intent).steps;
  if (!turn.answered || turn.results.size() > steps.size()) return false;
  const json names = scope(turn, reading, said);
  for (std::size_t i = 0; i < turn.results.size(); ++i) {
    const engine::ToolSpec& tool = *find_tool(*turn.request.tools, steps[i].tool);
    if (tool.name != turn.results[i].tool) return false;
    const auto arguments = make_arguments(steps[i], tool, names);
    if (!arguments || *arguments != turn.results[i].arguments) return false;
  }
  return true;
}

Outcome Dialogue::perform(const Turn& turn, const Reading& reading, const std::string& said) const {
  const Action& action = turn.view->action(reading.intent);
  const Replies& replies = catalog_->replies;
  json names = scope(turn, reading, said);
  Outcome out{.understood = true};

  if (reading.out_of_range) {
    const auto& [value, from, to] = *reading.out_of_range;
    const bool between = value >= from && value <= to;  // only the step is wrong
    names["from"] = from;
    names["to"] = to;
    out.text = (between ? replies.invalid : replies.out_of_range).render(names).value_or("");
    return out;
  }
  for (std::size_t i = 0; i < turn.results.size(); ++i) {
    const StepResult& result = turn.results[i];
    const bool ours =
        i < action.steps.size() && find_tool(*turn.request.tools, action.steps[i].tool)->name == result.tool;
    if (!ours) return not_understood(turn);
    if (result.failed) {
      if (std::string why = reason(result.value); !why.empty()) names["error"] = std::move(why);
      std::optional<std::string> text = action.reply_error ? action.reply_error->render(names) : std::nullopt;
      out.text = text ? *std::move(text) : replies.failed.render(names).value_or("");
      return out;
    }
  }
  if (turn.results.size() < action.steps.size()) return next_call(turn, action, turn.results.size(), names);

  const ReplyText& reply = action.reply.empty()
                               ? replies.done
                               : action.reply[turn.request.messages.size() / 2 % action.reply.size()];
  if (auto text = reply.render(names)) {
    out.text = (action.emoji.empty() ? "" : action.emoji + " ") + *text;
    out.end = action.end;
    return out;
  }
  const auto missing = action.reply_missing ? action.reply_missing->render(names) : std::nullopt;
  out.text = missing ? *missing : replies.missing.render(names).value_or("");
  return out;
}

Outcome Dialogue::next_call(const Turn& turn, const Action& action, std::size_t step,
                            const json& scope) const {
  Outcome out{.understood = true};
  const engine::ToolSpec& tool = *find_tool(*turn.request.tools, action.steps[step].tool);
  auto arguments = make_arguments(action.steps[step], tool, scope);
  if (!arguments) {
    if (arguments.error().code == Errc::unsupported) {
      log::warn("a tool's input schema cannot be checked",
                {{"tool", tool.wire_name}, {"why", arguments.error().message}});
    }
    // What an earlier result did not hold is not the speaker's mistake.
    const ReplyText& otherwise = step > 0 ? catalog_->replies.missing : catalog_->replies.invalid;
    const auto text = action.reply_error ? action.reply_error->render(scope) : std::nullopt;
    out.text = text ? *text : otherwise.render(scope).value_or("");
    return out;
  }
  out.call = engine::ToolCall{
      .id = next_call_id(turn.request.messages), .name = tool.name, .arguments = *std::move(arguments)};
  // What needs it was read back before this was reached.
  out.call->agreed = !turn.foreign;
  if (step == 0 && action.announce) out.text = action.announce->render(scope).value_or("");
  return out;
}

std::string Dialogue::question(const Turn& turn, const Reading& reading, const std::string& said) const {
  const json names = scope(turn, reading, said);
  const Intent& intent = catalog_->intents[reading.intent];
  if (intent.question) {
    if (auto text = intent.question->render(names)) return *std::move(text);
  }
  return catalog_->replies.confirm.render(names).value_or("");
}

json Dialogue::scope(const Turn& turn, const Reading& reading, const std::string& said) const {
  json out = describe(zone_.local(turn.now));
  out["said"] = said;
  if (!turn.view->abilities().empty()) out["abilities"] = turn.view->abilities();
  json& results = out["results"] = json::array();
  for (const StepResult& result : turn.results) results.push_back(result.value);
  for (const auto& [name, value] : reading.slots.items()) out[name] = value;
  return out;
}

}  // namespace parley::providers::intents
