#include "parley/providers/openai_realtime_asr.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <utility>

#include "parley/audio/resampler.hpp"
#include "providers/openai/realtime_transcript.hpp"

namespace parley::providers {
namespace {

using namespace std::chrono_literals;
using engine::AsrEvent;
using nlohmann::json;

constexpr int kRate = 24000;
/// The service refuses to take less than 100 ms.
constexpr Millis kShortest{120};
/// Of one message.
constexpr Millis kPiece{500};

std::string base64(audio::PcmView samples) {
  std::string bytes;
  bytes.reserve(2 * samples.size());
  for (const auto sample : samples) {
    const auto bits = static_cast<std::uint16_t>(sample);
    bytes += static_cast<char>(bits & 0xFFU);
    bytes += static_cast<char>(bits >> 8U);
  }
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const auto length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::string session_update(const OpenAiRealtimeAsrSettings& settings, const std::string& asked) {
  json transcription{{"model", settings.model}};
  const auto language = engine::language_for_service(settings.language, asked);
  if (!language.empty()) transcription["language"] = language;
  if (!settings.prompt.empty()) transcription["prompt"] = settings.prompt;
  json session{{"type", "transcription"},
               {"audio",
                {{"input",
                  {{"format", {{"type", "audio/pcm"}, {"rate", kRate}}},
                   {"transcription", std::move(transcription)},
                   {"turn_detection", nullptr}}}}}};
  session.merge_patch(settings.extra_body);
  return json{{"type", "session.update"}, {"session", std::move(session)}}.dump(
      -1, ' ', false, json::error_handler_t::replace);
}

class RealtimeStream final : public engine::AsrStream {
 public:
  RealtimeStream(const asio::any_io_executor& executor,
                 std::shared_ptr<const OpenAiRealtimeAsrSettings> settings, audio::Resampler resampler,
                 const std::string& language)
      : settings_(std::move(settings)),
        clock_(settings_->clock(executor)),
        link_(engine::connect(executor, clock_, settings_->endpoint)),
        transcript_(settings_->endpoint.secret),
        resampler_(std::move(resampler)),
        end_(clock_->now() + settings_->endpoint.deadlines.total),
        room_(audio::samples_in(settings_->max_audio, audio::kListeningRate)) {
    link_->send_text(session_update(*settings_, language));
    link_->set_deadline(end_, "the recogniser has not come to an end in time");
  }

  void push(audio::PcmView samples) override {
    if (finished_) return;
    const auto taken = samples.first(std::min(room_, samples.size()));
    room_ -= taken.size();
    resampler_.process(taken, unsent_);
    send_audio();
  }

  void finish() override {
    if (std::exchange(finished_, true)) return;
    resampler_.flush(unsent_);
    if (sent_ + unsent_.size() == 0) {
      link_->set_deadline(clock_->now(), "nobody spoke");
      return;
    }
    const auto shortest = audio::samples_in(kShortest, kRate);
    if (sent_ + unsent_.size() < shortest) unsent_.resize(shortest - sent_);
    send_audio();
    transcript_.commit();
    link_->send_text(R"({"type":"input_audio_buffer.commit"})");
    wait(settings_->endpoint.deadlines.first_byte);
  }

  Task<Result<std::optional<AsrEvent>>> next() override {
    if (delivered_) co_return std::optional<AsrEvent>();
    while (true) {
      if (finished_ && sent_ == 0) co_return event(AsrEvent::Kind::final, clock_->now());
      auto message = co_await link_->next();
      if (finished_ && sent_ == 0) co_return event(AsrEvent::Kind::final, clock_->now());
      if (!message) co_return with_secret_hidden(message.error());
      if (!*message)
        co_return Error(Errc::closed, "the recogniser closed the connection without a result", true);
      if (!(*message)->is_text) co_return Error(Errc::invalid_input, "the recogniser sent no text", true);
      const auto update = transcript_.take((*message)->bytes);
      if (!update) co_return update.error();
      if (update->complete) co_return event(AsrEvent::Kind::final, (*message)->arrived);
      if (finished_) wait(settings_->endpoint.deadlines.idle);
      if (update->changed) co_return event(AsrEvent::Kind::partial, (*message)->arrived);
    }
  }

 private:
  void send_audio() {
    const audio::PcmView samples(unsent_);
    const auto piece = audio::samples_in(kPiece, kRate);
    for (std::size_t at = 0; at < samples.size(); at += piece) {
      const auto part = samples.subspan(at, std::min(piece, samples.size() - at));
      link_->send_text(R"({"type":"input_audio_buffer.append","audio":")" + base64(part) + "\"}");
    }
    sent_ += unsent_.size();
    unsent_.clear();
  }

  void wait(Millis limit) {
    link_->set_deadline(std::min(clock_->now() + limit, end_), "the recogniser did not answer in time");
  }

  std::optional<AsrEvent> event(AsrEvent::Kind kind, TimePoint ready_at) {
    delivered_ = kind == AsrEvent::Kind::final;
    return AsrEvent{kind, transcript_.text(), ready_at};
  }

  Error with_secret_hidden(Error error) const {
    error.message = engine::without_secret(std::move(error.message), settings_->endpoint.secret);
    return error;
  }

  std::shared_ptr<const OpenAiRealtimeAsrSettings> settings_;
  std::shared_ptr<Scheduler> clock_;
  std::unique_ptr<net::WebSocketClient> link_;
  openai::RealtimeTranscript transcript_;
  audio::Resampler resampler_;
  TimePoint end_;
  std::size_t room_;  ///< samples that may still come
  std::vector<std::int16_t> unsent_;
  std::size_t sent_ = 0;
  bool finished_ = false;
  bool delivered_ = false;
};

class OpenAiRealtimeAsr final : public engine::AsrProvider {
 public:
  explicit OpenAiRealtimeAsr(OpenAiRealtimeAsrSettings settings)
      : settings_(std::make_shared<const OpenAiRealtimeAsrSettings>(std::move(settings))) {}

  Task<Result<std::unique_ptr<engine::AsrStream>>> open(engine::AsrRequest request) override {
    auto resampler = audio::Resampler::make(audio::kListeningRate, kRate);
    if (!resampler) co_return resampler.error();
    co_return std::make_unique<RealtimeStream>(co_await asio::this_coro::executor, settings_,
                                               std::move(*resampler), request.language);
  }

 private:
  std::shared_ptr<const OpenAiRealtimeAsrSettings> settings_;
};

}  // namespace

std::shared_ptr<engine::AsrProvider> make_openai_realtime_asr(OpenAiRealtimeAsrSettings settings) {
  return std::make_shared<OpenAiRealtimeAsr>(std::move(settings));
}

std::shared_ptr<engine::AsrProvider> openai_realtime_asr_from_config(
    const config::Node& node, const engine::EngineContext& /*context*/) {
  OpenAiRealtimeAsrSettings settings;
  net::HttpDeadlines deadlines;
  deadlines.first_byte = deadlines.idle = 10s;
  deadlines.total = 2min;
  settings.endpoint = engine::websocket_endpoint_from_config(
      node, "wss://api.openai.com/v1/realtime?intent=transcription", deadlines);
  settings.model = node.require("model");
  settings.language = node.get("language", "");
  settings.prompt = node.get("prompt", "");
  settings.max_audio = node.get("max_audio", settings.max_audio, 1s, 600s);
  settings.extra_body = engine::extra_body_from_config(node);
  return make_openai_realtime_asr(std::move(settings));
}

}  // namespace parley::providers
