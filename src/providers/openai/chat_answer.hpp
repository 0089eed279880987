#pragma once

#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/engine/llm.hpp"
#include "providers/openai/spoken_text.hpp"

namespace parley::providers::openai {

/// Turns the answer of a chat completion, whole or in chunks, into events. Gathers the fragments of tool
/// calls as they are found in the field: by index, by id, whole, without either, all with index 0, with
/// arguments as an object. Thoughts are left out.
class ChatAnswer {
 public:
  using Event = decltype(engine::LlmEvent::what);

  /// `call_prefix` begins the ids of calls that came without one of their own.
  explicit ChatAnswer(std::string call_prefix) : call_prefix_(std::move(call_prefix)) {}

  /// One chunk, or the whole answer. Errors: invalid_input (no JSON, or another kind of it), limit, and what
  /// an `error` object says.
  Result<> take(std::string_view data);
  /// Nothing more comes: calls and text that were held back become events. Nothing came at all: unavailable.
  Result<> finish();
  std::optional<Event> next();
  /// Something of an answer came, and no reason why it ended.
  bool unfinished() const { return heard_ && !concluded_; }

 private:
  struct Call {
    std::optional<std::int64_t> index;
    std::string id;
    std::string name;
    std::string arguments;
  };

  Result<> take_choice(const nlohmann::json& choice);
  Result<> take_message(const nlohmann::json& message);
  Result<> take_text(const nlohmann::json& content);
  Result<> take_call(const nlohmann::json& fragment);
  Call* call_of(const nlohmann::json& fragment, const std::string& id, const std::string& name);
  void take_usage(const nlohmann::json& usage);
  void say(std::string text);
  void complete();
  void emit_calls();
  std::string raw(std::string text) const;

  std::string call_prefix_;
  ThoughtFilter thoughts_;
  CharacterJoiner characters_;
  std::vector<Call> calls_;
  std::size_t emitted_ = 0;
  std::size_t text_bytes_ = 0;
  bool heard_ = false;      ///< anything of a choice
  bool concluded_ = false;  ///< its `finish_reason`
  bool private_bytes_ = false;
  std::deque<Event> ready_;
};

}  // namespace parley::providers::openai
