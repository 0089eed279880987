#include "bench_device.hpp"

#include <cstdio>
#include <random>

#include "parley/device/mcp_server.hpp"
#include "parley/device/statistics.hpp"
#include "parley/protocol/binary_frame.hpp"

namespace parley::tools {
namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr Millis kHandshakeTimeout{10'000};
/// A first frame that comes late by the scheduling of either side makes all others look early.
constexpr Millis kEarlyTolerance{20};

enum class Answer { none, heard, speaking, over };

std::string mac_address(std::size_t index) {
  char text[18];
  std::snprintf(text, sizeof text, "02:be:00:%02zx:%02zx:%02zx", index >> 16U & 0xffU, index >> 8U & 0xffU,
                index & 0xffU);
  return text;
}

std::string uuid(std::size_t index) {
  char text[37];
  std::snprintf(text, sizeof text, "00000000-0000-4000-8000-%012zx", index);
  return text;
}

std::vector<device::Tool> bench_tools(int count) {
  if (count < 0) return device::stock_tools();
  std::vector<device::Tool> tools(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < tools.size(); ++i) {
    tools[i].name = "self.bench.tool_" + std::to_string(i);
    tools[i].description =
        "A tool of a load test that does nothing; number " + std::to_string(i) + " of many.";
    tools[i].input_schema = {
        {"type", "object"},
        {"properties", {{"value", {{"type", "integer"}, {"minimum", 0}, {"maximum", 100}}}}},
        {"required", {"value"}}};
    tools[i].run = [](const nlohmann::json&) { return nlohmann::ordered_json(true); };
  }
  return tools;
}

class LightDevice final : public BenchDevice, public std::enable_shared_from_this<LightDevice> {
 public:
  LightDevice(const asio::any_io_executor& executor, LoadState& load, std::size_t index)
      : load_(&load),
        index_(index),
        timer_(executor),
        tools_(bench_tools(load.options->tools)),
        playout_({}),
        random_(static_cast<std::minstd_rand::result_type>(index + 1)) {}

  Task<> run() override {
    const auto self = shared_from_this();
    co_await pause(load_->options->ramp * static_cast<Duration::rep>(index_) /
                   static_cast<Duration::rep>(load_->options->devices));
    if (load_->stopping) co_return;
    const auto began = Clock::now();
    auto connected = co_await device::Socket::connect(*load_->target, headers(), kHandshakeTimeout);
    if (!connected) {
      fail(connected.error().message);
      settle();
      co_return;
    }
    socket_ = std::move(*connected);
    asio::co_spawn(timer_.get_executor(), read_loop(), asio::detached);
    co_await say_hello(began);
    settle();
    if (agreed_ && !over_) co_await play_profile();
    if (socket_) socket_->close();
  }

  void stop() override {
    over_ = true;
    timer_.cancel();
    if (socket_) socket_->close();
  }

 private:
  const BenchOptions& options() const { return *load_->options; }

  device::Headers headers() const {
    device::Headers list{{"Protocol-Version", std::to_string(options().version)},
                         {"Device-Id", mac_address(index_)},
                         {"Client-Id", uuid(index_)}};
    const auto& token = options().token;
    if (!token.empty()) {
      list.emplace_back("Authorization", token.find(' ') == std::string::npos ? "Bearer " + token : token);
    }
    return list;
  }

  void settle() {
    if (!std::exchange(settled_, true)) ++load_->settled;
  }

  void fail(const std::string& why) {
    over_ = true;
    timer_.cancel();
    if (!load_->stopping && !std::exchange(failed_, true)) ++load_->result->failures[why];
  }

  Task<> wait_until(TimePoint when) {
    timer_.expires_at(when);
    co_await timer_.async_wait(kAwait);
  }
  /// Uninterrupted but by the end.
  Task<> pause(Duration length) {
    const auto until = Clock::now() + length;
    while (!over_ && !load_->stopping && Clock::now() < until) co_await wait_until(until);
  }
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }

  Task<> say_hello(TimePoint began) {
    protocol::DeviceHello hello;
    hello.version = options().version;
    hello.mcp = true;
    hello.audio = {audio::kListeningRate, static_cast<int>(options().frame.count()), 1};
    send(hello);
    const auto deadline = Clock::now() + kHandshakeTimeout;
    while (!agreed_ && !over_ && Clock::now() < deadline) co_await wait_until(deadline);
    if (agreed_) {
      ++load_->result->connected;
      load_->result->handshake_ms.push_back(to_ms(Clock::now() - began));
    } else if (!over_) {
      fail("the server did not say hello within 10 s");
    }
  }

  Task<> play_profile() {
    if (options().profile == Profile::idle) {
      while (!over_) co_await wait_until(TimePoint::max());
    } else if (options().profile == Profile::listening) {
      send(protocol::ListenStart{});
      co_await speak(nullptr);
    } else {
      constexpr double turn_s = 8;  // About; spreads the first turns.
      co_await pause(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(uniform(0, turn_s))));
      for (std::size_t turn = index_; !over_; ++turn) {
        co_await take_turn(load_->material->phrases[turn % load_->material->phrases.size()]);
        co_await pause(std::chrono::duration_cast<Duration>(options().think * uniform(0.5, 1.5)));
      }
    }
  }

