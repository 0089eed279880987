#include "parley/dialogue/reply.hpp"

#include <algorithm>
#include <utility>

#include "dialogue/speakable.hpp"
#include "dialogue/speaker.hpp"
#include "dialogue/tool_round.hpp"
#include "parley/core/deadline.hpp"
#include "parley/core/log.hpp"
#include "parley/dialogue/sentence_splitter.hpp"

namespace parley::dialogue {
namespace {

using engine::LlmEvent;
using engine::Message;
using engine::ToolCall;

/// Of text a model may write for one reply, in bytes; there it ends.
constexpr std::size_t kMaxText = std::size_t{32} * 1024;
/// Of tool calls in one round; a model that goes on asking is not listened to any longer.
constexpr std::size_t kMaxListedCalls = 64;

/// A model's text on its way to sentences.
struct Words {
  Speakable speakable;
  SentenceSplitter sentences;

  void push(std::string_view delta) { sentences.push(speakable.push(delta)); }
  void finish() {
    sentences.push(speakable.finish());
    sentences.finish();
  }
};

class Reply {
 public:
  Reply(const asio::any_io_executor& executor, ReplyTools tools, std::shared_ptr<ReplyInProgress> progress)
      : tools_(std::move(tools)),
        progress_(std::move(progress)),
        record_(progress_->record.get()),
        result_(&progress_->result),
        speaker_(executor, tools_, progress_) {}

  Task<> answer(engine::ChatRequest request, std::unique_ptr<Draft> draft) {
    draft_ = std::move(draft);
    const auto problem = co_await think(std::move(request));
    if (!problem) {
      log::warn("the model failed", {{"why", problem.error().message}});
      fail(problem.error().message);
      say_whole(tools_.profile->session.apology);
    }
    co_await finish();
  }

  Task<> say(std::string text) {
    say_whole(text);
    co_await finish();
  }

 private:
  /// Rounds of the model until it asks for no more tools.
  Task<Result<>> think(engine::ChatRequest request) {
    const auto limit = tools_.profile->session.max_tool_rounds;
    for (int round = 0;; ++round) {
      // Out of rounds: it has to answer now.
      if (round == limit) request.tools = std::make_shared<engine::ToolSet>();
      ++record_->llm_rounds;
      Message message;
      message.role = Message::Role::assistant;
      auto listened = co_await listen_to_model(request, message);
      if (!listened) {
        message.calls.clear();
        if (!message.text.empty()) result_->messages.push_back(std::move(message));
        co_return listened.error();
      }
      if (round == limit && !message.calls.empty()) {
        co_return Error(Errc::limit, "the model asked for tools again and again");
      }
      result_->messages.push_back(message);
      if (message.calls.empty()) co_return Result<>();
      request.messages.push_back(message);
      co_await use_tools(message.calls, *request.tools, request.messages);
    }
  }

  /// One stream of the model: text goes to the speaker piece by piece, calls are collected in `message`.
  Task<Result<>> listen_to_model(const engine::ChatRequest& request, Message& message) {
    auto& scheduler = *tools_.scheduler;
    const auto& profile = *tools_.profile;
    const auto patience = config::patience_with(profile.roles.llm, profile.session.llm_timeout);
    const auto deadline = [&] { return scheduler.now() + patience; };
    Words words;
    auto asked = scheduler.now();
    const auto drafted_at = draft_ ? std::optional(draft_->asked_at()) : std::nullopt;
    Result<std::unique_ptr<engine::LlmStream>> stream(std::move(draft_));
    if (!drafted_at) {
      stream = co_await with_deadline(scheduler, deadline(), "the model did not answer in time",
                                      tools_.llm->chat(request));
    }
    if (!stream) {
      if (!speaker_.spoke()) record_->waited(asked, scheduler.now());
      co_return stream.error();
    }
    while (true) {
      auto event = co_await with_deadline(scheduler, deadline(), "the model stalled", (*stream)->next());
      if (!event) {
        if (!speaker_.spoke()) record_->waited(asked, scheduler.now());
        co_return event.error();
      }
      const auto ready = *event ? (*event)->ready_at : scheduler.now();
      if (drafted_at && !record_->draft_saved) record_->draft_saved = std::min(ready, asked) - *drafted_at;
      if (!speaker_.spoke()) record_->waited(asked, ready);
      if (!*event) break;
      co_await take(**event, message, words);
      if (text_left_ == 0) {
        log::warn("a reply is too long and ends here", {{"bytes", kMaxText}});
        message.calls.clear();
        break;
      }
      if (message.calls.size() == kMaxListedCalls) {
        log::warn("a model asks for too many tools at once", {{"calls", kMaxListedCalls}});
        break;
      }
      asked = scheduler.now();
    }
    words.finish();
    co_await speak_from(words);
    const auto& emotion = words.speakable.emotion();
    if (emotion && !std::exchange(shown_, true)) progress_->voice->show(*emotion);
    co_return Result<>();
  }

