#include "parley/device/device.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "downlink.hpp"
#include "uplink.hpp"

namespace parley::device {
namespace {

using nlohmann::ordered_json;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

enum class Reply { none, running, over };

double tenths(Duration d) {
  return std::round(to_ms(d) * 10) / 10;
}

std::string in_words(Millis limit) {
  return limit.count() % 1000 == 0 ? std::to_string(limit.count() / 1000) + " s"
                                   : std::to_string(limit.count()) + " ms";
}

bool looks_like_json(protocol::Bytes bytes) {
  return bytes.size() > 1 && bytes.front() == '{' && nlohmann::json::accept(bytes.begin(), bytes.end());
}

}  // namespace

class Device::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(const asio::any_io_executor& executor, Settings settings, McpServer tools, NoiseBed noise,
       Observer observer);

  Task<Result<>> open();
  Task<Result<>> wake(std::string text);
  Task<Result<>> turn(Utterance utterance);
  Task<Result<>> stay(Millis limit);
  void close();
  State state() const { return state_; }
  audio::Pcm heard() const { return {downlink_->audio().sample_rate, downlink_->heard()}; }

 private:
  Result<> prepare_uplink();
  Task<Result<>> say_hello();
  Task<Result<>> hear_out(bool (Impl::*done)() const);
  Task<> read_loop();
  Task<> answer_tool(McpReply reply);

  // What the server says.
  void on(const protocol::ServerHello& hello);
  void on(const protocol::Stt& stt) { emit(EventKind::stt, stt.text); }
  void on(const protocol::LlmEmotion& face) { emit(EventKind::emotion, face.emotion); }
  void on(const protocol::TtsStart& start);
  void on(const protocol::SentenceStart& sentence) { emit(EventKind::sentence, sentence.text); }
  void on(const protocol::TtsStop& stop);
  void on(const protocol::SystemCommand& system) { emit(EventKind::system, system.command); }
  void on(const protocol::Alert& alert) { emit(EventKind::alert, alert.status + ": " + alert.message); }
  void on(const protocol::Custom&) {}
  void on(const protocol::IgnoredMessage&) {}
  void on(const protocol::McpMessage&) {}  // Answered in read_loop(): it may take its time.
  void on_frame(protocol::Bytes message);

  void on_audible();
  void on_said();
  void interrupt();
  void start_listening();
  void stop_listening();
  void fail(Error error);
  void violation(std::string what) { emit(EventKind::violation, std::move(what)); }
  void send(const protocol::DeviceMessage& message) {
    socket_->send_text(protocol::write_device_message(message, session_id_));
  }
  void emit(EventKind kind, std::string text = {}, ordered_json data = ordered_json::object()) {
    observer_({kind, Clock::now(), turn_, std::move(text), std::move(data)});
  }
  void emit_turn_end();

  bool turn_done() const { return talked_over_ || (reply_ == Reply::over && downlink_->drained()); }
  bool utterance_done() const { return !uplink_->talking(); }
  TimePoint reply_deadline() const {
    const auto active = uplink_->talking() ? Clock::now() : std::max(last_received_, said_at_);
    return active + settings_.reply_timeout;
  }
  Task<> wait_until(TimePoint deadline) {
    script_.expires_at(deadline);
    co_await script_.async_wait(kAwait);
  }
  void notify() { script_.cancel(); }

  Settings settings_;
  asio::any_io_executor executor_;
  McpServer tools_;
  NoiseBed noise_;
  Observer observer_;
  asio::steady_timer script_;
  asio::steady_timer interrupt_timer_;
  std::shared_ptr<Socket> socket_;
  std::shared_ptr<Uplink> uplink_;
  std::shared_ptr<Downlink> downlink_;

  State state_ = State::idle;
  std::string session_id_;
  bool agreed_ = false;
  bool closing_ = false;
  std::optional<Error> lost_;
  TimePoint last_received_{};

  // The turn.
  int turn_ = 0;
  std::string label_;
  bool listening_ = false;
  TimePoint said_at_{};
  Reply reply_ = Reply::none;
  bool interrupted_ = false;
  bool talked_over_ = false;
  PlayoutCounts before_;
};