  /// Sends the phrase and then silence, in real time, until the server speaks or time is up. False: time is
  /// up.
  Task<bool> speak(const Phrase* phrase) {
    const auto began = Clock::now();
    auto deadline = TimePoint::max();
    const auto voiced = phrase ? phrase->frames.size() : 0;
    if (phrase) deadline = began + options().frame * voiced + options().reply_timeout;
    for (std::size_t sent = 0; !over_; ++sent) {
      const auto due = began + options().frame * (sent + 1);
      while (!over_ && answer_ < Answer::speaking && Clock::now() < due) co_await wait_until(due);
      if (over_ || answer_ >= Answer::speaking) co_return true;
      if (due > deadline) co_return false;
      const auto& silence = load_->material->silence;
      send_frame(sent < voiced ? phrase->frames[sent] : silence[sent % silence.size()]);
      if (phrase && sent == phrase->last_voiced) speech_sent_ = Clock::now();
    }
    co_return true;
  }

  Task<> take_turn(const Phrase& phrase) {
    answer_ = Answer::none;
    speech_sent_.reset();
    first_frame_.reset();
    send(protocol::ListenStart{});
    bool answered = co_await speak(&phrase);
    const auto stuck_after = [&] { return std::max(last_frame_, answered_at_) + options().reply_timeout; };
    while (!over_ && answered && !(answer_ == Answer::over && playout_.drained())) {
      const auto now = Clock::now();
      playout_.advance(now);
      if (answer_ == Answer::over) {
        // What is left is played out; nothing more comes.
        if (playout_.drained()) break;
        co_await wait_until(playout_.next_change().value_or(now));
      } else {
        answered = now < stuck_after();
        if (answered) co_await wait_until(stuck_after());
      }
    }
    if (over_ || !load_->measuring(Clock::now())) co_return;
    if (answered && first_frame_) {
      ++load_->result->turns_completed;
    } else {
      ++load_->result->turns_failed;
    }
  }

  void send(const protocol::DeviceMessage& message) {
    socket_->send_text(protocol::write_device_message(message, session_id_));
  }

  void send_frame(const UplinkFrame& frame) {
    socket_->send_binary(frame.message);
    const auto now = Clock::now();
    if (!load_->measuring(now)) return;
    ++load_->result->uplink_frames;
    if (answer_ == Answer::none) ++load_->result->uplink_heard;
    trace(load_->result->traces[index_].uplink, now, frame.message->size());
  }

