#include "providers/openai/chat_answer.hpp"

#include <algorithm>
#include <utility>

#include "parley/engine/http_endpoint.hpp"

namespace parley::providers::openai {
namespace {

using nlohmann::json;

/// Far more than anybody wants to hear.
constexpr std::size_t kMaxText = std::size_t{128} * 1024;
constexpr std::size_t kMaxArguments = std::size_t{256} * 1024;
constexpr std::size_t kMaxCalls = 64;

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string text_of(const json& object, const char* key) {
  const auto* const found = member(object, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

Error malformed() {
  return {Errc::invalid_input, "the model's answer is not what a chat completion looks like", true};
}

/// An `error` object: either a status, or words for one.
Error reported(const json& answer) {
  const auto& error = answer.at("error");
  const auto said = engine::message_of(answer);
  const auto text = "the model service reports an error" + (said.empty() ? "" : ": " + said);
  const auto* const code = member(error, "code");
  const auto kind = text_of(error, "type") + " " + text_of(error, "code");
  const auto has = [&](std::string_view word) { return kind.find(word) != std::string::npos; };
  const auto status = code != nullptr && code->is_number_integer() ? code->get<std::int64_t>() : 0;
  if (status == 429 || has("rate_limit") || has("429")) return {Errc::overloaded, text, true};
  if (status == 401 || status == 403 || has("authentication")) return {Errc::unauthorized, text};
  if ((status >= 400 && status < 500) || has("invalid_request")) return {Errc::invalid_input, text};
  return {Errc::unavailable, text, true};
}

/// A complete JSON object, also where it is wrapped in a string once more; nothing at all is an empty one.
std::optional<json> parse_arguments(const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return json::object();
  auto parsed = json::parse(text, nullptr, false);
  if (parsed.is_string()) parsed = json::parse(parsed.get<std::string>(), nullptr, false);
  if (parsed.is_null()) return json::object();
  if (parsed.is_object()) return parsed;
  return std::nullopt;
}

}  // namespace

Result<> ChatAnswer::take(std::string_view data) {
  auto answer = json::parse(data, nullptr, false);
  private_bytes_ = false;
  if (answer.is_discarded()) {
    private_bytes_ = true;
    answer = json::parse(to_private(data), nullptr, false);
  }
  if (!answer.is_object()) return malformed();
  if (member(answer, "error") != nullptr) return reported(answer);
  if (const auto* usage = member(answer, "usage")) take_usage(*usage);
  const auto* const choices = member(answer, "choices");
  if (choices == nullptr) return {};
  if (!choices->is_array()) return malformed();
  for (const auto& choice : *choices) {
    const auto* const index = member(choice, "index");
    if (index != nullptr && *index != 0) continue;
    if (auto taken = take_choice(choice); !taken) return taken;
  }
  return {};
}

Result<> ChatAnswer::take_choice(const json& choice) {
  if (!choice.is_object()) return malformed();
  for (const auto* key : {"delta", "message"}) {
    const auto* const message = member(choice, key);
    if (message == nullptr) continue;
    if (!message->is_object()) return malformed();
    if (auto taken = take_message(*message); !taken) return taken;
  }
  if (const auto reason = text_of(choice, "finish_reason"); !reason.empty()) {
    heard_ = true;
    concluded_ = true;
    if (reason == "error") {
      return Error(Errc::unavailable, "the model service broke off its answer", true);
    }
    if (reason == "content_filter" && text_bytes_ == 0 && calls_.empty()) {
      return Error(Errc::unsupported, "the model service withheld its answer");
    }
    complete();
  }
  return {};
}

Result<> ChatAnswer::take_message(const json& message) {
  heard_ = true;
  for (const auto* key : {"content", "refusal"}) {
    const auto* const content = member(message, key);
    if (content == nullptr) continue;
    if (auto taken = take_text(*content); !taken) return taken;
  }
  const auto* const calls = member(message, "tool_calls");
  if (calls == nullptr) return {};
  if (!calls->is_array()) return malformed();
  for (const auto& fragment : *calls) {
    if (auto taken = take_call(fragment); !taken) return taken;
  }
  return {};
}

Result<> ChatAnswer::take_text(const json& content) {
  if (content.is_array()) {
    for (const auto& part : content) {
      if (text_of(part, "type") != "text") continue;
      const auto* const text = member(part, "text");
      if (text == nullptr || !text->is_string()) continue;
      if (auto taken = take_text(*text); !taken) return taken;
    }
    return {};
  }
  if (!content.is_string()) return malformed();
  const auto text = content.get<std::string>();
  text_bytes_ += text.size();
  if (text_bytes_ > kMaxText) return Error(Errc::limit, "the model does not stop talking");
  say(thoughts_.push(characters_.push(raw(text))));
  return {};
}

Result<> ChatAnswer::take_call(const json& fragment) {
  if (!fragment.is_object()) return malformed();
  const auto id = text_of(fragment, "id");
  const auto* const function = member(fragment, "function");
  const json none = json::object();
  const auto& what = function != nullptr && function->is_object() ? *function : none;
  const auto name = text_of(what, "name");
  auto* const call = call_of(fragment, id, name);
  if (call == nullptr) return Error(Errc::limit, "the model asks for too many tools at once");
  // Ids and names are repeated by some servers, and never come in parts.
  if (call->id.empty()) call->id = id;
  if (call->name.empty()) call->name = name;
  const auto* const arguments = member(what, "arguments");
  if (arguments == nullptr) return {};
  call->arguments += raw(arguments->is_string() ? arguments->get<std::string>() : arguments->dump());
  if (call->arguments.size() > kMaxArguments)
    return Error(Errc::limit, "the model writes too long arguments for a tool");
  return {};
}

ChatAnswer::Call* ChatAnswer::call_of(const json& fragment, const std::string& id, const std::string& name) {
  const auto* const given = member(fragment, "index");
  const auto index = given != nullptr && given->is_number_integer()
                         ? std::optional(given->get<std::int64_t>())
                         : std::optional<std::int64_t>();
  const auto begun = calls_.begin() + static_cast<std::ptrdiff_t>(emitted_);
  auto found = calls_.end();
  if (index) {
    // The last of that index: where all have index 0, it is the one being written.
    for (auto call = begun; call != calls_.end(); ++call) {
      if (call->index == index) found = call;
    }
  } else if (!id.empty()) {
    found = std::find_if(begun, calls_.end(), [&](const Call& call) { return call.id == id; });
  } else if (begun != calls_.end()) {
    found = std::prev(calls_.end());
  }
  if (found != calls_.end() && !name.empty() && !found->name.empty()) {
    // A name again: another call, if its id is another one, or if there is none and the first is complete.
    const bool other = id.empty() || found->id.empty()
                           ? !found->arguments.empty() && parse_arguments(found->arguments).has_value()
                           : id != found->id;
    if (other) found = calls_.end();
  }
  if (found != calls_.end()) return &*found;
  if (calls_.size() == kMaxCalls) return nullptr;
  calls_.push_back({index, {}, {}, {}});
  return &calls_.back();
}

void ChatAnswer::take_usage(const json& usage) {
  const auto count = [&](const char* key) {
    const auto* const found = member(usage, key);
    constexpr std::int64_t kMost = 1'000'000'000;
    return found != nullptr && found->is_number_integer()
               ? static_cast<int>(std::clamp<std::int64_t>(found->get<std::int64_t>(), 0, kMost))
               : 0;
  };
  const engine::Usage tokens{count("prompt_tokens"), count("completion_tokens")};
  // Some servers send zeros, or the count so far, with every chunk: whoever reads takes the last.
  if (tokens.prompt_tokens > 0 || tokens.completion_tokens > 0) ready_.emplace_back(tokens);
}

void ChatAnswer::say(std::string text) {
  if (!text.empty()) ready_.emplace_back(engine::TextDelta{std::move(text)});
}

void ChatAnswer::complete() {
  say(thoughts_.push(characters_.finish()) + thoughts_.finish());
  emit_calls();
}

void ChatAnswer::emit_calls() {
  for (; emitted_ < calls_.size(); ++emitted_) {
    auto& call = calls_[emitted_];
    engine::ToolCall made;
    const auto same_id = [&](const Call& other) { return &other < &call && other.id == call.id; };
    made.id = call.id.empty() || std::ranges::any_of(calls_, same_id)
                  ? call_prefix_ + std::to_string(emitted_)
                  : call.id;
    made.name = call.name.empty() ? "unnamed" : call.name;
    if (auto arguments = parse_arguments(call.arguments)) {
      made.arguments = *std::move(arguments);
    } else {
      made.malformed = call.arguments;
    }
    ready_.emplace_back(std::move(made));
  }
}

std::string ChatAnswer::raw(std::string text) const {
  return private_bytes_ ? from_private(text) : std::move(text);
}

Result<> ChatAnswer::finish() {
  complete();
  if (!heard_) return Error(Errc::unavailable, "the model service sent no answer", true);
  return {};
}

std::optional<ChatAnswer::Event> ChatAnswer::next() {
  if (ready_.empty()) return std::nullopt;
  std::optional event(std::move(ready_.front()));
  ready_.pop_front();
  return event;
}

}  // namespace parley::providers::openai
