#include "parley/device/device.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/audio/opus_codec.hpp"
#include "parley/protocol/binary_frame.hpp"

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
       Observer observer)
      : settings_(std::move(settings)),
        executor_(executor),
        tools_(std::move(tools)),
        microphone_(audio::samples_in(settings_.frame, audio::kListeningRate), std::move(noise)),
        observer_(std::move(observer)),
        playout_(settings_.playout),
        script_(executor),
        mic_timer_(executor),
        play_timer_(executor),
        interrupt_timer_(executor) {}

  Task<Result<>> open();
  Task<Result<>> wake(std::string text);
  Task<Result<>> turn(Utterance utterance);
  void close();
  State state() const { return state_; }
  audio::Pcm heard() const { return {downlink_.sample_rate, heard_}; }

  // What the server says.
  void on(const protocol::ServerHello& hello);
  void on(const protocol::Stt& stt) { emit(EventKind::stt, stt.text); }
  void on(const protocol::LlmEmotion& face) { emit(EventKind::emotion, face.emotion); }
  void on(const protocol::TtsStart&);
  void on(const protocol::SentenceStart& sentence) { emit(EventKind::sentence, sentence.text); }
  void on(const protocol::TtsStop&);
  void on(const protocol::SystemCommand& system) { emit(EventKind::system, system.command); }
  void on(const protocol::Alert& alert) { emit(EventKind::alert, alert.status + ": " + alert.message); }
  void on(const protocol::Custom&) {}
  void on(const protocol::IgnoredMessage&) {}
  void on(const protocol::McpMessage&) {}  // Answered in read_loop(): it may take its time.

 private:
  Task<> read_loop();
  Task<> answer_tool(McpReply reply);
  Task<> mic_loop();
  Task<Result<>> hear_out(bool (Impl::*done)() const);
  Task<Result<>> say_hello();

  void handle_frame(protocol::Bytes message);
  void play(const Playout::Packet& packet);
  void pump();
  void send_frame();
  void start_listening();
  void stop_listening();
  void open_mic();
  void interrupt();
  void fail(Error error);
  void violation(std::string what);
  void send(const protocol::DeviceMessage& message) {
    socket_->send_text(protocol::write_device_message(message, session_id_));
  }
  void emit(EventKind kind, std::string text = {}, ordered_json data = ordered_json::object()) {
    emit_at(Clock::now(), kind, std::move(text), std::move(data));
  }
  void emit_at(TimePoint at, EventKind kind, std::string text, ordered_json data = ordered_json::object()) {
    observer_({kind, at, turn_, std::move(text), std::move(data)});
  }
  void emit_turn_end();

  bool turn_done() const { return talked_over_ || (reply_ == Reply::over && playout_.drained()); }
  bool utterance_done() const { return !microphone_.talking(); }
  bool greeting_began() const { return reply_ != Reply::none; }
  TimePoint reply_deadline() const {
    const auto active = microphone_.talking() ? Clock::now() : std::max(last_received_, said_at_);
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
  Microphone microphone_;
  Observer observer_;
  Playout playout_;
  asio::steady_timer script_;
  asio::steady_timer mic_timer_;
  asio::steady_timer play_timer_;
  asio::steady_timer interrupt_timer_;

  std::shared_ptr<Socket> socket_;
  std::optional<audio::OpusEncoder> encoder_;
  std::optional<audio::OpusDecoder> decoder_;
  State state_ = State::idle;
  std::string session_id_;
  std::optional<protocol::AudioParams> agreed_;
  protocol::AudioParams downlink_{24000, 60, 1};
  std::vector<std::int16_t> heard_;
  std::optional<Error> lost_;
  bool closing_ = false;

  bool listening_ = false;
  bool mic_open_ = false;
  TimePoint mic_next_{};
  TimePoint stalled_until_{};
  TimePoint last_received_{};

  // The turn.
  int turn_ = 0;
  std::string label_;
  std::optional<Duration> voice_end_;  // Of an utterance whose end was not said yet.
  std::optional<TimePoint> utterance_began_;
  TimePoint said_at_{};
  Reply reply_ = Reply::none;
  std::size_t starts_seen_ = 0;
  bool audible_ = false;
  bool interrupted_ = false;
  bool talked_over_ = false;
  PlayoutCounts before_;
};

