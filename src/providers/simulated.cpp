#include "parley/providers/simulated.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <cmath>
#include <deque>
#include <numbers>
#include <utility>

#include "parley/core/async_event.hpp"

namespace parley::providers {
namespace {

using engine::AsrEvent;
using engine::LlmEvent;
using engine::Message;
using engine::TtsAudio;
using namespace std::chrono_literals;

constexpr Millis kLongest{3'600'000};
constexpr std::size_t kDelta = 4;
constexpr Millis kPiece{100};

Error told_to_fail() {
  return {Errc::unavailable, "told to fail by the configuration", true};
}

/// Suspends until `due`; nothing to suspend for when that has passed.
Task<> wait_until(TimePoint due) {
  if (due <= Clock::now()) co_return;
  asio::steady_timer timer(co_await asio::this_coro::executor, due);
  co_await timer.async_wait(asio::use_awaitable);
}

class SimulatedAsr final : public engine::AsrProvider {
 public:
  explicit SimulatedAsr(SimulatedAsrSettings settings) : settings_(std::move(settings)) {}

  Task<Result<std::unique_ptr<engine::AsrStream>>> open(engine::AsrRequest /*request*/) override {
    const auto index = next_.fetch_add(1, std::memory_order_relaxed) % settings_.texts.size();
    co_return std::unique_ptr<engine::AsrStream>(
        std::make_unique<Stream>(settings_, settings_.texts[index], co_await asio::this_coro::executor));
  }

 private:
  class Stream final : public engine::AsrStream {
   public:
    Stream(const SimulatedAsrSettings& settings, std::string text, const asio::any_io_executor& executor)
        : settings_(settings), text_(std::move(text)), changed_(executor) {}
    void push(audio::PcmView samples) override {
      heard_ += samples.size();
      changed_.notify();
    }
    void finish() override {
      if (due_) return;
      due_ = Clock::now() + settings_.delay;
      changed_.notify();
    }
    Task<Result<std::optional<AsrEvent>>> next() override {
      if (delivered_) co_return std::optional<AsrEvent>();
      while (!due_) {
        if (auto words = next_words(); !words.empty())
          co_return std::optional(AsrEvent{AsrEvent::Kind::partial, std::move(words), Clock::now()});
        co_await changed_.wait();
      }
      delivered_ = true;
      co_await wait_until(*due_);
      if (settings_.fail) co_return told_to_fail();
      const auto kind = settings_.reject ? AsrEvent::Kind::rejected : AsrEvent::Kind::final;
      co_return std::optional(AsrEvent{kind, text_, *due_});
    }

   private:
    /// What was heard by now, where that is a word more than was told; empty: it is not.
    std::string next_words() {
      if (settings_.partials == 0ms || told_ == text_.size()) return {};
      const auto word = audio::samples_in(settings_.partials, audio::kListeningRate);
      if (heard_ < word) return {};
      heard_ -= word;
      told_ = std::min(text_.find(' ', told_ + 1), text_.size());
      return text_.substr(0, told_);
    }

    SimulatedAsrSettings settings_;
    std::string text_;
    std::size_t heard_ = 0;  ///< samples that no word was told for
    std::size_t told_ = 0;   ///< characters of the text
    AsyncEvent changed_;
    std::optional<TimePoint> due_;
    bool delivered_ = false;
  };

  SimulatedAsrSettings settings_;
  std::atomic<std::size_t> next_{0};
};

class LlmStream final : public engine::LlmStream {
 public:
  LlmStream(TimePoint asked, const SimulatedLlmSettings& settings,
            std::deque<decltype(LlmEvent::what)> events)
      : due_(asked + settings.delay),
        step_(std::chrono::duration_cast<Duration>(
            std::chrono::duration<double>(1 / settings.tokens_per_second))),
        fail_(settings.fail),
        events_(std::move(events)) {}

  Task<Result<std::optional<LlmEvent>>> next() override {
    co_await wait_until(due_);
    if (fail_) co_return told_to_fail();
    if (events_.empty()) co_return std::optional<LlmEvent>();
    LlmEvent event{due_, std::move(events_.front())};
    events_.pop_front();
    if (!events_.empty()) due_ += step_;
    co_return std::optional(std::move(event));
  }

 private:
  TimePoint due_;
  Duration step_;
  bool fail_;
  std::deque<decltype(LlmEvent::what)> events_;
};

class SimulatedLlm final : public engine::LlmProvider {
 public:
  explicit SimulatedLlm(SimulatedLlmSettings settings) : settings_(std::move(settings)) {}

  Task<Result<std::unique_ptr<engine::LlmStream>>> chat(engine::ChatRequest request) override {
    const auto asked = Clock::now();
    const auto users = std::ranges::count(request.messages, Message::Role::user, &Message::role);
    const auto& reply = settings_.replies[static_cast<std::size_t>(std::max<std::ptrdiff_t>(users - 1, 0)) %
                                          settings_.replies.size()];
    std::deque<decltype(LlmEvent::what)> events;
    const bool answered = !request.messages.empty() && request.messages.back().role == Message::Role::tool;
    if (!reply.calls.empty() && !answered) {
      for (auto call : reply.calls) {
        call.id = "call_" + std::to_string(request.messages.size()) + "_" + std::to_string(events.size());
        if (const auto* tool = request.tools->find_wire(call.name)) call.name = tool->name;
        events.emplace_back(std::move(call));
      }
    } else {
      for (std::size_t at = 0; at < reply.text.size(); at += kDelta) {
        events.emplace_back(engine::TextDelta{reply.text.substr(at, kDelta)});
      }
      if (reply.end_conversation) events.emplace_back(engine::EndConversation{});
    }
    co_return std::unique_ptr<engine::LlmStream>(
        std::make_unique<LlmStream>(asked, settings_, std::move(events)));
  }

