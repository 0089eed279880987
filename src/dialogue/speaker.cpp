#include "dialogue/speaker.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <utility>

#include "parley/core/deadline.hpp"
#include "parley/core/log.hpp"

namespace parley::dialogue {

struct Speaker::State {
  State(const asio::any_io_executor& executor, ReplyTools with, std::shared_ptr<ReplyInProgress> of)
      : tools(std::move(with)), reply(std::move(of)), changed(executor) {}
  ReplyTools tools;
  std::shared_ptr<ReplyInProgress> reply;
  asio::cancellation_signal stop;
  AsyncEvent changed;
  std::deque<std::string> sentences;
  bool spoke = false;
  bool speaking = false;
  bool finishing = false;
  bool done = false;
  Result<> outcome;
};

Speaker::Speaker(const asio::any_io_executor& executor, ReplyTools tools,
                 std::shared_ptr<ReplyInProgress> reply)
    : state_(std::make_shared<State>(executor, std::move(tools), std::move(reply))) {
  asio::co_spawn(
      executor, run(state_),
      asio::bind_cancellation_slot(state_->stop.slot(), [state = state_](const std::exception_ptr& thrown) {
        state->done = true;
        state->sentences.clear();
        if (thrown && state->outcome) state->outcome = Error(Errc::internal, "the voice was interrupted");
        state->changed.notify();
      }));
}

Speaker::~Speaker() {
  if (!state_->done) state_->stop.emit(asio::cancellation_type::terminal);
}

void Speaker::say(std::string sentence) {
  state_->spoke = true;
  if (state_->done) return;
  state_->sentences.push_back(std::move(sentence));
  state_->changed.notify();
}

bool Speaker::spoke() const {
  return state_->spoke;
}

bool Speaker::idle() const {
  return state_->sentences.empty() && !state_->speaking;
}

bool Speaker::has_room() const {
  return state_->done || state_->sentences.size() < kMaxWaiting;
}

Task<> Speaker::room() {
  const auto state = state_;
  while (!state->done && state->sentences.size() >= kMaxWaiting) co_await state->changed.wait();
}

Task<Result<>> Speaker::finish() {
  const auto state = state_;
  state->finishing = true;
  state->changed.notify();
  while (!state->done) co_await state->changed.wait();
  co_return state->outcome;
}

Task<> Speaker::run(std::shared_ptr<State> state) {
  while (true) {
    while (state->sentences.empty() && !state->finishing) co_await state->changed.wait();
    if (state->sentences.empty()) co_return;
    auto sentence = std::move(state->sentences.front());
    state->sentences.pop_front();
    state->speaking = true;
    state->changed.notify();
    auto spoken = co_await speak(*state, std::move(sentence));
    state->speaking = false;
    if (spoken) continue;
    log::warn("the voice failed", {{"why", spoken.error().message}});
    state->outcome = spoken.error();
    // The text was shown; something has to be heard.
    if (const auto& clip = state->tools.apology_clip; clip && !clip->samples.empty())
      co_await state->reply->voice->play(*clip);
    co_return;
  }
}

Task<Result<>> Speaker::speak(State& state, std::string sentence) {
  const auto& profile = *state.tools.profile;
  auto& scheduler = *state.tools.scheduler;
  const auto asked = scheduler.now();
  const auto patience = config::patience_with(profile.roles.tts, profile.session.tts_timeout);
  const auto deadline = [&] { return scheduler.now() + patience; };
  auto& record = *state.reply->record;
  const auto failed = [&](const Error& error) {
    if (!record.tts_first_audio) record.waited(asked, scheduler.now());
    return error;
  };
  engine::TtsRequest request;
  request.text = sentence;
  request.voice = state.tools.voice != nullptr ? *state.tools.voice : profile.voice;
  request.language = profile.language;
  auto stream = co_await with_deadline(scheduler, deadline(), "the voice did not answer in time",
                                       state.tools.tts->speak(std::move(request)));
  if (!stream) co_return failed(stream.error());
  bool begun = false;
  while (true) {
    auto audio = co_await with_deadline(scheduler, deadline(), "the voice stalled", (*stream)->next());
    if (!audio) co_return failed(audio.error());
    if (!begun) {
      begun = true;
      if (!record.tts_first_audio) {
        const auto ready = *audio ? (*audio)->ready_at : scheduler.now();
        record.waited(asked, ready);
        if (*audio) record.tts_first_audio = ready;
      }
      state.reply->voice->begin_sentence(std::move(sentence));
    }
    if (!*audio) co_return Result<>();
    co_await state.reply->voice->play((*audio)->pcm);
  }
}

}  // namespace parley::dialogue
