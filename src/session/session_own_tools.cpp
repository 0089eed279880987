// What Parley's own tools may do to a session, and what is said when its time has come.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "parley/mcp/announcement.hpp"
#include "parley/session/session.hpp"
#include "session/running_reply.hpp"

namespace parley::session {
namespace {

/// The wall clock may be set: it is looked at again after that long.
constexpr Millis kLookAgain{60'000};
/// Reminders said in one go; an interruption counts for all of them.
constexpr std::size_t kMaxAtOnce = 5;

}  // namespace

class Session::OwnControl final : public mcp::SessionControl {
 public:
  explicit OwnControl(Session& session) : session_(session) {}

  void end_conversation() override {
    if (session_.reply_) session_.reply_->end_conversation = true;
  }

  void use_persona(const std::string& name) override {
    const auto& runtime = *session_.wiring_.runtime;
    const auto text = runtime.personas.find(name);
    session_.persona_ = text == runtime.personas.end() ? runtime.persona : text->second;
    const auto chosen = runtime.settings->personas.find(name);
    const bool has_voice = chosen != runtime.settings->personas.end() && !chosen->second.voice.empty();
    session_.voice_ = has_voice ? chosen->second.voice : runtime.profile->voice;
  }

  void use_voice(const std::string& name) override {
    const auto& runtime = *session_.wiring_.runtime;
    const auto chosen = runtime.settings->voices.find(name);
    session_.voice_ = chosen == runtime.settings->voices.end() ? runtime.profile->voice : chosen->second;
  }

  std::shared_ptr<const engine::ToolSet> tools_at_hand() const override { return session_.host_.tools(); }

 private:
  Session& session_;
};

void Session::add_own_tools() {
  const auto& runtime = *wiring_.runtime;
  if (!runtime.own_tools || !runtime.reminders) return;
  own_control_ = std::make_shared<OwnControl>(*this);
  mcp::OwnToolsWiring own;
  own.toolbox = runtime.own_tools;
  own.reminders = runtime.reminders;
  own.control = own_control_.get();
  own.scheduler = wiring_.scheduler;
  own.executor = wiring_.executor;
  own.wall_clock = runtime.wall_clock;
  if (!wiring_.caller.nameless) own.device = device_id();
  host_.add(mcp::make_own_tools(std::move(own)));
  if (wiring_.caller.nameless) return;
  reminder_timer_ = wiring_.scheduler->make_timer();
  reminders_watch_ =
      runtime.reminders->watch(device_id(), [weak = weak_from_this(), executor = wiring_.executor] {
        asio::post(executor, [weak] {
          if (const auto self = weak.lock()) self->look_at_reminders();
        });
      });
  look_at_reminders();
}

void Session::look_at_reminders() {
  if (ended_ || !reminder_timer_) return;
  next_reminder_ = wiring_.runtime->reminders->next(device_id());
  if (!next_reminder_) return reminder_timer_->cancel();
  const auto now = wiring_.scheduler->now();
  const auto left = std::clamp<WallTime::duration>(*next_reminder_ - wiring_.runtime->wall_clock(),
                                                   WallTime::duration::zero(), kLookAgain);
  auto when = std::max(now + std::chrono::duration_cast<Duration>(left), announce_from_);
  if (!tools_settled_) when = std::max(when, tools_patience_);
  if (when > now) return reminder_timer_->arm(when, [this] { look_at_reminders(); });
  // Looked at again: a turn may run now, and the clock may be set back meanwhile.
  reminder_timer_->arm(now + std::chrono::duration_cast<Duration>(kLookAgain),
                       [this] { look_at_reminders(); });
  wake();
}

bool Session::begin_announcement() {
  const auto& runtime = *wiring_.runtime;
  if (!next_reminder_ || !close_reason_.empty() || !machine_.can_announce()) return false;
  const auto now = runtime.wall_clock();
  if (now < *next_reminder_) return false;
  const bool settled = tools_settled_ || wiring_.scheduler->now() >= tools_patience_;
  if (!settled || wiring_.scheduler->now() < announce_from_) {
    look_at_reminders();
    return false;
  }
  claim_ = runtime.reminders->claim(device_id(), now, kMaxAtOnce);
  look_at_reminders();  // the next one, with its timer
  if (!claim_) return false;
  events_.emplace_back(turn::AnnouncementDue{
      mcp::announcement(claim_->reminders(), now, runtime.own_tools->zone, *runtime.profile)});
  return true;
}

}  // namespace parley::session
