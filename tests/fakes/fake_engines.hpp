#pragma once

#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fakes/world.hpp"
#include "parley/core/async_event.hpp"
#include "parley/engine/asr.hpp"
#include "parley/engine/llm.hpp"
#include "parley/engine/tts.hpp"
#include "parley/engine/vad.hpp"

// Engines that do what a test says, on the manual clock.
namespace parley::test {

/// Voice is whatever is loud.
class FakeVad final : public engine::VadProvider {
 public:
  std::unique_ptr<engine::Vad> make() const override {
    class LoudIsVoice final : public engine::Vad {
     public:
      bool is_voice(audio::PcmView frame) override {
        double energy = 0;
        for (const auto sample : frame) energy += static_cast<double>(sample) * sample;
        return std::sqrt(energy / static_cast<double>(frame.size())) > 500;
      }
      void reset() override {}
    };
    return std::make_unique<LoudIsVoice>();
  }
};

/// Each open() takes the next of `answers`; the last one serves for ever.
class FakeAsr final : public engine::AsrProvider {
 public:
  struct Answer {
    std::string text = "hello";
    Millis delay{20};
    engine::AsrEvent::Kind kind = engine::AsrEvent::Kind::final;
    std::string open_error;
    std::string error;    ///< instead of a result
    bool silent = false;  ///< never answers
    /// When each comes, from open().
    std::deque<std::pair<Millis, std::string>> partials;
  };
  explicit FakeAsr(std::shared_ptr<Scheduler> scheduler) : scheduler_(std::move(scheduler)) {}

  std::deque<Answer> answers{{}};
  std::size_t samples_heard = 0;
  int opened = 0;
  int living = 0;

  Task<Result<std::unique_ptr<engine::AsrStream>>> open(engine::AsrRequest request) override {
    last_grammar = request.grammar;
    auto answer = answers.front();
    if (answers.size() > 1) answers.pop_front();
    if (!answer.open_error.empty()) co_return Error(Errc::unavailable, answer.open_error);
    ++opened;
    samples_heard = 0;
    co_return std::unique_ptr<engine::AsrStream>(
        std::make_unique<Stream>(*this, std::move(answer), co_await asio::this_coro::executor));
  }
  std::shared_ptr<const engine::SpeechGrammar> last_grammar;

 private:
  class Stream final : public engine::AsrStream {
   public:
    Stream(FakeAsr& owner, Answer answer, const asio::any_io_executor& executor)
        : owner_(owner), answer_(std::move(answer)), finished_event_(executor) {
      ++owner_.living;
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    Stream(Stream&&) = delete;
    Stream& operator=(Stream&&) = delete;
    ~Stream() override { --owner_.living; }
    void push(audio::PcmView samples) override { owner_.samples_heard += samples.size(); }
    void finish() override {
      finished_ = true;
      finished_event_.notify();
    }
    Task<Result<std::optional<engine::AsrEvent>>> next() override {
      if (!answer_.partials.empty()) {
        const auto [after, text] = answer_.partials.front();
        answer_.partials.pop_front();
        const auto when = opened_ + after;
        co_await sleep_until(*owner_.scheduler_, when);
        co_return std::optional(engine::AsrEvent{engine::AsrEvent::Kind::partial, text, when});
      }
      while (!finished_ || answer_.silent) co_await finished_event_.wait();
      const auto ready = owner_.scheduler_->now() + answer_.delay;
      co_await sleep_until(*owner_.scheduler_, ready);
      if (!answer_.error.empty()) co_return Error(Errc::unavailable, answer_.error);
      co_return std::optional(engine::AsrEvent{answer_.kind, answer_.text, ready});
    }

   private:
    FakeAsr& owner_;
    Answer answer_;
    TimePoint opened_ = owner_.scheduler_->now();
    AsyncEvent finished_event_;
    bool finished_ = false;
  };
  std::shared_ptr<Scheduler> scheduler_;
};

/// Answers by a function of the request; events come `delay` apart.
class FakeLlm final : public engine::LlmProvider {
 public:
  using What = decltype(engine::LlmEvent::what);
  explicit FakeLlm(std::shared_ptr<Scheduler> scheduler) : scheduler_(std::move(scheduler)) {}