 private:
  SimulatedLlmSettings settings_;
};

class TtsStream final : public engine::TtsStream {
 public:
  TtsStream(const SimulatedTtsSettings& settings, std::size_t characters)
      : settings_(settings),
        due_(Clock::now() + settings.delay),
        left_(audio::samples_in(settings.per_character * static_cast<int>(characters), settings.rate)) {}

  Task<Result<std::optional<TtsAudio>>> next() override {
    co_await wait_until(due_);
    if (settings_.fail) co_return told_to_fail();
    if (left_ == 0) co_return std::optional<TtsAudio>();
    TtsAudio audio;
    audio.ready_at = due_;
    audio.pcm.rate = settings_.rate;
    audio.pcm.samples.resize(std::min(left_, audio::samples_in(kPiece, settings_.rate)));
    left_ -= audio.pcm.samples.size();
    for (auto& sample : audio.pcm.samples) sample = tone()[position_++ % tone().size()];
    if (left_ > 0) {
      due_ += std::chrono::duration_cast<Duration>(
          audio::duration_of(audio.pcm.samples.size(), settings_.rate) * settings_.realtime_factor);
    }
    co_return std::optional(std::move(audio));
  }

 private:
  /// A quiet sine of 64 samples a period: 375 Hz at 24 kHz.
  static const std::array<std::int16_t, 64>& tone() {
    static const auto samples = [] {
      std::array<std::int16_t, 64> out{};
      for (std::size_t i = 0; i < out.size(); ++i) {
        const auto phase = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(out.size());
        out[i] = static_cast<std::int16_t>(3000 * std::sin(phase));
      }
      return out;
    }();
    return samples;
  }

  SimulatedTtsSettings settings_;
  TimePoint due_;
  std::size_t left_;
  std::size_t position_ = 0;
};

class SimulatedTts final : public engine::TtsProvider {
 public:
  explicit SimulatedTts(SimulatedTtsSettings settings) : settings_(settings) {}
  Task<Result<std::unique_ptr<engine::TtsStream>>> speak(engine::TtsRequest request) override {
    co_return std::unique_ptr<engine::TtsStream>(std::make_unique<TtsStream>(settings_, request.text.size()));
  }

 private:
  SimulatedTtsSettings settings_;
};

SimulatedReply read_reply(const config::Node& node) {
  SimulatedReply reply;
  reply.text = node.get("text", std::string_view());
  reply.end_conversation = node.get("end_conversation", false);
  for (const auto& item : node.items("tool_calls")) {
    engine::ToolCall call;
    call.name = item.require("name");
    if (const auto arguments = item.child("arguments")) call.arguments = arguments->json();
    if (!call.arguments.is_object()) item.fail("arguments", "expected a map");
    reply.calls.push_back(std::move(call));
  }
  return reply;
}

}  // namespace

std::shared_ptr<engine::AsrProvider> make_simulated_asr(SimulatedAsrSettings settings) {
  return std::make_shared<SimulatedAsr>(std::move(settings));
}
std::shared_ptr<engine::LlmProvider> make_simulated_llm(SimulatedLlmSettings settings) {
  return std::make_shared<SimulatedLlm>(std::move(settings));
}
std::shared_ptr<engine::TtsProvider> make_simulated_tts(SimulatedTtsSettings settings) {
  return std::make_shared<SimulatedTts>(settings);
}

std::shared_ptr<engine::AsrProvider> simulated_asr_from_config(const config::Node& node,
                                                               const engine::EngineContext& /*context*/) {
  SimulatedAsrSettings settings;
  settings.texts = node.get_strings("texts", node.get_strings("text", settings.texts));
  if (settings.texts.empty()) node.fail("texts", "expected at least one text");
  settings.delay = node.get("delay", settings.delay, 0ms, kLongest);
  settings.partials = node.get("partials", settings.partials, 0ms, kLongest);
  settings.reject = node.get("reject", settings.reject);
  settings.fail = node.get("fail", settings.fail);
  return make_simulated_asr(std::move(settings));
}

std::shared_ptr<engine::LlmProvider> simulated_llm_from_config(const config::Node& node,
                                                               const engine::EngineContext& /*context*/) {
  SimulatedLlmSettings settings;
  if (node.has("replies")) {
    settings.replies.clear();
    for (const auto& item : node.items("replies")) settings.replies.push_back(read_reply(item));
    if (settings.replies.empty()) node.fail("replies", "expected at least one reply");
  }
  settings.delay = node.get("delay", settings.delay, 0ms, kLongest);
  settings.tokens_per_second = node.get("tokens_per_second", settings.tokens_per_second, 0.1, 1e6);
  settings.fail = node.get("fail", settings.fail);
  return make_simulated_llm(std::move(settings));
}

std::shared_ptr<engine::TtsProvider> simulated_tts_from_config(const config::Node& node,
                                                               const engine::EngineContext& /*context*/) {
  SimulatedTtsSettings settings;
  settings.delay = node.get("delay", settings.delay, 0ms, kLongest);
  settings.per_character = node.get("per_character", settings.per_character, 1ms, 1000ms);
  settings.realtime_factor = node.get("realtime_factor", settings.realtime_factor, 0.0, 10.0);
  settings.rate = node.get("rate", settings.rate, 8000, 48000);
  settings.fail = node.get("fail", settings.fail);
  return make_simulated_tts(settings);
}

}  // namespace parley::providers
