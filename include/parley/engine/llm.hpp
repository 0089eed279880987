#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/engine/asr.hpp"
#include "parley/engine/stream.hpp"
#include "parley/engine/tool.hpp"

namespace parley::engine {

struct Message {
  enum class Role { system, user, assistant, tool };
  Role role = Role::user;
  std::string text;
  std::vector<ToolCall> calls;  ///< assistant: what it asked for
  std::string call_id;          ///< tool: the call that this answers
  bool failed = false;          ///< tool: the call failed, `text` says why
  bool earlier = false;         ///< of a conversation before this one: known, but no question to answer now
};

struct ChatRequest {
  /// Oldest first; the last one is the user's, or the results of the tools called last.
  std::vector<Message> messages;
  /// Never null; may be empty.
  std::shared_ptr<const ToolSet> tools = std::make_shared<ToolSet>();
  std::string language = "en";
  std::string device_id;
};

struct TextDelta {
  std::string text;
};
struct EndConversation {};  ///< The conversation is over: close after this reply has been spoken.
struct Usage {
  int prompt_tokens = 0;
  int completion_tokens = 0;
};

struct LlmEvent {
  /// When the engine had it, by the steady clock.
  TimePoint ready_at{};
  std::variant<TextDelta, ToolCall, EndConversation, Usage> what;
};

using LlmStream = EventStream<LlmEvent>;

/// Immutable and shared by all threads.
class LlmProvider {
 public:
  virtual ~LlmProvider() = default;
  virtual Task<Result<std::unique_ptr<LlmStream>>> chat(ChatRequest request) = 0;
  /// Whether it has a real answer to this: where it has none, the next engine of the role is asked instead.
  virtual bool understands(const ChatRequest& /*request*/) const { return true; }
  /// Opens the connections of this I/O thread that a request would have to wait for. Called when a device
  /// says hello and when it begins to listen.
  virtual void connect_ahead(const asio::any_io_executor& /*executor*/) {}
  /// What may be said to it, where that is known (intents); null otherwise. Equal tool sets get the same
  /// object.
  virtual std::shared_ptr<const SpeechGrammar> grammar(const ToolSet& /*tools*/) { return nullptr; }
  /// The same with every tool at hand that it could use: for validation.
  virtual std::shared_ptr<const SpeechGrammar> whole_grammar() { return nullptr; }
};

}  // namespace parley::engine