Task<Result<>> Device::Impl::open() {
  state_ = State::connecting;
  auto encoder = audio::OpusEncoder::make({audio::kListeningRate, 16000, 0, true, settings_.dtx});
  if (!encoder) co_return encoder.error();
  encoder_ = std::move(*encoder);
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
        {"sample_rate", downlink_.sample_rate},
        {"frame_duration", downlink_.frame_duration},
        {"session_id", session_id_}});
  state_ = State::idle;
  asio::co_spawn(executor_, mic_loop(), asio::detached);
  co_return Result<>();
}

Task<Result<>> Device::Impl::wake(std::string text) {
  emit(EventKind::detect, text);
  send(protocol::ListenDetect{std::move(text)});
  start_listening();
  open_mic();
  said_at_ = Clock::now();
  const auto deadline = said_at_ + settings_.greeting_wait;
  while (!greeting_began() && !lost_ && Clock::now() < deadline) co_await wait_until(deadline);
  if (lost_) co_return *lost_;
  if (!greeting_began()) co_return Result<>();
  co_return co_await hear_out(&Impl::turn_done);
}

Task<Result<>> Device::Impl::turn(Utterance utterance) {
  ++turn_;
  reply_ = Reply::none;
  audible_ = false;
  talked_over_ = false;
  before_ = playout_.counts();
  label_ = utterance.label;
  voice_end_ = utterance.voice_end;
  utterance_began_.reset();
  emit(EventKind::turn, label_);
  if (!listening_) start_listening();
  microphone_.say(std::move(utterance));
  open_mic();
  if (settings_.mode == protocol::ListenMode::manual) {
    const auto said = co_await hear_out(&Impl::utterance_done);
    if (!said) co_return said.error();
    if (listening_) stop_listening();
  }
  const auto answered = co_await hear_out(&Impl::turn_done);
  emit_turn_end();
  co_return answered;
}

Task<Result<>> Device::Impl::hear_out(bool (Impl::*done)() const) {
  while (!(this->*done)()) {
    if (lost_) co_return *lost_;
    const auto deadline = reply_deadline();
    if (reply_ != Reply::over && Clock::now() >= deadline) {
      const auto* const what = reply_ == Reply::none ? "the server gave no answer within "
                                                     : "the answer stopped in the middle for ";
      co_return Error(Errc::timeout, what + in_words(settings_.reply_timeout));
    }
    co_await wait_until(reply_ == Reply::over ? TimePoint::max() : deadline);
  }
  co_return Result<>();
}

void Device::Impl::emit_turn_end() {
  playout_.advance(Clock::now());
  const auto frames = playout_.counts().since(before_);
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
  mic_open_ = false;
  state_ = State::idle;
  mic_timer_.cancel();
  play_timer_.cancel();
  interrupt_timer_.cancel();
  if (socket_) socket_->close();
}

void Device::Impl::fail(Error error) {
  if (closing_ || lost_) return;
  lost_ = std::move(error);
  emit(EventKind::closed, lost_->message);
  close();
  notify();
}

void Device::Impl::violation(std::string what) {
  emit(EventKind::violation, std::move(what));
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
      handle_frame(message->bytes);
      continue;
    }
    std::string session_id;
    const auto parsed = protocol::parse_server_message(message->text(), &session_id);
    if (!parsed) {
      violation(parsed.error().message);
      continue;
    }
    if (!session_id.empty()) session_id_ = session_id;
    if (const auto* const mcp = std::get_if<protocol::McpMessage>(&*parsed)) {
      if (auto reply = tools_.handle(mcp->payload)) {
        if (reply->stalls) {
          // The main loop is busy: nothing else is handled meanwhile.
          stalled_until_ = Clock::now() + reply->delay;
          co_await answer_tool(std::move(*reply));
        } else {
          asio::co_spawn(executor_, answer_tool(std::move(*reply)), asio::detached);
        }
      }
      continue;
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
  agreed_ = downlink_ = hello.audio;
  auto playout = settings_.playout;
  playout.frame = Millis(downlink_.frame_duration);
  playout_ = Playout(playout);
}

void Device::Impl::on(const protocol::TtsStart&) {
  emit(EventKind::tts_start);
  state_ = State::speaking;
  reply_ = Reply::running;
  ++starts_seen_;
  audible_ = false;
  auto decoder = audio::OpusDecoder::make(downlink_.sample_rate);
  if (!decoder) return fail(decoder.error());
  decoder_ = std::move(*decoder);
  if (settings_.mode != protocol::ListenMode::realtime) {
    if (microphone_.talking() && voice_end_) {
      const auto left = audio::duration_of(microphone_.remaining(), audio::kListeningRate);
      emit(EventKind::cut_off, "", {{"remaining_ms", tenths(left)}});
    }
    microphone_.hush();
    mic_open_ = listening_ = false;
  }
  playout_.tts_start(Clock::now());
  pump();
}

