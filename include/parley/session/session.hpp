#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "parley/dialogue/history.hpp"
#include "parley/mcp/host.hpp"
#include "parley/net/connection.hpp"
#include "parley/session/ear.hpp"
#include "parley/session/flood_guard.hpp"
#include "parley/session/playout.hpp"
#include "parley/session/runtime.hpp"
#include "parley/turn/machine.hpp"

namespace parley::session {

/// Who connected, from the HTTP upgrade.
struct Caller {
  std::string device_id;  ///< lower case; made up where the device sent none
  std::string client_id;
  std::string protocol_version;  ///< the header, as it came
  std::string remote_address;
  std::string token_name;
  bool nameless = false;  ///< the device id was made up: it will not come again
};

/// One device's connection from hello to the end. An actor: whatever happens becomes an event for the turn
/// machine, and its actions are carried out here. Lives on one I/O thread; only the calls marked so come from
/// others.
class Session : public std::enable_shared_from_this<Session> {
 public:
  struct Wiring {
    std::shared_ptr<const Runtime> runtime;
    std::shared_ptr<net::Connection> connection;
    std::shared_ptr<Scheduler> scheduler;
    asio::any_io_executor executor;
    Caller caller;
    mcp::VisionEndpoint vision;
    /// The device said hello and has its answer.
    std::function<void(const std::shared_ptr<Session>&)> on_ready;
  };

  static std::shared_ptr<Session> make(Wiring wiring);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  Session(Session&&) = delete;
  Session& operator=(Session&&) = delete;

  /// Returns when the connection is gone and everything of the session has been told to stop.
  Task<> run();

  /// Any thread: finish the running turn, then close with 1001.
  void shut_down();
  /// Any thread: close at once.
  void close(std::uint16_t code, std::string reason);

  const std::string& id() const { return id_; }
  const std::string& device_id() const { return wiring_.caller.device_id; }

 private:
  explicit Session(Wiring wiring);

  // session.cpp: what comes in
  Task<Result<protocol::DeviceHello>> handshake();
  static Task<> set_up_tools(std::shared_ptr<Session> self);
  Task<Result<>> list_tools();
  void take_message(const net::Incoming& message);
  void take_text(std::string_view text);
  void take_binary(protocol::Bytes bytes);
  void take(const protocol::DeviceMessage& message);
  void offend(std::string_view kind, const std::string& why);
  /// Queues an event for the machine; it is handled when the current handler is done.
  void post(turn::Event event);
  /// Has drain() called soon.
  void wake();
  void drain();
  bool stale(const turn::Event& event) const;
  template <class Work>
  void guarded(Work work);
  void tear_down(std::string_view why);

  // session_memory.cpp: what the model is told, and what stays
  void recall();
  static Task<> recalled(std::shared_ptr<Session> self, TimePoint until);
  void refresh_status();
  static Task<> ask_status(std::shared_ptr<Session> self);
  engine::ChatRequest chat_request(const std::string& user_text) const;
  void remember(bool interrupted);

  // session_actions.cpp: what the machine asks for
  void perform(const turn::StartListening& action);
  void perform(const turn::StopListening& action);
  void perform(const turn::EndUtterance& action);
  void perform(const turn::GuardForVoice& action);
  void perform(const turn::BeginTurn& action);
  void perform(const turn::OpenRecogniser& action);
  void perform(const turn::FinishRecogniser& action);
  void perform(const turn::DropRecogniser& action);
  void perform(const turn::StartDraft& action);
  void perform(const turn::SendStt& action);
  void perform(const turn::SendTtsStart& action);
  void perform(const turn::SendTtsStop& action);
  void perform(const turn::StartReply& action);
  void perform(const turn::CancelReply& action);
  void perform(const turn::EndTurn& action);
  void perform(const turn::Rest& action);
  void perform(const turn::Close& action);
  void send(const protocol::ServerMessage& message);
  void arm(Millis wait, turn::Event event);
  void start_listening(bool guard);
  void observe_stages();
  void log_turn(const turn::EndTurn& end);
  dialogue::ReplyTools reply_tools();
  std::unique_ptr<dialogue::Draft> take_draft(const std::string& text);
  void drop_draft();
  engine::AsrRequest asr_request() const;
  void connect_engines();
  static Task<engine::AsrRequest> asr_request_when_ready(std::shared_ptr<Session> self);

  // session_own_tools.cpp: what the own tools may do, and what is said when its time has come
  class OwnControl;
  void add_own_tools();
  /// The soonest reminder may be another one; arms the timer for it.
  void look_at_reminders();
  /// Whether an announcement was posted.
  bool begin_announcement();

  struct RunningReply;
  static Task<> run_reply(std::shared_ptr<Session> self, std::shared_ptr<RunningReply> reply);

  Wiring wiring_;
  std::string id_;
  protocol::DeviceHello hello_;
  protocol::Framing framing_ = protocol::Framing::raw;
  turn::Machine machine_;
  std::vector<turn::Event> events_;
  bool draining_ = false;
  bool drain_posted_ = false;
  bool ended_ = false;
  std::shared_ptr<Ear> ear_;
  std::shared_ptr<mcp::SessionControl> own_control_;
  std::unique_ptr<mcp::DeviceLink> link_;
  mcp::Host host_;
  bool tools_settled_ = true;   ///< false while they are being listed
  TimePoint tools_patience_{};  ///< nobody waits longer for them than until then
  AsyncEvent tools_changed_;
  dialogue::History history_;
  std::unique_ptr<dialogue::Draft> draft_;
  std::string draft_text_;  ///< what it answers
  bool recalled_ = true;    ///< false while earlier turns are being loaded
  AsyncEvent recalled_changed_;
  std::string device_status_;  ///< as the device reported it last
  bool asking_status_ = false;
  std::shared_ptr<RunningReply> reply_;
  std::shared_ptr<dialogue::TurnRecord> record_;
  std::string user_text_;
  std::shared_ptr<const dialogue::Persona> persona_;
  std::string voice_;
  std::optional<WallTime> next_reminder_;
  std::unique_ptr<Timer> reminder_timer_;  ///< where there are own tools
  std::shared_ptr<void> reminders_watch_;
  bool announced_ = false;                           ///< by the turn that runs
  TimePoint announce_from_{};                        ///< nothing is announced before
  std::shared_ptr<mcp::ReminderBook::Claim> claim_;  ///< of the announcement that was posted
  std::unique_ptr<Timer> timer_;                     ///< hello, then the silence that the machine waits for
  std::shared_ptr<std::uint32_t> downlink_timestamp_ = std::make_shared<std::uint32_t>(1);
  TimePoint tts_started_{};
  TimePoint tts_stopped_{};
  FloodGuard flood_;
  RateLimit message_rate_;
  RateLimit audio_rate_;
  FloodGuard dropped_audio_;  ///< beyond audio_rate_
  unsigned offences_logged_ = 0;
  std::string close_reason_;
};

}  // namespace parley::session
