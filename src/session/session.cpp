#include "parley/session/session.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "parley/core/hex.hpp"
#include "parley/core/log.hpp"
#include "session/running_reply.hpp"

namespace parley::session {
namespace {

/// JSON messages a second that no device needs more of, and what may come at once (a tool list of 64 pages).
constexpr double kMessagesPerSecond = 50;
constexpr double kMessageBurst = 200;
/// Lines about one session's bad input; the rest is only counted.
constexpr unsigned kMaxOffenceLines = 5;
constexpr Millis kToolListTimeout{10'000};
/// How long speech is kept waiting for a list of tools; then it is recognised without the device's.
constexpr Millis kToolPatience{2'000};
/// Frames beyond real time in 10 s that a network which stalled has no part in.
constexpr int kMaxDroppedFrames = 1000;

}  // namespace

std::shared_ptr<Session> Session::make(Wiring wiring) {
  return std::shared_ptr<Session>(new Session(std::move(wiring)));
}

Session::Session(Wiring wiring)
    : wiring_(std::move(wiring)),
      id_(random_hex(16)),
      machine_(wiring_.runtime->profile->session),
      host_(wiring_.scheduler, wiring_.caller.device_id, wiring_.runtime->profile->session.tool_timeout),
      tools_changed_(wiring_.executor),
      history_(wiring_.runtime->profile->session.max_history_turns,
               wiring_.runtime->profile->session.max_history_tokens),
      recalled_changed_(wiring_.executor),
      persona_(wiring_.runtime->persona),
      voice_(wiring_.runtime->profile->voice),
      timer_(wiring_.scheduler->make_timer()),
      message_rate_(kMessagesPerSecond, kMessageBurst),
      audio_rate_(1.0,
                  std::chrono::duration<double>(wiring_.runtime->profile->audio.max_uplink_burst).count()),
      dropped_audio_(kMaxDroppedFrames) {
  if (const auto& remote = wiring_.runtime->mcp_servers) {
    for (auto& server : remote->for_session(device_id(), wiring_.executor)) host_.add(std::move(server));
  }
}

Session::~Session() = default;

Task<> Session::run() {
  const auto self = shared_from_this();
  auto hello = co_await handshake();
  if (!hello) {
    log::info("no session: the handshake failed", {{"device", device_id()},
                                                   {"address", wiring_.caller.remote_address},
                                                   {"why", hello.error().message}});
    wiring_.runtime->metrics->connection_refused("handshake");
    tear_down("handshake");
    co_return;
  }
  wiring_.runtime->metrics->session_began();
  log::info("session began", {{"session", id_},
                              {"device", device_id()},
                              {"address", wiring_.caller.remote_address},
                              {"token", wiring_.caller.token_name},
                              {"framing", static_cast<int>(framing_)},
                              {"mcp", hello_.mcp}});
  if (wiring_.on_ready) wiring_.on_ready(self);
  add_own_tools();
  recall();
  if (hello_.mcp) {
    tools_settled_ = false;
    tools_patience_ = wiring_.scheduler->now() + kToolPatience;
    asio::co_spawn(wiring_.executor, set_up_tools(self), asio::detached);
  }
  perform(turn::Rest{});
  while (true) {
    const auto message = co_await wiring_.connection->read();
    if (!message) {
      if (close_reason_.empty()) close_reason_ = message.error().message;
      break;
    }
    guarded([&] { take_message(*message); });
  }
  tear_down("closed");
  wiring_.runtime->metrics->session_ended(close_reason_ == "closed by the device" ? "device" : "server");
  log::info("session ended", {{"session", id_}, {"device", device_id()}, {"why", close_reason_}});
}

Task<Result<protocol::DeviceHello>> Session::handshake() {
  const auto& server = wiring_.runtime->settings->server;
  bool late = false;
  timer_->arm(wiring_.scheduler->now() + server.handshake_timeout, [this, &late] {
    late = true;
    wiring_.connection->close(1002, "no hello came");
  });
  while (true) {
    const auto message = co_await wiring_.connection->read();
    if (!message) {
      timer_->cancel();
      if (late) co_return Error(Errc::timeout, "no hello came");
      co_return message.error();
    }
    if (late) continue;
    if (!message->is_text) {
      offend("before_hello", "audio before hello");
      continue;
    }
    auto parsed = protocol::parse_device_message(message->text());
    const auto* hello = parsed ? std::get_if<protocol::DeviceHello>(&*parsed) : nullptr;
    if (hello == nullptr && (parsed || !protocol::is_hello(message->text()))) {
      offend("before_hello", parsed ? "a message before hello" : parsed.error().message);
      continue;
    }
    const auto version = parsed ? protocol::negotiate_version(*hello, wiring_.caller.protocol_version)
                                : Result<int>(parsed.error());
    if (!version) {
      timer_->cancel();
      close_reason_ = version.error().message;
      wiring_.connection->close(1002, close_reason_);
      // The close handshake is the device's to finish.
      while (co_await wiring_.connection->read()) {
      }
      co_return version.error();
    }
    timer_->cancel();
    framing_ = static_cast<protocol::Framing>(*version);
    hello_ = *hello;
    hello_.raw = {};
    break;
  }
  const auto& audio = wiring_.runtime->profile->audio;
  protocol::ServerHello answer;
  answer.audio.sample_rate = audio.downlink_rate;
  answer.audio.frame_duration = static_cast<int>(audio.downlink_frame.count());
  send(answer);

  Ear::Wiring ear;
  ear.runtime = wiring_.runtime;
  ear.scheduler = wiring_.scheduler;
  ear.executor = wiring_.executor;
  ear.frame_duration = Millis(hello_.audio.frame_duration);
  ear.post = [weak = weak_from_this()](turn::Event event) {
    if (const auto self = weak.lock()) self->post(std::move(event));
  };
  ear_ = std::make_shared<Ear>(std::move(ear));
  connect_engines();
  co_return hello_;
}

void Session::connect_engines() {
  const auto& engines = wiring_.runtime->engines;
  engines.asr->connect_ahead(wiring_.executor);
  engines.llm->connect_ahead(wiring_.executor);
  engines.tts->connect_ahead(wiring_.executor);
}

Task<> Session::set_up_tools(std::shared_ptr<Session> self) {
  Result<> listed;
  try {
    listed = co_await self->list_tools();
  } catch (const std::exception& escaped) {
    listed = Error(Errc::internal, escaped.what());
  }
  if (!listed) {
    log::warn("the device's tools are not usable", {{"session", self->id_}, {"why", listed.error().message}});
  }
  self->tools_settled_ = true;
  self->tools_changed_.notify();
  if (self->ended_) co_return;
  self->look_at_reminders();
  if (!listed) co_return;
  log::info("tools listed", {{"session", self->id_}, {"tools", self->host_.tools()->tools.size()}});
  self->wiring_.runtime->engines.asr->warm_up(self->asr_request());
  self->refresh_status();
}

Task<Result<>> Session::list_tools() {
  link_ = std::make_unique<mcp::DeviceLink>(
      wiring_.executor, wiring_.scheduler,
      [this](const nlohmann::json& payload) { send(protocol::McpMessage{payload}); });
  const auto ready = co_await link_->initialize(wiring_.vision, kToolListTimeout);
  if (!ready) co_return ready.error();
  auto tools = co_await link_->list_tools(false, kToolListTimeout);
  if (!tools) co_return tools.error();
  host_.set_device(link_.get(), std::move(*tools));
  co_return Result<>();
}

/// The session's boundary: what escapes from its code ends this session and no other.
template <class Work>
void Session::guarded(Work work) {
  try {
    work();
  } catch (const std::exception& escaped) {
    log::error("a session ends by a defect", {{"session", id_}, {"what", escaped.what()}});
    if (close_reason_.empty()) close_reason_ = "internal error";
    wiring_.connection->close(1011, "internal error");
    tear_down("internal error");
  }
}

void Session::take_message(const net::Incoming& message) {
  if (!close_reason_.empty()) return;  // It is being closed.
  draining_ = true;                    // Events wait until the message has been dealt with.
  if (message.is_text) {
    take_text(message.text());
  } else {
    take_binary(message.bytes);
  }
  draining_ = false;
  drain();
}

void Session::take_text(std::string_view text) {
  if (!message_rate_.take(1, wiring_.scheduler->now())) {
    offend("too_many_messages", "more messages than a device has reason to send");
    return;
  }
  const auto message = protocol::parse_device_message(text);
  if (!message) {
    offend("message", message.error().message);
    return;
  }
  take(*message);
}

void Session::take_binary(protocol::Bytes bytes) {
  const auto frame = protocol::parse_frame(framing_, bytes);
  if (!frame) {
    offend("frame", frame.error().message);
    return;
  }
  if (frame->type == protocol::FrameType::json) {
    take_text({reinterpret_cast<const char*>(frame->payload.data()), frame->payload.size()});
    return;
  }
  wiring_.runtime->metrics->frames_in(bytes.size());
  // What it holds, not what hello declared: clients that declare nothing send 20 ms.
  const auto length = audio::packet_duration(frame->payload, Millis(hello_.audio.frame_duration));
  const auto seconds = std::chrono::duration<double>(length).count();
  if (!audio_rate_.take(seconds, wiring_.scheduler->now())) {
    wiring_.runtime->metrics->frame_dropped("faster_than_real_time");
    if (dropped_audio_.offend(wiring_.scheduler->now()))
      offend("audio_rate", "audio comes faster than real time");
    return;
  }
  if (!ear_->listening()) {
    wiring_.runtime->metrics->frame_dropped("not_listening");
    return;
  }
  if (const auto heard = ear_->push(frame->payload); !heard) {
    wiring_.runtime->metrics->frame_dropped("undecodable");
    offend("opus", heard.error().message);
  }
}

void Session::take(const protocol::DeviceMessage& message) {
  if (const auto* start = std::get_if<protocol::ListenStart>(&message)) {
    post(turn::ListenStarted{start->mode});
  } else if (std::holds_alternative<protocol::ListenStop>(message)) {
    post(turn::ListenStopped{});
  } else if (const auto* detect = std::get_if<protocol::ListenDetect>(&message)) {
    post(turn::WakeWordHeard{detect->text});
  } else if (const auto* abort = std::get_if<protocol::Abort>(&message)) {
    post(turn::AbortRequested{abort->reason});
  } else if (const auto* mcp = std::get_if<protocol::McpMessage>(&message)) {
    if (!link_ || !link_->on_message(mcp->payload)) offend("mcp", "a malformed MCP payload");
  } else if (std::holds_alternative<protocol::DeviceHello>(message)) {
    offend("second_hello", "hello came twice");
  } else if (const auto* ignored = std::get_if<protocol::IgnoredMessage>(&message)) {
    log::debug("message ignored", {{"session", id_}, {"type", ignored->type}});
  }
}

void Session::offend(std::string_view kind, const std::string& why) {
  wiring_.runtime->metrics->bad_input(kind);
  if (++offences_logged_ <= kMaxOffenceLines) {
    log::warn("bad input from a device",
              {{"session", id_}, {"device", device_id()}, {"kind", kind}, {"why", why}});
  }
  if (flood_.offend(wiring_.scheduler->now()) && close_reason_.empty()) {
    close_reason_ = "a flood of bad input";
    wiring_.connection->close(1008, close_reason_);
  }
}

void Session::post(turn::Event event) {
  if (ended_) return;
  events_.push_back(std::move(event));
  wake();
}

void Session::wake() {
  // Never handled within the caller: it may be in the middle of what the event will take away.
  if (draining_ || std::exchange(drain_posted_, true)) return;
  asio::post(wiring_.executor, [self = shared_from_this()] {
    self->drain_posted_ = false;
    self->guarded([&] { self->drain(); });
  });
}

bool Session::stale(const turn::Event& event) const {
  const auto* began = std::get_if<turn::SpeechBegan>(&event);
  const auto* ended = std::get_if<turn::SpeechEnded>(&event);
  return (began != nullptr && began->epoch != ear_->epoch()) ||
         (ended != nullptr && ended->epoch != ear_->epoch());
}

void Session::drain() {
  if (std::exchange(draining_, true)) return;
  while (!ended_ && (!events_.empty() || begin_announcement())) {
    const auto event = std::move(events_.front());
    events_.erase(events_.begin());
    if (stale(event)) continue;
    for (const auto& action : machine_.on(event)) {
      std::visit([this](const auto& what) { perform(what); }, action);
    }
  }
  draining_ = false;
}

void Session::tear_down(std::string_view why) {
  if (std::exchange(ended_, true)) return;
  timer_->cancel();
  reminders_watch_.reset();
  reminder_timer_.reset();
  if (ear_) ear_->close();
  if (reply_) perform(turn::CancelReply{});
  if (record_) {
    turn::EndTurn end{machine_.generation(), turn::Outcome::interrupted, "the device is gone"};
    perform(end);
  }
  if (link_) link_->close();
  wiring_.connection->close(1000, std::string(why));
}

void Session::shut_down() {
  asio::post(wiring_.executor, [self = shared_from_this()] { self->post(turn::ShutdownRequested{}); });
}

void Session::close(std::uint16_t code, std::string reason) {
  asio::post(wiring_.executor, [self = shared_from_this(), code, reason = std::move(reason)] {
    if (self->close_reason_.empty()) self->close_reason_ = reason;
    self->wiring_.connection->close(code, reason);
  });
}

}  // namespace parley::session
