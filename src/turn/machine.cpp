#include "parley/turn/machine.hpp"

#include <utility>

namespace parley::turn {

using protocol::ListenMode;

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::completed:
      return "completed";
    case Outcome::interrupted:
      return "interrupted";
    case Outcome::no_speech:
      return "no_speech";
    case Outcome::rejected:
      return "rejected";
    case Outcome::failed:
      return "failed";
  }
  return "unknown";
}

Actions Machine::on(const Event& event) {
  actions_.clear();
  if (state_ != State::closed) std::visit([this](const auto& what) { handle(what); }, event);
  return std::exchange(actions_, {});
}

void Machine::begin_turn() {
  ++generation_;
  in_turn_ = true;
  reply_outcome_ = Outcome::completed;
  reply_why_.clear();
  act(BeginTurn{generation_});
}

void Machine::end_turn(Outcome outcome, std::string why) {
  if (!in_turn_) return;
  in_turn_ = false;
  act(EndTurn{generation_, outcome, std::move(why)});
}

void Machine::interrupt(std::string why) {
  wake_start_pending_ = false;
  switch (state_) {
    case State::hearing:
    case State::recognising:
      act(DropRecogniser{});
      break;
    case State::replying:
      act(CancelReply{});
      act(SendTtsStop{});
      break;
    default:
      break;
  }
  end_turn(Outcome::interrupted, std::move(why));
}

void Machine::reply(ReplyKind kind, std::string text) {
  // Devices clear their queue some milliseconds after `tts start`, so it leaves long before the first frame
  // (PROTOCOL.md, section 4).
  act(SendTtsStart{});
  act(StartReply{generation_, kind, std::move(text)});
  state_ = State::replying;
  if (realtime() && microphone_open_) {
    act(GuardForVoice{});
  } else {
    act(StopListening{});
    microphone_open_ = false;
  }
}

void Machine::listen() {
  state_ = State::listening;
  microphone_open_ = true;
  act(StartListening{mode_});
}

void Machine::settle(bool device_listens) {
  if (close_after_turn_) {
    close(close_code_, close_reason_);
  } else if (closing_) {
    close(1001, "the server is stopping");
  } else if (device_listens) {
    listen();
  } else {
    state_ = State::idle;
    microphone_open_ = false;
    act(StopListening{});
    act(Rest{});
  }
}

void Machine::close(std::uint16_t code, std::string reason) {
  state_ = State::closed;
  act(StopListening{});
  act(Close{code, std::move(reason)});
}

void Machine::handle(const ListenStarted& event) {
  const bool follows_wake_word = std::exchange(wake_start_pending_, false);
  if (follows_wake_word && state_ == State::replying) {
    // The greeting goes on; in realtime the microphone is open from here.
    mode_ = event.mode;
    if (realtime()) {
      microphone_open_ = true;
      act(GuardForVoice{});
    }
    return;
  }
  if (closing_) {
    if (!in_turn_) close(1001, "the server is stopping");
    return;
  }
  close_after_turn_ = false;  // Somebody is there after all.
  interrupt("listen start");
  mode_ = event.mode;
  listen();
}

void Machine::handle(const ListenStopped& /*event*/) {
  switch (state_) {
    case State::listening:
    case State::hearing:
      microphone_open_ = false;
      act(EndUtterance{});
      break;
    default:
      microphone_open_ = false;  // A late stop: what runs is not touched.
      break;
  }
}

void Machine::handle(const WakeWordHeard& event) {
  close_after_turn_ = false;
  if (state_ == State::replying || state_ == State::hearing || state_ == State::recognising)
    interrupt("wake word");
  if (closing_) {
    close(1001, "the server is stopping");
    return;
  }
  if (!event.text.empty()) act(SendStt{event.text});
  if (settings_->greeting.empty()) {
    settle(false);
    return;
  }
  wake_start_pending_ = true;
  microphone_open_ = false;
  begin_turn();
  reply(ReplyKind::greeting, settings_->greeting);
}

void Machine::handle(const AbortRequested& event) {
  if (!in_turn_) return;
  const bool was_realtime = realtime() && microphone_open_;
  interrupt(event.reason.empty() ? "abort" : event.reason);
  settle(was_realtime);
}

