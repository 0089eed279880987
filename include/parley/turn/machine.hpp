#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "parley/config/settings.hpp"
#include "parley/protocol/messages.hpp"

namespace parley::turn {

/// Counts the turns of a session. What carries an older number than the machine's is stale and ignored.
using Generation = std::uint64_t;

enum class Outcome { completed, interrupted, no_speech, rejected, failed };
std::string_view to_string(Outcome outcome);

// --- what happens -----------------------------------------------------------------------------------
struct ListenStarted {
  protocol::ListenMode mode;
};
struct ListenStopped {};
struct WakeWordHeard {
  std::string text;
};
struct AbortRequested {
  std::string reason;
};
/// The detector heard an utterance begin; while a reply plays, this is a barge-in.
struct SpeechBegan {
  std::uint64_t epoch = 0;  ///< of the listening that heard it; the session drops those of an older one
};
struct SpeechEnded {
  bool too_short = false;
  std::uint64_t epoch = 0;
};
/// The recogniser's one result for the utterance; empty text: nothing was understood.
struct Recognised {
  Generation generation;
  std::string text;
  bool rejected = false;
};
/// A partial text that did not change for `draft_after`.
struct PartialStood {
  Generation generation;
  std::string text;
};
struct RecognitionFailed {
  Generation generation;
  std::string why;
};
/// Everything of the reply has been played on the device (by the pacer's reckoning).
struct ReplyPlayed {
  Generation generation;
  bool end_conversation = false;
  bool failed = false;
  std::string why;  ///< of a failure
};
/// Something is to be said that nobody asked for just now. Ignored where can_announce() is false.
struct AnnouncementDue {
  std::string text;
};
struct NoVoiceTimedOut {};
struct IdleTimedOut {};
/// The server stops: what runs may end, nothing new begins.
struct ShutdownRequested {};

using Event = std::variant<ListenStarted, ListenStopped, WakeWordHeard, AbortRequested, SpeechBegan,
                           SpeechEnded, PartialStood, Recognised, RecognitionFailed, ReplyPlayed,
                           AnnouncementDue, NoVoiceTimedOut, IdleTimedOut, ShutdownRequested>;

// --- what to do about it, in this order -------------------------------------------------------------
/// Hear what comes from now on as the beginning of a new utterance.
struct StartListening {
  protocol::ListenMode mode;
};
/// Drop audio that comes from now on.
struct StopListening {};
/// Push to talk was released: end the running utterance (SpeechEnded follows).
struct EndUtterance {};
/// Realtime: keep hearing while the reply plays, for barge-in only.
struct GuardForVoice {};
struct BeginTurn {
  Generation generation;
};
struct OpenRecogniser {
  Generation generation;
};
struct FinishRecogniser {
  Generation generation;
};
struct DropRecogniser {};
/// Ask the model for an answer to this, in case it stays.
struct StartDraft {
  std::string text;
};
struct SendStt {
  std::string text;
};
struct SendTtsStart {};
struct SendTtsStop {};
enum class ReplyKind {
  answer,    ///< to what the user said: `text`
  greeting,  ///< a configured text, like those below
  not_understood,
  apology,
  farewell,
  announcement,  ///< of a reminder
};
struct StartReply {
  Generation generation;
  ReplyKind kind;
  std::string text;
};
struct CancelReply {};
struct EndTurn {
  Generation generation;
  Outcome outcome;
  std::string why;
};
/// Nothing is heard or said: codecs may go, the idle time counts.
struct Rest {};
struct Close {
  std::uint16_t code;
  std::string reason;
};

using Action = std::variant<StartListening, StopListening, EndUtterance, GuardForVoice, BeginTurn,
                            OpenRecogniser, FinishRecogniser, DropRecogniser, StartDraft, SendStt,
                            SendTtsStart, SendTtsStop, StartReply, CancelReply, EndTurn, Rest, Close>;
using Actions = std::vector<Action>;

/// The life of a session as a pure function of what happens: no I/O, no clock. Promises: each SendTtsStart is
/// followed by exactly one SendTtsStop; each BeginTurn by exactly one EndTurn with the same generation; after
/// CancelReply nothing of that turn is sent.
class Machine {
 public:
  enum class State { idle, listening, hearing, recognising, replying, closed };

  explicit Machine(const config::SessionSettings& settings) : settings_(&settings) {}

  /// What to do about `event`.
  Actions on(const Event& event);

  State state() const { return state_; }
  Generation generation() const { return generation_; }
  protocol::ListenMode mode() const { return mode_; }
  bool closing() const { return closing_; }
  /// Nobody is being heard or answered, and no button is held down to speak.
  bool can_announce() const;

 private:
  void handle(const ListenStarted& event);
  void handle(const ListenStopped& event);
  void handle(const WakeWordHeard& event);
  void handle(const AbortRequested& event);
  void handle(const SpeechBegan& event);
  void handle(const SpeechEnded& event);
  void handle(const PartialStood& event);
  void handle(const Recognised& event);
  void handle(const RecognitionFailed& event);
  void handle(const ReplyPlayed& event);
  void handle(const AnnouncementDue& event);
  void handle(const NoVoiceTimedOut& event);
  void handle(const IdleTimedOut& event);
  void handle(const ShutdownRequested& event);

  template <class A>
  void act(A action) {
    actions_.emplace_back(std::move(action));
  }
  void begin_turn();
  void end_turn(Outcome outcome, std::string why);
  /// Ends whatever turn runs, as interrupted; nothing of it survives.
  void interrupt(std::string why);
  void reply(ReplyKind kind, std::string text);
  void listen();
  /// After a turn: listen again where the microphone is still open, else rest; or close, when that was asked
  /// for.
  void settle(bool device_listens);
  void say_farewell(std::string why);
  void close(std::uint16_t code, std::string reason);
  bool realtime() const { return mode_ == protocol::ListenMode::realtime; }

  const config::SessionSettings* settings_;
  Actions actions_;
  State state_ = State::idle;
  Generation generation_ = 0;
  protocol::ListenMode mode_ = protocol::ListenMode::automatic;
  bool in_turn_ = false;
  bool microphone_open_ =
      false;  ///< the device said `listen start` and not (by itself or by a reply) the end of it
  bool wake_start_pending_ = false;  ///< the `listen start` that firmware sends right after `detect`
  Outcome reply_outcome_ = Outcome::completed;
  std::string reply_why_;
  bool close_after_turn_ = false;
  std::uint16_t close_code_ = 1000;
  std::string close_reason_;
  bool closing_ = false;
};

}  // namespace parley::turn
