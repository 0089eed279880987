// What the turn machine asks for, carried out.
#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <utility>

#include "parley/core/log.hpp"
#include "parley/session/session.hpp"
#include "session/running_reply.hpp"

namespace parley::session {
namespace {

/// A closed connection ends a device's playback: it gets that long, and the send-ahead, to drain its buffer.
constexpr Millis kDrain{300};
/// Of one utterance; a person who goes on and on pausing is not worth more.
constexpr int kMaxDrafts = 3;
/// How long an answer waits for the turns of earlier sessions; then it goes without.
constexpr Millis kRecallPatience{50};
/// A device answers `tts stop` and its wake word with `listen start`, and who woke it is about to speak: so
/// long nothing is announced.
constexpr Millis kBreath{1'000};
/// An announcement that could not be spoken is tried again then.
constexpr Millis kAnnounceAgain{60'000};

}  // namespace

void Session::send(const protocol::ServerMessage& message) {
  wiring_.connection->send_text(protocol::write_server_message(message, id_));
}

void Session::arm(Millis wait, turn::Event event) {
  if (wait == Millis::zero()) {
    timer_->cancel();
    return;
  }
  timer_->arm(wiring_.scheduler->now() + wait, [this, event = std::move(event)] { post(event); });
}

void Session::start_listening(bool guard) {
  const auto listening = ear_->listen(machine_.mode(), guard);
  if (!listening) {
    log::error("a session cannot listen", {{"session", id_}, {"why", listening.error().message}});
    return;
  }
  if (tools_settled_) wiring_.runtime->engines.asr->warm_up(asr_request());
  connect_engines();
}

engine::AsrRequest Session::asr_request() const {
  engine::AsrRequest request;
  request.language = wiring_.runtime->profile->language;
  request.grammar = wiring_.runtime->engines.llm->grammar(*host_.tools());
  return request;
}

Task<engine::AsrRequest> Session::asr_request_when_ready(std::shared_ptr<Session> self) {
  const auto patience = self->wiring_.scheduler->make_timer();
  patience->arm(self->tools_patience_, [self] { self->tools_changed_.notify(); });
  while (!self->tools_settled_ && self->wiring_.scheduler->now() < self->tools_patience_)
    co_await self->tools_changed_.wait();
  co_return self->asr_request();
}

void Session::perform(const turn::StartListening& /*action*/) {
  start_listening(false);
  announce_from_ = std::max(announce_from_, wiring_.scheduler->now() + kBreath);
  arm(wiring_.runtime->profile->session.no_voice_timeout, turn::NoVoiceTimedOut{});
}

void Session::perform(const turn::StopListening& /*action*/) {
  timer_->cancel();
  ear_->stop();
}

void Session::perform(const turn::EndUtterance& /*action*/) {
  ear_->end_utterance();
}

void Session::perform(const turn::GuardForVoice& /*action*/) {
  // Where the echo is to be cancelled here (features.aec), the device would hear itself.
  if (hello_.aec || !wiring_.runtime->profile->session.voice_barge_in) {
    ear_->stop();
  } else {
    start_listening(true);
  }
}

void Session::perform(const turn::BeginTurn& /*action*/) {
  timer_->cancel();
  record_ = std::make_shared<dialogue::TurnRecord>();
  user_text_.clear();
  announced_ = false;
  refresh_status();
}

void Session::perform(const turn::OpenRecogniser& action) {
  // What can be said depends on the tools; a first word may come before they are listed.
  ear_->open_recogniser(action.generation, asr_request_when_ready(shared_from_this()), record_);
}

void Session::perform(const turn::FinishRecogniser& /*action*/) {
  ear_->finish_recogniser();
}
void Session::perform(const turn::DropRecogniser& /*action*/) {
  ear_->drop_recogniser();
}
void Session::perform(const turn::StartDraft& action) {
  if (draft_ && dialogue::same_words(draft_text_, action.text)) return;
  drop_draft();
  if (!recalled_) return;  // It would answer without what was said before.
  if (record_->drafts_dropped == kMaxDrafts) return;
  draft_text_ = action.text;
  draft_ = std::make_unique<dialogue::Draft>(wiring_.executor, wiring_.scheduler->now(),
                                             wiring_.runtime->engines.llm, chat_request(action.text));
}

void Session::drop_draft() {
  if (!draft_) return;
  draft_.reset();
  if (record_) ++record_->drafts_dropped;
}

std::unique_ptr<dialogue::Draft> Session::take_draft(const std::string& text) {
  if (draft_ && !dialogue::same_words(draft_text_, text)) drop_draft();
  return std::exchange(draft_, nullptr);
}

void Session::perform(const turn::SendStt& action) {
  send(protocol::Stt{action.text});
}
void Session::perform(const turn::SendTtsStart& /*action*/) {
  send(protocol::TtsStart{});
  tts_started_ = wiring_.scheduler->now();
}

void Session::perform(const turn::SendTtsStop& /*action*/) {
  send(protocol::TtsStop{});
  tts_stopped_ = wiring_.scheduler->now();
  if (record_) record_->tts_stop = wiring_.scheduler->now();
}

dialogue::ReplyTools Session::reply_tools() {
  dialogue::ReplyTools tools;
  tools.scheduler = wiring_.scheduler;
  tools.llm = wiring_.runtime->engines.llm;
  tools.tts = wiring_.runtime->engines.tts;
  tools.apology_clip = wiring_.runtime->apology_clip;
  tools.profile = wiring_.runtime->profile;
  tools.voice = &voice_;
  tools.call = [this](const engine::ToolCall& call) { return host_.call(call); };
  tools.where = [this](std::string_view name) { return std::string(host_.where(name)); };
  return tools;
}

void Session::perform(const turn::StartReply& action) {
  const auto reply = std::make_shared<RunningReply>();
  reply_ = reply;
  announced_ = action.kind == turn::ReplyKind::announcement;
  reply->generation = action.generation;
  reply->kind = action.kind;
  reply->text = action.text;
  Playout::Wire wire;
  wire.connection = wiring_.connection;
  wire.session_id = id_;
  wire.framing = framing_;
  wire.scheduler = wiring_.scheduler;
  wire.metrics = wiring_.runtime->metrics;
  wire.executor = wiring_.executor;
  wire.timestamp = downlink_timestamp_;
  wire.earliest = tts_started_ + wiring_.runtime->profile->audio.start_lead;
  if (action.kind == turn::ReplyKind::announcement) {
    // What began to be said is said. Given back where that does not come about.
    reply->claim = std::exchange(claim_, nullptr);
    wire.on_begun = [claim = reply->claim] { claim->delivered(); };
  }
  reply->playout = std::make_shared<Playout>(std::move(wire), wiring_.runtime->profile->audio, record_);
  reply->progress->voice = reply->playout;
  reply->progress->record = record_;
  if (action.kind == turn::ReplyKind::answer) {
    user_text_ = action.text;
    host_.begin_turn(action.text);
    reply->draft = take_draft(action.text);
  }
  const auto self = shared_from_this();
  asio::co_spawn(
      wiring_.executor, run_reply(self, reply),
      asio::bind_cancellation_slot(reply->stop.slot(), [self, reply](const std::exception_ptr& thrown) {
        if (reply->cancelled) return;
        turn::ReplyPlayed played;
        played.generation = reply->generation;
        const auto& result = reply->progress->result;
        played.end_conversation = result.end_conversation || reply->end_conversation;
        played.failed = result.failed || thrown != nullptr;
        played.why = thrown ? "the reply was interrupted by a defect" : result.why;
        self->post(std::move(played));
      }));
}

Task<> Session::run_reply(std::shared_ptr<Session> self, std::shared_ptr<RunningReply> reply) {
  if (reply->kind == turn::ReplyKind::answer) {
    co_await recalled(self, self->wiring_.scheduler->now() + kRecallPatience);
    co_await dialogue::answer(self->reply_tools(), self->chat_request(reply->text), reply->progress,
                              std::move(reply->draft));
  } else {
    auto tools = self->reply_tools();
    // An apology is no reminder: it is tried again instead.
    if (reply->kind == turn::ReplyKind::announcement) tools.apology_clip = nullptr;
    co_await dialogue::say(std::move(tools), reply->text, reply->progress);
  }
  co_await reply->playout->finish();
}

void Session::perform(const turn::CancelReply& /*action*/) {
  if (!reply_) return;
  reply_->cancelled = true;
  host_.turn_interrupted();
  remember(true);
  reply_->playout->cancel();
  reply_->stop.emit(asio::cancellation_type::terminal);
  reply_.reset();
}

void Session::perform(const turn::EndTurn& action) {
  if (reply_) {
    remember(false);
    if (reply_->kind == turn::ReplyKind::announcement) {
      if (action.outcome == turn::Outcome::failed) announce_from_ = wiring_.scheduler->now() + kAnnounceAgain;
      // Where the voice had no sound for it, it has none the next time either.
      if (action.outcome == turn::Outcome::completed) reply_->claim->delivered();
    }
    reply_.reset();
  }
  drop_draft();
  log_turn(action);
  record_.reset();
}

void Session::observe_stages() {
  auto& metrics = *wiring_.runtime->metrics;
  const auto stage = [&](const char* name, const std::optional<TimePoint>& from,
                         const std::optional<TimePoint>& to) {
    if (from && to) metrics.stage(name, to_ms(*to - *from));
  };
  const auto& record = *record_;
  stage("endpoint", record.speech_ended, record.endpoint_decided);
  stage("asr", record.endpoint_decided, record.asr_final);
  stage("llm", record.asr_final, record.llm_first_text);
  stage("tts", record.llm_first_text, record.tts_first_audio);
  stage("answer", record.speech_ended, record.first_frame);
  for (const auto& tool : record.tools) metrics.stage("tool", to_ms(tool.took));
  if (const auto added = record.added_ms()) metrics.stage("added", *added);
}

void Session::log_turn(const turn::EndTurn& end) {
  if (!record_) return;
  wiring_.runtime->metrics->turn_ended(to_string(end.outcome));
  observe_stages();
  nlohmann::ordered_json line;
  line["ts"] = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  line["session"] = id_;
  line["device"] = device_id();
  line["turn"] = end.generation;
  line["mode"] = protocol::to_string(machine_.mode());
  line["framing"] = static_cast<int>(framing_);
  if (announced_) line["kind"] = "announcement";
  line["outcome"] = to_string(end.outcome);
  if (!end.why.empty()) line["why"] = end.why;
  if (wiring_.runtime->settings->log_private) {
    line["heard"] = record_->heard_text;
    line["said"] = record_->reply_text;
  }
  const auto times = record_->times();
  for (const auto& [key, value] : times.items()) line[key] = value;
  line["llm_rounds"] = record_->llm_rounds;
  line["underruns"] = record_->underruns;
  wiring_.runtime->turn_log->write(line);
}

void Session::perform(const turn::Rest& /*action*/) {
  announce_from_ = std::max(announce_from_, wiring_.scheduler->now() + kBreath);
  arm(wiring_.runtime->profile->session.idle_timeout, turn::IdleTimedOut{});
}

void Session::perform(const turn::Close& action) {
  if (close_reason_.empty()) close_reason_ = action.reason;
  const auto close = [connection = wiring_.connection, action] {
    connection->close(action.code, action.reason);
  };
  const auto drained = tts_stopped_ + wiring_.runtime->profile->audio.send_ahead + kDrain;
  if (wiring_.scheduler->now() >= drained) {
    close();
  } else {
    timer_->arm(drained, close);
  }
}

}  // namespace parley::session