  void trace(std::vector<TracedFrame>& frames, TimePoint now, std::size_t bytes) const {
    const auto at = std::chrono::duration_cast<std::chrono::microseconds>(now - *load_->window_begin).count();
    frames.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(bytes)});
  }

  Task<> read_loop() {
    const auto self = shared_from_this();
    while (true) {
      const auto message = co_await socket_->read();
      if (!message) {
        if (!over_) fail(message.error().message);
        co_return;
      }
      if (message->binary) {
        take_frame(message->bytes);
      } else {
        take_text(message->text());
      }
    }
  }

  void take_text(std::string_view text) {
    const auto parsed = protocol::parse_server_message(text, &session_id_);
    if (!parsed) {
      ++load_->result->violations;
      return;
    }
    const auto now = Clock::now();
    if (const auto* const hello = std::get_if<protocol::ServerHello>(&*parsed)) {
      agreed_ = true;
      load_->result->downlink = hello->audio;
      frame_ = Millis(hello->audio.frame_duration);
      playout_ = device::Playout({frame_, 40, Millis(5)});
    } else if (const auto* const mcp = std::get_if<protocol::McpMessage>(&*parsed)) {
      // Answered at once, also by tools that take their time on a real device.
      if (const auto reply = tools_.handle(mcp->payload)) {
        socket_->send_text(device::mcp_envelope(reply->payload, session_id_));
        if (reply->call && load_->measuring(now)) ++load_->result->tool_calls;
      }
      return;
    } else if (std::holds_alternative<protocol::Stt>(*parsed)) {
      answer_ = Answer::heard;
    } else if (std::holds_alternative<protocol::TtsStart>(*parsed)) {
      answer_ = Answer::speaking;
      answered_at_ = now;
      pacing_.emplace(frame_, options().send_ahead);
      playout_.tts_start(now);
    } else if (std::holds_alternative<protocol::TtsStop>(*parsed)) {
      if (answer_ == Answer::speaking) answer_ = Answer::over;
      playout_.tts_stop(now);
    } else {
      return;
    }
    timer_.cancel();
  }

  void take_frame(std::span<const std::uint8_t> bytes) {
    const auto now = last_frame_ = Clock::now();
    const auto frame = protocol::parse_frame(static_cast<protocol::Framing>(options().version), bytes);
    if (!frame || frame->type != protocol::FrameType::opus || !agreed_) {
      ++load_->result->violations;
      return;
    }
    playout_.push({}, now);
    playout_.advance(now);
    const bool measuring = load_->measuring(now);
    if (!first_frame_) {
      first_frame_ = now;
      if (measuring && speech_sent_) load_->result->answer_ms.push_back(to_ms(now - *speech_sent_));
    }
    count_playout(measuring);
    if (!pacing_) return;
    const auto [late, early] = pacing_->arrived(now);
    if (!measuring) return;
    auto& result = *load_->result;
    ++result.downlink_frames;
    trace(result.traces[index_].downlink, now, bytes.size());
    result.lateness_ms.push_back(to_ms(late));
    if (late > Duration::zero()) ++result.late_frames;
    if (early > kEarlyTolerance) ++result.early_frames;
    result.most_early_ms = std::max(result.most_early_ms, to_ms(early));
  }

  void count_playout(bool measuring) {
    if (measuring) load_->result->playout += playout_.counts().since(counted_);
    counted_ = playout_.counts();
  }

  LoadState* load_;
  std::size_t index_;
  asio::steady_timer timer_;
  device::McpServer tools_;
  device::Playout playout_;
  std::minstd_rand random_;
  std::shared_ptr<device::Socket> socket_;
  std::string session_id_;
  device::PlayoutCounts counted_;
  Duration frame_{};
  std::optional<device::ReplyPacing> pacing_;
  bool agreed_ = false;
  bool settled_ = false;
  bool failed_ = false;
  bool over_ = false;
  Answer answer_ = Answer::none;
  TimePoint answered_at_{};
  TimePoint last_frame_{};
  std::optional<TimePoint> speech_sent_;
  std::optional<TimePoint> first_frame_;
};

}  // namespace

std::shared_ptr<BenchDevice> make_bench_device(const asio::any_io_executor& executor, LoadState& load,
                                               std::size_t index) {
  return std::make_shared<LightDevice>(executor, load, index);
}

}  // namespace parley::tools