void Machine::handle(const SpeechBegan& /*event*/) {
  if (state_ == State::replying) {
    if (!settings_->voice_barge_in) return;
    close_after_turn_ = false;
    interrupt("voice");
  } else if (state_ != State::listening) {
    return;
  }
  begin_turn();
  state_ = State::hearing;
  act(OpenRecogniser{generation_});
}

void Machine::handle(const SpeechEnded& event) {
  const bool open = microphone_open_;  // False: the device itself closed it.
  if (state_ == State::listening && !open) {
    // Push to talk was released with nothing heard.
    begin_turn();
    end_turn(Outcome::no_speech, "nothing was heard");
    settle(false);
    return;
  }
  if (state_ != State::hearing) return;
  if (event.too_short) {
    act(DropRecogniser{});
    end_turn(Outcome::no_speech, "too short");
    settle(open && mode_ != ListenMode::manual);
    return;
  }
  state_ = State::recognising;
  act(FinishRecogniser{generation_});
}

void Machine::handle(const PartialStood& event) {
  if (event.generation != generation_ || (state_ != State::recognising && state_ != State::hearing)) return;
  act(StartDraft{event.text});
}

void Machine::handle(const Recognised& event) {
  if (event.generation != generation_ || (state_ != State::recognising && state_ != State::hearing)) return;
  const bool open = microphone_open_ && mode_ != ListenMode::manual;
  if (event.rejected) {
    // An open microphone hears everything: only who pressed a button or said the wake word is answered.
    if (realtime() || settings_->not_understood.empty()) {
      end_turn(Outcome::rejected, "not a command");
      settle(open);
      return;
    }
    reply(ReplyKind::not_understood, settings_->not_understood);
    reply_outcome_ = Outcome::rejected;
    reply_why_ = "not a command";
    return;
  }
  if (event.text.empty()) {
    end_turn(Outcome::no_speech, "no words");
    settle(open);
    return;
  }
  act(SendStt{event.text});
  reply(ReplyKind::answer, event.text);
}

void Machine::handle(const RecognitionFailed& event) {
  if (event.generation != generation_ || (state_ != State::recognising && state_ != State::hearing)) return;
  act(DropRecogniser{});
  reply(ReplyKind::apology, settings_->apology);
  reply_outcome_ = Outcome::failed;
  reply_why_ = event.why;
}

void Machine::handle(const ReplyPlayed& event) {
  if (event.generation != generation_ || state_ != State::replying) return;
  act(SendTtsStop{});
  if (event.failed) {
    end_turn(Outcome::failed, event.why);
  } else {
    end_turn(reply_outcome_, std::exchange(reply_why_, {}));
  }
  if (event.end_conversation && !close_after_turn_) {
    close_after_turn_ = true;
    close_code_ = 1000;
    close_reason_ = "the conversation is over";
  }
  wake_start_pending_ = false;
  settle(realtime() && microphone_open_);
}

bool Machine::can_announce() const {
  const bool awaits_voice = state_ == State::listening && mode_ != ListenMode::manual;
  return !closing_ && (state_ == State::idle || awaits_voice);
}

void Machine::handle(const AnnouncementDue& event) {
  if (!can_announce()) return;
  begin_turn();
  reply(ReplyKind::announcement, event.text);
}

void Machine::say_farewell(std::string why) {
  close_after_turn_ = true;
  close_code_ = 1000;
  close_reason_ = std::move(why);
  if (settings_->farewell.empty()) {
    close(close_code_, close_reason_);
    return;
  }
  microphone_open_ = false;
  begin_turn();
  reply(ReplyKind::farewell, settings_->farewell);
}

void Machine::handle(const NoVoiceTimedOut& /*event*/) {
  if (state_ == State::listening) say_farewell("no voice was heard");
}

void Machine::handle(const IdleTimedOut& /*event*/) {
  if (state_ == State::idle) say_farewell("nothing happened");
}

void Machine::handle(const ShutdownRequested& /*event*/) {
  closing_ = true;
  if (!in_turn_) close(1001, "the server is stopping");
}

}  // namespace parley::turn