Device::Impl::Impl(const asio::any_io_executor& executor, Settings settings, McpServer tools, NoiseBed noise,
                   Observer observer)
    : settings_(std::move(settings)),
      executor_(executor),
      tools_(std::move(tools)),
      noise_(std::move(noise)),
      observer_(std::move(observer)),
      script_(executor),
      interrupt_timer_(executor),
      // Owned by this object alone, so what it calls is there.
      downlink_(std::make_shared<Downlink>(
          executor, settings_.playout,
          Downlink::Listener{[this] { on_audible(); },
                             [this](std::string what) { violation(std::move(what)); },
                             [this] { notify(); }})) {
}

Result<> Device::Impl::prepare_uplink() {
  auto uplink = Uplink::make(executor_, settings_.frame, settings_.version, settings_.dtx, std::move(noise_),
                             {[this](SharedBytes frame) { socket_->send_binary(std::move(frame)); },
                              [this](TimePoint at) {
                                observer_({EventKind::speech_end, at, turn_, label_, {}});
                              },
                              [this] { on_said(); }, [this](Error error) { fail(std::move(error)); }});
  if (!uplink) return uplink.error();
  uplink_ = std::move(*uplink);
  return {};
}

Task<Result<>> Device::Impl::open() {
  const auto prepared = prepare_uplink();
  if (!prepared) co_return prepared.error();
  state_ = State::connecting;
  const auto began = Clock::now();
  const auto target = co_await Target::resolve(settings_.url);
  if (!target) co_return target.error();
  Headers headers;
  if (!settings_.token.empty()) {
    const bool complete = settings_.token.find(' ') != std::string::npos;
    headers.emplace_back("Authorization", complete ? settings_.token : "Bearer " + settings_.token);
  }
  headers.emplace_back("Protocol-Version", std::to_string(settings_.version));
  headers.emplace_back("Device-Id", settings_.device_id);
  headers.emplace_back("Client-Id", settings_.client_id);
  auto connected = co_await Socket::connect(*target, std::move(headers), settings_.handshake_timeout);
  if (!connected) co_return connected.error();
  socket_ = std::move(*connected);
  emit(EventKind::connected, "", {{"connect_ms", tenths(Clock::now() - began)}});
  co_return co_await say_hello();
}

Task<Result<>> Device::Impl::say_hello() {
  asio::co_spawn(executor_, read_loop(), asio::detached);
  protocol::DeviceHello hello;
  hello.version = settings_.version;
  hello.mcp = true;
  hello.audio = {audio::kListeningRate, static_cast<int>(settings_.frame.count()), 1};
  const auto began = Clock::now();
  send(hello);
  const auto deadline = began + settings_.handshake_timeout;
  while (!agreed_ && !lost_ && Clock::now() < deadline) co_await wait_until(deadline);
  if (lost_) co_return *lost_;
  if (!agreed_) {
    co_return Error(Errc::timeout,
                    "the server did not say hello within " + in_words(settings_.handshake_timeout));
  }
  emit(EventKind::hello, "",
       {{"hello_ms", tenths(Clock::now() - began)},
        {"version", settings_.version},
        {"sample_rate", downlink_->audio().sample_rate},
        {"frame_duration", downlink_->audio().frame_duration},
        {"session_id", session_id_}});
  state_ = State::idle;
  co_return Result<>();
}

Task<Result<>> Device::Impl::wake(std::string text) {
  if (lost_) co_return *lost_;
  emit(EventKind::detect, text);
  send(protocol::ListenDetect{std::move(text)});
  start_listening();
  said_at_ = Clock::now();
  const auto deadline = said_at_ + settings_.greeting_wait;
  while (reply_ == Reply::none && !lost_ && Clock::now() < deadline) co_await wait_until(deadline);
  if (lost_) co_return *lost_;
  if (reply_ == Reply::none) co_return Result<>();
  co_return co_await hear_out(&Impl::turn_done);
}

