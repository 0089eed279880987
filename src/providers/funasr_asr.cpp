#include "parley/providers/funasr_asr.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "providers/funasr/transcript.hpp"

namespace parley::providers {
namespace {

using namespace std::chrono_literals;
using engine::AsrEvent;
using funasr::FinalFlag;
using funasr::Mode;
using funasr::Transcript;
using nlohmann::json;

/// Packets to one chunk; the server in Python counts them.
constexpr int kChunkInterval = 10;
constexpr int kStepMs = 60;

Mode mode_of(const std::string& name) {
  if (name == "online") return Mode::online;
  return name == "offline" ? Mode::offline : Mode::two_pass;
}

struct Shared {
  FunAsrSettings settings;
  /// What this server means, as far as it has shown.
  std::atomic<FinalFlag> flag{FinalFlag::unknown};
};

std::string first_message(const FunAsrSettings& settings) {
  json message{{"mode", settings.mode},
               {"chunk_size", settings.chunk_size},
               {"chunk_interval", kChunkInterval},
               {"wav_name", "parley"},
               {"wav_format", "pcm"},
               {"audio_fs", audio::kListeningRate},
               {"is_speaking", true},
               {"itn", settings.itn}};
  if (!settings.hotwords.empty()) {
    // The runtime in C++ reads a map as text, the server in Python a list of words.
    std::string words;
    for (const auto& [word, weight] : settings.hotwords.items()) words += (words.empty() ? "" : " ") + word;
    message["hotwords"] = settings.hotwords.dump(-1, ' ', false, json::error_handler_t::replace);
    message["hotword"] = words;
  }
  engine::add_extra(message, settings.extra_body);
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

class FunAsrStream final : public engine::AsrStream {
 public:
  FunAsrStream(const asio::any_io_executor& executor, std::shared_ptr<Shared> shared)
      : shared_(std::move(shared)),
        clock_(shared_->settings.clock(executor)),
        link_(engine::connect(executor, clock_, shared_->settings.endpoint)),
        transcript_(mode_of(shared_->settings.mode), shared_->flag.load(std::memory_order_relaxed)),
        packet_(audio::samples_in(Millis(shared_->settings.chunk_size[1] * kStepMs / kChunkInterval),
                                  audio::kListeningRate)),
        end_(clock_->now() + shared_->settings.endpoint.deadlines.total) {
    link_->send_text(first_message(shared_->settings));
    link_->set_deadline(end_, "the recogniser has not come to an end in time");
  }

  void push(audio::PcmView samples) override {
    if (finished_) return;
    for (const auto sample : samples) {
      const auto bits = static_cast<std::uint16_t>(sample);
      unsent_ += static_cast<char>(bits & 0xFFU);
      unsent_ += static_cast<char>(bits >> 8U);
      if (unsent_.size() == 2 * packet_) send_packet();
    }
  }

  void finish() override {
    if (std::exchange(finished_, true)) return;
    // Whole packets, and of what is decoded as it comes whole chunks: the server leaves out what is less.
    const auto multiple = shared_->settings.mode == "online" ? kChunkInterval : 1;
    while (!unsent_.empty() || packets_ % multiple != 0) {
      unsent_.resize(2 * packet_, '\0');
      send_packet();
    }
    transcript_.finish();
    if (packets_ == 0) {
      link_->set_deadline(clock_->now(), "nobody spoke");
      return;
    }
    link_->send_text(R"({"is_speaking": false})");
    link_->ping([this] { wait(shared_->settings.endpoint.deadlines.first_byte); });
    wait(shared_->settings.endpoint.deadlines.first_byte);
  }

  Task<Result<std::optional<AsrEvent>>> next() override {
    if (delivered_) co_return std::optional<AsrEvent>();
    while (true) {
      if (finished_ && packets_ == 0) co_return final_event();
      auto message = co_await link_->next();
      if (!message) {
        if (message.error().code == Errc::timeout && silence_is_an_end()) co_return final_event();
        co_return with_secret_hidden(message.error());
      }
      if (!*message) {
        if (transcript_.may_be_complete() && link_->alive()) co_return final_event();
        co_return Error(Errc::closed, "the recogniser closed the connection without a result", true);
      }
      if (!(*message)->is_text) co_return Error(Errc::invalid_input, "the recogniser sent no text", true);
      const auto update = transcript_.take((*message)->bytes);
      if (!update) co_return update.error();
      shared_->flag.store(transcript_.flag(), std::memory_order_relaxed);
      if (update->complete) co_return final_event((*message)->arrived);
      if (finished_) wait(shared_->settings.endpoint.deadlines.idle);
      if (update->changed)
        co_return std::optional(AsrEvent{AsrEvent::Kind::partial, transcript_.text(), (*message)->arrived});
    }
  }

 private:
  void send_packet() {
    link_->send_binary(std::exchange(unsent_, {}));
    ++packets_;
  }

  void wait(Millis limit) {
    // Until it has answered the ping, it may not even be connected.
    const bool settled = transcript_.may_be_complete() && link_->alive();
    const auto until = clock_->now() + (settled ? shared_->settings.settle : limit);
    link_->set_deadline(std::min(until, end_), "the recogniser did not answer in time");
  }

  /// A server that heard nothing says nothing; one that answers at all has had the time to say more.
  bool silence_is_an_end() {
    if (!finished_) return false;
    if (packets_ == 0) return true;
    // Nobody is there, or it never ends.
    if (!link_->alive() || clock_->now() >= end_) return false;
    if (transcript_.may_be_complete()) {
      transcript_.settle();
      shared_->flag.store(transcript_.flag(), std::memory_order_relaxed);
      return true;
    }
    // What heard something has more to say about it.
    return transcript_.text().empty();
  }

  std::optional<AsrEvent> final_event() { return final_event(clock_->now()); }
  std::optional<AsrEvent> final_event(TimePoint ready_at) {
    delivered_ = true;
    return AsrEvent{AsrEvent::Kind::final, transcript_.text(), ready_at};
  }

  Error with_secret_hidden(Error error) const {
    error.message = engine::without_secret(std::move(error.message), shared_->settings.endpoint.secret);
    return error;
  }

  std::shared_ptr<Shared> shared_;
  std::shared_ptr<Scheduler> clock_;
  std::unique_ptr<net::WebSocketClient> link_;
  Transcript transcript_;
  std::size_t packet_;  ///< samples
  TimePoint end_;
  std::string unsent_;
  int packets_ = 0;
  bool finished_ = false;
  bool delivered_ = false;
};

class FunAsr final : public engine::AsrProvider {
 public:
  explicit FunAsr(FunAsrSettings settings) : shared_(std::make_shared<Shared>()) {
    shared_->settings = std::move(settings);
  }

  Task<Result<std::unique_ptr<engine::AsrStream>>> open(engine::AsrRequest /*request*/) override {
    co_return std::make_unique<FunAsrStream>(co_await asio::this_coro::executor, shared_);
  }

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace

std::shared_ptr<engine::AsrProvider> make_funasr(FunAsrSettings settings) {
  return std::make_shared<FunAsr>(std::move(settings));
}

std::shared_ptr<engine::AsrProvider> funasr_from_config(const config::Node& node,
                                                        const engine::EngineContext& /*context*/) {
  FunAsrSettings settings;
  net::HttpDeadlines deadlines;
  deadlines.first_byte = deadlines.idle = 5s;
  deadlines.total = 2min;
  settings.endpoint = engine::websocket_endpoint_from_config(node, nullptr, deadlines);
  settings.endpoint.subprotocol = "binary";
  settings.mode = node.get_choice("mode", settings.mode, {"2pass", "online", "offline"});
  if (node.has("chunk_size")) {
    settings.chunk_size.clear();
    for (const auto& number : node.items("chunk_size")) {
      const auto value = number.json();
      if (!value.is_number_integer() || value < 0 || value > 100) number.fail("expected a number up to 100");
      settings.chunk_size.push_back(value.get<int>());
    }
    if (settings.chunk_size.size() != 3 || settings.chunk_size[1] == 0)
      node.fail("chunk_size", "expected three numbers such as [5, 10, 5], the one in the middle above 0");
  }
  settings.itn = node.get("itn", settings.itn);
  if (const auto hotwords = node.child("hotwords")) {
    settings.hotwords = hotwords->json();
    const auto is_weight = [](const json& weight) { return weight.is_number_integer(); };
    if (!settings.hotwords.is_object() || !std::ranges::all_of(settings.hotwords, is_weight))
      node.fail("hotwords", "expected words with their weights, such as {Parley: 20}");
  }
  settings.settle = node.get("settle", settings.settle, 1ms, 10s);
  settings.extra_body = engine::extra_body_from_config(node);
  return make_funasr(std::move(settings));
}

}  // namespace parley::providers