  /// Does not come back while too much waits for the voice: the model is not read further then.
  Task<> take(LlmEvent& event, Message& message, Words& words) {
    if (auto* delta = std::get_if<engine::TextDelta>(&event.what)) {
      if (!record_->llm_first_text) record_->llm_first_text = event.ready_at;
      const auto text = within_limit(delta->text);
      message.text += text;
      words.push(text);
      co_await speak_from(words);
    } else if (auto* call = std::get_if<ToolCall>(&event.what)) {
      message.calls.push_back(std::move(*call));
    } else if (std::holds_alternative<engine::EndConversation>(event.what)) {
      result_->end_conversation = true;
    }
  }

  /// What of a delta still may be said.
  std::string_view within_limit(std::string_view text) {
    if (text.size() < text_left_) {
      text_left_ -= text.size();
      return text;
    }
    auto end = std::exchange(text_left_, 0);
    while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return text.substr(0, end);
  }

  /// All calls run side by side; results are appended in the order of the calls.
  Task<> use_tools(const std::vector<ToolCall>& calls, const engine::ToolSet& tools,
                   std::vector<Message>& messages) {
    const auto began = tools_.scheduler->now();
    const auto timer = tools_.scheduler->make_timer();
    announce_later(*timer, began);
    auto outcomes = co_await run_calls(tools_, tools, calls);
    timer->cancel();
    for (std::size_t i = 0; i < calls.size(); ++i) {
      auto& [result, ended] = outcomes[i];
      if (!speaker_.spoke()) record_->waited(began, ended);
      if (i < kMaxToolCalls) {
        const auto& name = calls[i].name;
        record_->tools.push_back({name, tools_.where(name), ended - began, !result.failed, ended});
      }
      Message message;
      message.role = Message::Role::tool;
      message.call_id = calls[i].id;
      message.text = std::move(result.text);
      message.failed = result.failed;
      result_->messages.push_back(message);
      messages.push_back(std::move(message));
    }
  }

  /// Says that a tool takes long, once a turn, when nothing else is being said.
  void announce_later(Timer& timer, TimePoint began) {
    const auto& session = tools_.profile->session;
    if (announced_ || session.slow_tool_after == Millis::zero() || session.slow_tool_phrase.empty()) return;
    timer.arm(tools_.scheduler->now() + session.slow_tool_after, [this, &timer, began] {
      if (!speaker_.idle()) return announce_later(timer, began);
      announced_ = true;
      if (!speaker_.spoke()) record_->waited(began, tools_.scheduler->now());
      // The face is left to the answer.
      say_piece(speakable(tools_.profile->session.slow_tool_phrase).text);
    });
  }

  Task<> speak_from(Words& words) {
    while (auto piece = words.sentences.next()) {
      if (!speaker_.has_room()) co_await speaker_.room();
      speak(std::move(*piece), words.speakable.emotion().value_or(Emotion{}));
    }
  }

  /// A text that stands already.
  void say_whole(std::string_view text) {
    auto spoken = speakable(text);
    speak(std::move(spoken.text), spoken.emotion);
  }

  void speak(std::string text, const Emotion& emotion) {
    if (!std::exchange(shown_, true)) progress_->voice->show(emotion);
    say_piece(std::move(text));
  }

  void say_piece(std::string text) {
    if (text.empty()) return;
    if (!record_->reply_text.empty()) record_->reply_text += ' ';
    record_->reply_text += text;
    speaker_.say(std::move(text));
  }

  void fail(std::string why) {
    if (result_->failed) return;
    result_->failed = true;
    result_->why = std::move(why);
  }

  Task<> finish() {
    const auto spoken = co_await speaker_.finish();
    if (!spoken) fail(spoken.error().message);
  }

  ReplyTools tools_;
  std::shared_ptr<ReplyInProgress> progress_;
  TurnRecord* record_;
  ReplyResult* result_;
  Speaker speaker_;
  std::unique_ptr<Draft> draft_;
  bool shown_ = false;
  bool announced_ = false;
  std::size_t text_left_ = kMaxText;
};

}  // namespace

Task<> answer(ReplyTools tools, engine::ChatRequest request, std::shared_ptr<ReplyInProgress> reply,
              std::unique_ptr<Draft> draft) {
  Reply run(co_await asio::this_coro::executor, std::move(tools), std::move(reply));
  co_await run.answer(std::move(request), std::move(draft));
}

Task<> say(ReplyTools tools, std::string text, std::shared_ptr<ReplyInProgress> reply) {
  Reply run(co_await asio::this_coro::executor, std::move(tools), std::move(reply));
  co_await run.say(std::move(text));
}

}  // namespace parley::dialogue
