#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parley/audio/pcm.hpp"
#include "parley/config/settings.hpp"
#include "parley/core/clock.hpp"
#include "parley/dialogue/draft.hpp"
#include "parley/dialogue/emotion.hpp"
#include "parley/dialogue/turn_record.hpp"
#include "parley/engine/llm.hpp"
#include "parley/engine/tts.hpp"
#include "parley/mcp/tool.hpp"

namespace parley::dialogue {

/// Where a reply is spoken: the session's playout.
class Voice {
 public:
  Voice() = default;
  Voice(const Voice&) = delete;
  Voice& operator=(const Voice&) = delete;
  Voice(Voice&&) = delete;
  Voice& operator=(Voice&&) = delete;
  virtual ~Voice() = default;

  /// The face of the reply; once, before its first sentence (that a tool takes long may be said before).
  virtual void show(const Emotion& emotion) = 0;
  /// What is played from now on is this sentence.
  virtual void begin_sentence(std::string text) = 0;
  /// Any length, any rate. Suspends while more than the configured amount waits.
  virtual Task<> play(const audio::Pcm& pcm) = 0;
};

/// What a reply works with; everything outlives it.
struct ReplyTools {
  std::shared_ptr<Scheduler> scheduler;
  std::shared_ptr<engine::LlmProvider> llm;
  std::shared_ptr<engine::TtsProvider> tts;
  /// Starts a tool call at once.
  std::function<std::unique_ptr<mcp::CallStream>(const engine::ToolCall&)> call;
  std::function<std::string(std::string_view name)> where;
  /// Played where the voice itself fails: the apology, synthesised beforehand; may be empty.
  std::shared_ptr<const audio::Pcm> apology_clip;
  const config::Profile* profile = nullptr;
  /// Instead of the profile's, where not null; read for each sentence.
  const std::string* voice = nullptr;
};

struct ReplyResult {
  /// What the history keeps: assistant messages with calls, tool results, the final text.
  std::vector<engine::Message> messages;
  bool end_conversation = false;
  /// The user got an apology instead of (the rest of) an answer.
  bool failed = false;
  std::string why;
};

/// What one reply fills as it goes on; whoever cancels it reads what there is.
struct ReplyInProgress {
  std::shared_ptr<Voice> voice;
  std::shared_ptr<TurnRecord> record = std::make_shared<TurnRecord>();
  ReplyResult result;
};

/// Answers `request`: the model, its tools, the voice, streaming. Never throws but for cancellation; failures
/// end in a spoken apology, those of tools in a result that the model reads. Returns when all audio was
/// handed to the voice.
///
/// A model that runs away is bounded: a reply ends after 32 KiB of text; while 16 sentences wait for the
/// voice the model is not read further; of the calls of a round 16 run, and after 64 it is not listened to
/// any longer.
/// `draft`: the stream of that very request where it was made ahead; else null.
Task<> answer(ReplyTools tools, engine::ChatRequest request, std::shared_ptr<ReplyInProgress> reply,
              std::unique_ptr<Draft> draft = nullptr);

/// Speaks a fixed text.
Task<> say(ReplyTools tools, std::string text, std::shared_ptr<ReplyInProgress> reply);

}  // namespace parley::dialogue
