#include "parley/providers/wyoming_asr.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "parley/core/async_event.hpp"
#include "providers/wyoming/link.hpp"

namespace parley::providers {
namespace {

using namespace std::chrono_literals;
using engine::AsrEvent;
using nlohmann::json;
using wyoming::Event;
using wyoming::Link;

/// Of one event, where a lot of audio is sent at once.
constexpr std::size_t kMaxChunk = 4096;
constexpr std::size_t kMaxText = std::size_t{64} * 1024;

json audio_format() {
  return {{"rate", audio::kListeningRate}, {"width", 2}, {"channels", 1}};
}

Event audio_chunk(audio::PcmView samples) {
  Event event{"audio-chunk", audio_format(), {}};
  event.payload.reserve(2 * samples.size());
  for (const auto sample : samples) {
    const auto bits = static_cast<std::uint16_t>(sample);
    event.payload += static_cast<char>(bits & 0xFFU);
    event.payload += static_cast<char>(bits >> 8U);
  }
  return event;
}

class WyomingAsrStream final : public engine::AsrStream {
 public:
  WyomingAsrStream(std::shared_ptr<const WyomingAsrSettings> settings, std::string language,
                   const asio::any_io_executor& executor)
      : settings_(std::move(settings)),
        language_(std::move(language)),
        executor_(executor),
        max_samples_(audio::samples_in(settings_->max_audio, audio::kListeningRate)),
        changed_(executor) {}

  void push(audio::PcmView samples) override {
    if (finished_) return;
    const auto taken = samples.first(std::min(max_samples_ - audio_.size(), samples.size()));
    if (taken.empty()) return;
    if (audio_.empty()) changed_.notify();
    audio_.insert(audio_.end(), taken.begin(), taken.end());
    send(taken);
  }

  void finish() override {
    if (std::exchange(finished_, true)) return;
    send_end();
    changed_.notify();
  }

  Task<Result<std::optional<AsrEvent>>> next() override {
    if (delivered_) co_return std::optional<AsrEvent>();
    while (audio_.empty() && !finished_) co_await changed_.wait();
    if (audio_.empty()) {
      delivered_ = true;
      co_return AsrEvent{AsrEvent::Kind::final, "", Clock::now()};
    }
    if (!heard_) {
      // Named: it has to outlive the coroutine that it starts.
      const std::function<Task<Result<AsrEvent>>()> attempt = [this]() -> Task<Result<AsrEvent>> {
        if (!link_) connect();
        auto first = co_await read();
        if (!first) link_.reset();
        co_return first;
      };
      auto first = co_await engine::retried<AsrEvent>(settings_->endpoint.limits.retry, attempt);
      if (!first) co_return first.error();
      heard_ = true;
      co_return std::move(*first);
    }
    auto event = co_await read();
    if (!event) co_return event.error();
    co_return std::move(*event);
  }

 private:
  void connect() {
    // All that an utterance may be: what is pushed is bounded already.
    const auto max_unsent = 4 * max_samples_ + std::size_t{1024} * 1024;
    link_ = std::make_unique<Link>(executor_, settings_->endpoint, max_unsent);
    text_.clear();
    Event transcribe{"transcribe", json::object(), {}};
    if (!settings_->model.empty()) transcribe.data["name"] = settings_->model;
    if (!language_.empty()) transcribe.data["language"] = language_;
    link_->send(transcribe);
    link_->send({"audio-start", audio_format(), {}});
    send(audio_);
    if (finished_) send_end();
  }

  void send(audio::PcmView samples) {
    if (!link_) return;
    for (std::size_t at = 0; at < samples.size(); at += kMaxChunk)
      link_->send(audio_chunk(samples.subspan(at, std::min(kMaxChunk, samples.size() - at))));
  }

  void send_end() {
    if (!link_) return;
    link_->send({"audio-stop", json::object(), {}});
    link_->expect_answer();
  }

  /// The next partial, or the result.
  Task<Result<AsrEvent>> read() {
    while (true) {
      auto event = co_await link_->next();
      if (!event) co_return event.error();
      if (event->type == "error") co_return wyoming::error_of(*event, settings_->endpoint.uri());
      if (event->type == "transcript-start") text_.clear();
      const bool is_result = event->type == "transcript";
      if (!is_result && event->type != "transcript-chunk") continue;
      const auto text = event->data.find("text");
      if (text == event->data.end() || !text->is_string())
        co_return failure(Errc::invalid_input, "sent a " + event->type + " without text");
      if (is_result) text_.clear();
      text_ += text->get_ref<const std::string&>();
      if (text_.size() > kMaxText) co_return failure(Errc::limit, "sent more than 64 KiB of text");
      if (!is_result) co_return AsrEvent{AsrEvent::Kind::partial, engine::trimmed(text_), Clock::now()};
      // A server that finds the end of the utterance itself may be early; what it found is the result.
      while (!finished_) co_await changed_.wait();
      link_.reset();
      delivered_ = true;
      co_return AsrEvent{AsrEvent::Kind::final, engine::trimmed(text_), Clock::now()};
    }
  }

  Error failure(Errc code, const std::string& what) const {
    return {code, settings_->endpoint.uri() + " " + what};
  }

  std::shared_ptr<const WyomingAsrSettings> settings_;
  std::string language_;
  asio::any_io_executor executor_;
  std::size_t max_samples_;
  AsyncEvent changed_;
  std::unique_ptr<Link> link_;
  std::vector<std::int16_t> audio_;
  std::string text_;  ///< of the transcript that streams in
  bool finished_ = false;
  bool heard_ = false;
  bool delivered_ = false;
};

class WyomingAsr final : public engine::AsrProvider {
 public:
  explicit WyomingAsr(WyomingAsrSettings settings)
      : settings_(std::make_shared<const WyomingAsrSettings>(std::move(settings))) {}

  Task<Result<std::unique_ptr<engine::AsrStream>>> open(engine::AsrRequest request) override {
    co_return std::make_unique<WyomingAsrStream>(
        settings_, engine::language_for_service(settings_->language, request.language),
        co_await asio::this_coro::executor);
  }

 private:
  std::shared_ptr<const WyomingAsrSettings> settings_;
};

}  // namespace

std::shared_ptr<engine::AsrProvider> make_wyoming_asr(WyomingAsrSettings settings) {
  return std::make_shared<WyomingAsr>(std::move(settings));
}

std::shared_ptr<engine::AsrProvider> wyoming_asr_from_config(const config::Node& node,
                                                             const engine::EngineContext& /*context*/) {
  WyomingAsrSettings settings;
  settings.endpoint = wyoming_endpoint_from_config(node);
  settings.language = node.get("language", "");
  settings.model = node.get("model", "");
  settings.max_audio = node.get("max_audio", settings.max_audio, 1s, 600s);
  return make_wyoming_asr(std::move(settings));
}

}  // namespace parley::providers