Task<Result<>> Device::Impl::turn(Utterance utterance) {
  if (lost_) co_return *lost_;
  ++turn_;
  reply_ = Reply::none;
  talked_over_ = false;
  before_ = downlink_->counts();
  label_ = utterance.label;
  emit(EventKind::turn, label_);
  uplink_->say(std::move(utterance));
  if (!listening_) start_listening();
  if (settings_.mode == protocol::ListenMode::manual) {
    const auto said = co_await hear_out(&Impl::utterance_done);
    if (!said) co_return said.error();
    if (listening_) stop_listening();
  }
  const auto answered = co_await hear_out(&Impl::turn_done);
  emit_turn_end();
  co_return answered;
}

Task<Result<>> Device::Impl::stay(Millis limit) {
  ++turn_;
  reply_ = Reply::none;
  talked_over_ = false;
  before_ = downlink_->counts();
  label_.clear();
  const auto until = Clock::now() + limit;
  while (reply_ == Reply::none && !lost_ && Clock::now() < until) co_await wait_until(until);
  if (lost_) co_return *lost_;
  if (reply_ == Reply::none) co_return Result<>();
  const auto heard = co_await hear_out(&Impl::turn_done);
  emit_turn_end();
  co_return heard;
}

Task<Result<>> Device::Impl::hear_out(bool (Impl::*done)() const) {
  while (!(this->*done)()) {
    // A server may close once it has answered.
    if (lost_ && reply_ != Reply::over) co_return *lost_;
    const auto deadline = reply_ == Reply::over ? TimePoint::max() : reply_deadline();
    if (Clock::now() >= deadline) {
      const auto* const what = reply_ == Reply::none ? "the server gave no answer within "
                                                     : "the answer stopped in the middle for ";
      co_return Error(Errc::timeout, what + in_words(settings_.reply_timeout));
    }
    co_await wait_until(deadline);
  }
  co_return Result<>();
}

void Device::Impl::emit_turn_end() {
  const auto frames = downlink_->counts().since(before_);
  emit(EventKind::turn_end, "",
       {{"received", frames.received},
        {"played", frames.played},
        {"dropped", frames.dropped()},
        {"dropped_full", frames.dropped_full},
        {"dropped_outside", frames.dropped_outside},
        {"cleared", frames.cleared},
        {"underruns", frames.underruns},
        {"gap_ms", tenths(frames.gaps)}});
}

void Device::Impl::close() {
  closing_ = true;
  state_ = State::idle;
  if (uplink_) uplink_->close();
  downlink_->close();
  interrupt_timer_.cancel();
  if (socket_) socket_->close();
}

void Device::Impl::fail(Error error) {
  if (closing_ || lost_) return;
  lost_ = std::move(error);
  emit(EventKind::closed, lost_->message);
  // What was received is still played out.
  uplink_->close();
  notify();
}

Task<> Device::Impl::read_loop() {
  const auto self = shared_from_this();
  while (true) {
    const auto message = co_await socket_->read();
    if (!message) {
      fail(message.error());
      co_return;
    }
    last_received_ = Clock::now();
    if (message->binary) {
      on_frame(message->bytes);
      continue;
    }
    std::string session_id;
    const auto parsed = protocol::parse_server_message(message->text(), &session_id);
    if (!parsed) {
      violation(parsed.error().message);
      continue;
    }
    if (!session_id.empty()) session_id_ = session_id;
    const auto* const mcp = std::get_if<protocol::McpMessage>(&*parsed);
    if (auto reply = mcp ? tools_.handle(mcp->payload) : std::nullopt) {
      if (reply->stalls) {
        // The main loop is busy: nothing else is handled meanwhile.
        uplink_->stall(Clock::now() + reply->delay);
        co_await answer_tool(std::move(*reply));
      } else {
        asio::co_spawn(executor_, answer_tool(std::move(*reply)), asio::detached);
      }
    }
    std::visit([this](const auto& each) { on(each); }, *parsed);
    notify();
  }
}