  std::function<std::vector<What>(const engine::ChatRequest&)> reply = [](const engine::ChatRequest&) {
    return std::vector<What>{engine::TextDelta{"Hello there."}};
  };
  Millis delay{50};
  std::string error;
  bool silent = false;
  bool has_a_defect = false;
  std::string only;  ///< where not empty: the one text that it understands
  std::vector<engine::ChatRequest> requests;

  std::shared_ptr<const engine::SpeechGrammar> grammar(const engine::ToolSet& /*tools*/) override {
    if (has_a_defect) throw std::runtime_error("a defect");
    return nullptr;
  }

  bool understands(const engine::ChatRequest& request) const override {
    return only.empty() || request.messages.back().text == only;
  }

  Task<Result<std::unique_ptr<engine::LlmStream>>> chat(engine::ChatRequest request) override {
    requests.push_back(request);
    co_return std::unique_ptr<engine::LlmStream>(
        std::make_unique<Stream>(*this, reply(request), co_await asio::this_coro::executor));
  }

 private:
  class Stream final : public engine::LlmStream {
   public:
    Stream(FakeLlm& owner, std::vector<What> events, const asio::any_io_executor& executor)
        : owner_(owner), events_(events.begin(), events.end()), never_(executor) {}
    Task<Result<std::optional<engine::LlmEvent>>> next() override {
      while (owner_.silent) co_await never_.wait();
      const auto ready = owner_.scheduler_->now() + owner_.delay;
      co_await sleep_until(*owner_.scheduler_, ready);
      if (!owner_.error.empty()) co_return Error(Errc::unavailable, owner_.error);
      if (events_.empty()) co_return std::optional<engine::LlmEvent>();
      engine::LlmEvent event{ready, std::move(events_.front())};
      events_.pop_front();
      co_return std::optional(std::move(event));
    }

   private:
    FakeLlm& owner_;
    std::deque<What> events_;
    AsyncEvent never_;
  };
  std::shared_ptr<Scheduler> scheduler_;
};

/// `per_character` of tone for each text, all at once after `delay`.
class FakeTts final : public engine::TtsProvider {
 public:
  explicit FakeTts(std::shared_ptr<Scheduler> scheduler) : scheduler_(std::move(scheduler)) {}
  Millis delay{30};
  Millis per_character{50};
  int rate = 24000;
  std::string error;
  bool silent = false;
  std::vector<std::string> spoken;
  std::vector<std::string> voices;  ///< asked for, one each

  Task<Result<std::unique_ptr<engine::TtsStream>>> speak(engine::TtsRequest request) override {
    spoken.push_back(request.text);
    voices.push_back(request.voice);
    const auto length = per_character * static_cast<int>(request.text.size());
    co_return std::unique_ptr<engine::TtsStream>(
        std::make_unique<Stream>(*this, length, co_await asio::this_coro::executor));
  }

 private:
  class Stream final : public engine::TtsStream {
   public:
    Stream(FakeTts& owner, Millis length, const asio::any_io_executor& executor)
        : owner_(owner), left_(length), never_(executor) {}
    Task<Result<std::optional<engine::TtsAudio>>> next() override {
      while (owner_.silent) co_await never_.wait();
      const auto ready = owner_.scheduler_->now() + (first_ ? owner_.delay : Millis(0));
      first_ = false;
      co_await sleep_until(*owner_.scheduler_, ready);
      if (!owner_.error.empty()) co_return Error(Errc::unavailable, owner_.error);
      if (left_ <= Millis(0)) co_return std::optional<engine::TtsAudio>();
      const auto piece = std::min(left_, Millis(100));
      left_ -= piece;
      engine::TtsAudio audio;
      audio.pcm.rate = owner_.rate;
      audio.pcm.samples.resize(audio::samples_in(piece, owner_.rate));
      for (std::size_t i = 0; i < audio.pcm.samples.size(); ++i) {
        audio.pcm.samples[i] = static_cast<std::int16_t>(3000 * std::sin(static_cast<double>(i) * 0.1));
      }
      audio.ready_at = ready;
      co_return std::optional(std::move(audio));
    }

   private:
    FakeTts& owner_;
    Millis left_;
    AsyncEvent never_;
    bool first_ = true;
  };
  std::shared_ptr<Scheduler> scheduler_;
};

}  // namespace parley::test
