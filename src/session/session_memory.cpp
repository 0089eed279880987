// What the model is told about the conversation, and what of it stays.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "parley/core/log.hpp"
#include "parley/session/session.hpp"
#include "session/running_reply.hpp"

namespace parley::session {
namespace {

/// PROTOCOL.md, section 5: the tool that stock devices report their state by.
constexpr std::string_view kStatusTool = "self.get_device_status";
constexpr Millis kStatusTimeout{5'000};

}  // namespace

/// Has the turns of the device's earlier sessions loaded.
void Session::recall() {
  const auto& runtime = *wiring_.runtime;
  const auto turns = runtime.profile->session.max_history_turns;
  if (!runtime.conversations || wiring_.caller.nameless || turns == 0) return;
  recalled_ = false;
  runtime.conversations->load(
      device_id(), turns,
      [weak = weak_from_this(), executor = wiring_.executor](Result<std::vector<engine::PastTurn>> past) {
        asio::post(executor, [weak, past = std::move(past)]() mutable {
          const auto self = weak.lock();
          if (!self) return;
          if (past) {
            self->history_.restore(std::move(*past));
          } else {
            log::warn("a session begins without the turns of earlier ones",
                      {{"session", self->id_}, {"why", past.error().message}});
          }
          self->recalled_ = true;
          self->recalled_changed_.notify();
        });
      });
}

/// Returns when they are there, or at `until`.
Task<> Session::recalled(std::shared_ptr<Session> self, TimePoint until) {
  if (self->recalled_) co_return;
  const auto patience = self->wiring_.scheduler->make_timer();
  patience->arm(until, [self] { self->recalled_changed_.notify(); });
  while (!self->recalled_ && self->wiring_.scheduler->now() < until) co_await self->recalled_changed_.wait();
}

/// Asks the device how it is, where the persona wants to know; nobody waits for the answer.
void Session::refresh_status() {
  if (!persona_->wants_status() || asking_status_ || !link_ || !tools_settled_) return;
  if (host_.tools()->find_wire(kStatusTool) == nullptr) return;
  asking_status_ = true;
  asio::co_spawn(wiring_.executor, ask_status(shared_from_this()), asio::detached);
}

Task<> Session::ask_status(std::shared_ptr<Session> self) {
  try {
    const auto call = self->link_->call(std::string(kStatusTool), nlohmann::json::object(), kStatusTimeout);
    const auto answer = co_await call->next();
    if (answer && *answer && !(*answer)->failed) self->device_status_ = (*answer)->text;
  } catch (const std::exception& escaped) {
    log::warn("the device's status is not known", {{"session", self->id_}, {"why", escaped.what()}});
  }
  self->asking_status_ = false;
}

engine::ChatRequest Session::chat_request(const std::string& user_text) const {
  const auto& profile = *wiring_.runtime->profile;
  engine::ChatRequest request;
  request.tools = host_.tools();
  request.language = profile.language;
  request.device_id = device_id();
  dialogue::Persona::Facts facts;
  facts.device = device_id();
  facts.language = profile.language;
  facts.tools = request.tools.get();
  facts.status = device_status_;
  facts.now = wiring_.runtime->wall_clock();
  const auto persona = persona_->render(facts);
  request.messages = history_.request(persona.prompt, persona.aside, user_text);
  return request;
}

/// What the history keeps of the reply that ends here, in this session and beyond it.
void Session::remember(bool interrupted) {
  if (!reply_ || reply_->kind != turn::ReplyKind::answer) return;
  auto messages = std::move(reply_->progress->result.messages);
  if (interrupted || reply_->progress->result.failed) {
    messages = dialogue::truncate_to_heard(std::move(messages), reply_->playout->heard());
  }
  const auto& runtime = *wiring_.runtime;
  if (runtime.conversations && !wiring_.caller.nameless) {
    runtime.conversations->append(device_id(), {user_text_, messages, runtime.wall_clock()});
  }
  history_.add(user_text_, std::move(messages));
}

}  // namespace parley::session