Task<> Device::Impl::answer_tool(McpReply reply) {
  const auto self = shared_from_this();
  if (reply.delay > Millis(0)) {
    asio::steady_timer timer(executor_, Clock::now() + reply.delay);
    co_await timer.async_wait(kAwait);
  }
  if (lost_ || closing_) co_return;
  socket_->send_text(mcp_envelope(reply.payload, session_id_));
  if (reply.call) {
    emit(EventKind::tool_call, reply.call->name,
         {{"arguments", reply.call->arguments},
          {"result", reply.call->result},
          {"failed", reply.call->failed}});
  }
}

void Device::Impl::on(const protocol::ServerHello& hello) {
  if (agreed_) return violation("a second hello");
  agreed_ = true;
  downlink_->agree(hello.audio);
}

void Device::Impl::on(const protocol::TtsStart&) {
  emit(EventKind::tts_start);
  state_ = State::speaking;
  reply_ = Reply::running;
  if (settings_.mode != protocol::ListenMode::realtime) {
    if (uplink_->in_speech()) emit(EventKind::cut_off, "", {{"remaining_ms", tenths(uplink_->left())}});
    uplink_->hush();
    uplink_->close();
    listening_ = false;
  }
  downlink_->tts_start();
}

void Device::Impl::on(const protocol::TtsStop&) {
  emit(EventKind::tts_stop);
  if (reply_ == Reply::running) reply_ = Reply::over;
  state_ = settings_.mode == protocol::ListenMode::manual ? State::idle : State::listening;
  interrupt_timer_.cancel();
  downlink_->tts_stop();
}

void Device::Impl::on_frame(protocol::Bytes message) {
  if (!agreed_) return violation("a binary frame before hello");
  const auto frame = protocol::parse_frame(static_cast<protocol::Framing>(settings_.version), message);
  if (!frame) return violation("a bad binary frame: " + frame.error().message);
  // Devices take whatever comes for audio.
  if (frame->type != protocol::FrameType::opus || looks_like_json(frame->payload)) {
    return violation("JSON in a binary frame");
  }
  downlink_->push(frame->payload);
}

void Device::Impl::on_audible() {
  if (reply_ == Reply::none) return;  // What is left of a reply that was talked over.
  emit(EventKind::first_audio);
  if (!settings_.interrupt_after || interrupted_ || turn_ == 0) return;
  interrupt_timer_.expires_after(*settings_.interrupt_after);
  interrupt_timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& cancelled) {
    const auto self = weak.lock();
    if (self && !cancelled) self->interrupt();
  });
}

void Device::Impl::on_said() {
  said_at_ = Clock::now();
  notify();
}

void Device::Impl::interrupt() {
  if (reply_ != Reply::running || interrupted_) return;
  interrupted_ = true;
  if (settings_.talk_over) {
    talked_over_ = true;
    notify();
    return;
  }
  emit(EventKind::abort);
  send(protocol::Abort{});
}

void Device::Impl::start_listening() {
  emit(EventKind::listen_start, std::string(protocol::to_string(settings_.mode)));
  send(protocol::ListenStart{settings_.mode});
  state_ = State::listening;
  listening_ = true;
  uplink_->open();
}

void Device::Impl::stop_listening() {
  uplink_->close();
  listening_ = false;
  emit(EventKind::listen_stop);
  send(protocol::ListenStop{});
  state_ = State::idle;
}

Device::Device(asio::any_io_executor executor, Settings settings, McpServer tools, NoiseBed noise,
               Observer observer)
    : impl_(std::make_shared<Impl>(executor, std::move(settings), std::move(tools), std::move(noise),
                                   std::move(observer))) {
}

Device::~Device() {
  impl_->close();
}

Task<Result<>> Device::open() {
  return impl_->open();
}
Task<Result<>> Device::wake(std::string text) {
  return impl_->wake(std::move(text));
}
Task<Result<>> Device::turn(Utterance utterance) {
  return impl_->turn(std::move(utterance));
}
Task<Result<>> Device::stay(Millis limit) {
  return impl_->stay(limit);
}
void Device::close() {
  impl_->close();
}
State Device::state() const {
  return impl_->state();
}
audio::Pcm Device::heard() const {
  return impl_->heard();
}

}  // namespace parley::device