void Device::Impl::on(const protocol::TtsStop&) {
  emit(EventKind::tts_stop);
  if (reply_ == Reply::running) reply_ = Reply::over;
  state_ = settings_.mode == protocol::ListenMode::manual ? State::idle : State::listening;
  interrupt_timer_.cancel();
  playout_.tts_stop(Clock::now());
  pump();
}

void Device::Impl::handle_frame(protocol::Bytes message) {
  if (!agreed_) return violation("a binary frame before hello");
  const auto frame = protocol::parse_frame(static_cast<protocol::Framing>(settings_.version), message);
  if (!frame) return violation("a bad binary frame: " + frame.error().message);
  // Devices take whatever comes for audio.
  if (frame->type != protocol::FrameType::opus || looks_like_json(frame->payload)) {
    return violation("JSON in a binary frame");
  }
  playout_.push({frame->payload.begin(), frame->payload.end()}, Clock::now());
  pump();
}

void Device::Impl::pump() {
  const auto now = Clock::now();
  for (const auto& packet : playout_.advance(now)) play(packet);
  notify();
  const auto next = playout_.next_change();
  if (!next || closing_) return;
  play_timer_.expires_at(*next);
  play_timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& cancelled) {
    const auto self = weak.lock();
    if (self && !cancelled) self->pump();
  });
}

void Device::Impl::play(const Playout::Packet& packet) {
  // What is played before the main loop handled the newest start belongs to the reply before.
  if (!audible_ && reply_ != Reply::none && playout_.starts() == starts_seen_) {
    audible_ = true;
    emit(EventKind::first_audio);
    if (settings_.interrupt_after && !interrupted_ && turn_ > 0) {
      interrupt_timer_.expires_after(*settings_.interrupt_after);
      interrupt_timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& cancelled) {
        const auto self = weak.lock();
        if (self && !cancelled) self->interrupt();
      });
    }
  }
  if (!decoder_) return;
  const Millis declared(downlink_.frame_duration);
  const auto pcm = decoder_->decode(packet, declared);
  if (!pcm) return violation("an undecodable Opus packet: " + pcm.error().message);
  if (pcm->size() != audio::samples_in(declared, downlink_.sample_rate)) {
    violation("a frame of " + std::to_string(pcm->size()) + " samples where hello declared " +
              std::to_string(declared.count()) + " ms");
  }
  heard_.insert(heard_.end(), pcm->begin(), pcm->end());
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
}

void Device::Impl::stop_listening() {
  mic_open_ = listening_ = false;
  emit(EventKind::listen_stop);
  send(protocol::ListenStop{});
  state_ = State::idle;
}

void Device::Impl::open_mic() {
  if (mic_open_) return;
  mic_open_ = true;
  encoder_->reset();
  mic_next_ = Clock::now() + settings_.frame;
  mic_timer_.cancel();
}

Task<> Device::Impl::mic_loop() {
  const auto self = shared_from_this();
  while (!closing_) {
    const bool open = mic_open_;
    mic_timer_.expires_at(open ? mic_next_ : TimePoint::max());
    co_await mic_timer_.async_wait(kAwait);
    if (open && mic_open_ && Clock::now() >= mic_next_) send_frame();
  }
}

void Device::Impl::send_frame() {
  if (voice_end_ && !utterance_began_ && microphone_.talking())
    utterance_began_ = mic_next_ - settings_.frame;
  const auto samples = microphone_.next_frame();
  // A frame is sent when its last sample was recorded; the next one is due a frame later, however late this
  // is.
  const auto recorded = std::exchange(mic_next_, mic_next_ + settings_.frame);
  if (recorded >= stalled_until_) {
    const auto packet = encoder_->encode(samples);
    if (!packet) return fail(packet.error());
    auto frame = protocol::write_frame(static_cast<protocol::Framing>(settings_.version),
                                       protocol::FrameType::opus, *packet, 0);
    if (!frame) return fail(frame.error());
    socket_->send_binary(std::make_shared<const std::vector<std::uint8_t>>(std::move(*frame)));
  }
  if (utterance_began_ && voice_end_ && recorded >= *utterance_began_ + *voice_end_) {
    emit_at(*utterance_began_ + *voice_end_, EventKind::speech_end, label_);
    voice_end_.reset();
  }
  if (utterance_began_ && !microphone_.talking()) {
    utterance_began_.reset();
    said_at_ = recorded;
    notify();
  }
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
