#include "mcp/reminder_tools.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "mcp/spoken_time.hpp"
#include "parley/core/deadline.hpp"
#include "parley/core/mailbox.hpp"

namespace parley::mcp {
namespace {

using engine::ToolResult;
using Stream = std::unique_ptr<CallStream>;

constexpr auto kLongestTimer = std::chrono::hours(24);
constexpr auto kHorizon = std::chrono::hours(366 * 24);
constexpr std::size_t kMaxText = 500;  ///< bytes of a reminder
constexpr std::size_t kMaxName = 60;   ///< bytes of a timer's name, and of all that is shorter
constexpr std::size_t kMaxListed = 20;

Stream said(std::string text) {
  return answered({std::move(text), false});
}
Stream failed(std::string text) {
  return answered({std::move(text), true});
}

double in_seconds(std::chrono::seconds span) {
  return static_cast<double>(span.count());
}

/// A call that waits for storage, which may outlive it and this thread.
class Stored final : public CallStream {
 public:
  using Inbox = Mailbox<ToolResult>;
  Stored(std::shared_ptr<Inbox> inbox, std::shared_ptr<Scheduler> scheduler, Millis timeout)
      : inbox_(std::move(inbox)), scheduler_(std::move(scheduler)), deadline_(scheduler_->now() + timeout) {}

  Task<Result<std::optional<ToolResult>>> next() override {
    auto came = co_await with_deadline(
        *scheduler_, deadline_, "The storage did not answer in time: it may be kept or not.", inbox_->next());
    if (!came) co_return std::optional(ToolResult{came.error().message, true});
    co_return std::move(came);
  }

 private:
  std::shared_ptr<Inbox> inbox_;
  std::shared_ptr<Scheduler> scheduler_;
  TimePoint deadline_;
};

/// "The pasta timer"
std::string title(const Reminder& reminder) {
  if (reminder.kind == Reminder::Kind::reminder) return "The reminder";
  return reminder.text.empty() ? "The timer" : "The " + reminder.text + " timer";
}

/// Those that `name` may mean: exactly, else those that share words with it.
std::vector<Reminder> named(const std::vector<Reminder>& reminders, const std::string& name) {
  const auto wanted = lower(name);
  std::vector<Reminder> same;
  std::vector<Reminder> close;
  for (const auto& reminder : reminders) {
    const auto text = lower(reminder.text);
    const bool within = !text.empty() && wanted.find(text) != std::string::npos;
    if (text == wanted) same.push_back(reminder);
    if (within || text.find(wanted) != std::string::npos) close.push_back(reminder);
  }
  return same.empty() ? close : same;
}

}  // namespace

std::string ReminderTools::and_now() const {
  return " It is " + iso_time(wiring_.toolbox->zone.local(now())) + " now.";
}

Stream ReminderTools::set_timer(const CallArguments& arguments, Millis timeout) const {
  constexpr std::array<std::pair<const char*, double>, 3> kUnits{
      {{"hours", 3600}, {"minutes", 60}, {"seconds", 1}}};
  double seconds = 0;
  for (const auto& [unit, length] : kUnits) {
    const auto amount = arguments.amount(unit);
    if (!amount) return failed(amount.error().message);
    seconds += *amount * length;
  }
  auto name = arguments.text("name", kMaxName);
  if (!name) return failed(name.error().message);
  if (seconds < 1) return failed("A timer needs a length of a second or more: hours, minutes or seconds.");
  if (!(seconds <= in_seconds(kLongestTimer))) {
    return failed("A timer can be a day long at most. Set a reminder instead.");
  }
  const Millis length(std::llround(seconds * 1000));
  const Reminder timer{.device = wiring_.device,
                       .kind = Reminder::Kind::timer,
                       .text = *std::move(name),
                       .due = now() + length};
  return store(timer, title(timer) + " is set for " + in_words(length) + ".", timeout);
}

Stream ReminderTools::set_reminder(const CallArguments& arguments, Millis timeout) const {
  auto text = arguments.text("text", kMaxText);
  if (!text) return failed(text.error().message);
  if (text->empty()) return failed("`text` is missing: what is to be said to the user?");
  if (arguments.has("at") == arguments.has("in_minutes")) {
    return failed("Give either `at` or `in_minutes`." + and_now());
  }
  const auto due = arguments.has("at") ? due_at(arguments) : due_in(arguments);
  if (!due) return failed(due.error().message);
  const Reminder reminder{
      .device = wiring_.device, .kind = Reminder::Kind::reminder, .text = *std::move(text), .due = *due};
  return store(reminder,
               title(reminder) + " is set for " + time_and_day(*due, now(), wiring_.toolbox->zone) + ".",
               timeout);
}

Result<WallTime> ReminderTools::due_at(const CallArguments& arguments) const {
  const auto refuse = [&](const char* why) { return Error(Errc::invalid_input, why + and_now()); };
  const auto at = arguments.text("at", kMaxName);
  if (!at) return at.error();
  const auto due = parse_iso_time(*at, wiring_.toolbox->zone);
  if (!due) return refuse("`at` is no date and time such as 2025-03-04T17:10.");
  if (*due <= now()) return refuse("That time is in the past.");
  if (*due > now() + kHorizon) return refuse("That is more than a year away, which is too far.");
  return *due;
}

Result<WallTime> ReminderTools::due_in(const CallArguments& arguments) const {
  const auto minutes = arguments.amount("in_minutes");
  if (!minutes) return minutes.error();
  const double seconds = *minutes * 60;
  if (seconds < 1) return Error(Errc::invalid_input, "`in_minutes` has to be more than 0.");
  if (!(seconds <= in_seconds(kHorizon))) {
    return Error(Errc::invalid_input, "That is more than a year away, which is too far.");
  }
  return now() + Millis(std::llround(seconds * 1000));
}

Stream ReminderTools::store(Reminder reminder, std::string then_said, Millis timeout) const {
  if (wiring_.device.empty()) {
    return failed("This device did not say who it is, so nothing can be kept for it.");
  }
  auto inbox = Stored::Inbox::make(wiring_.executor);
  wiring_.reminders->add(
      std::move(reminder), [inbox, then_said = std::move(then_said)](const Result<Reminder>& added) {
        inbox->send(added ? ToolResult{then_said, false} : ToolResult{added.error().message, true});
      });
  return std::make_unique<Stored>(std::move(inbox), wiring_.scheduler, timeout);
}

/// "Timer 1, pasta, has 4 minutes and 10 seconds left."
std::string ReminderTools::described(const Reminder& reminder) const {
  const auto id = std::to_string(reminder.id);
  if (reminder.kind == Reminder::Kind::reminder) {
    const auto stop = reminder.text.ends_with('.') ? "" : ".";
    return "Reminder " + id + ", " + time_and_day(reminder.due, now(), wiring_.toolbox->zone) + ": " +
           reminder.text + stop;
  }
  const auto left = std::chrono::duration_cast<Millis>(reminder.due - now());
  return "Timer " + id + (reminder.text.empty() ? "" : ", " + reminder.text + ",") +
         (left <= Millis(0) ? " is over." : " has " + in_words(left) + " left.");
}

std::string ReminderTools::described(const std::vector<Reminder>& reminders) const {
  std::string out;
  for (std::size_t i = 0; i < std::min(reminders.size(), kMaxListed); ++i) {
    out += (i == 0 ? "" : " ") + described(reminders[i]);
  }
  if (reminders.size() > kMaxListed) {
    out += " And " + std::to_string(reminders.size() - kMaxListed) + " more.";
  }
  return out;
}

Stream ReminderTools::list() const {
  const auto all = wiring_.reminders->of(wiring_.device);
  return said(all.empty() ? "There are no timers and no reminders." : described(all));
}

Stream ReminderTools::cancel(const CallArguments& arguments) const {
  const auto id = arguments.amount("id");
  const auto name = arguments.text("name", kMaxText);
  const auto kind = arguments.text("kind", kMaxName);
  if (!id) return failed(id.error().message);
  if (!name) return failed(name.error().message);
  if (!kind) return failed(kind.error().message);

  const auto all = wiring_.reminders->of(wiring_.device);
  if (all.empty()) return failed("There are no timers and no reminders.");
  auto meant = name->empty() ? all : named(all, *name);
  std::erase_if(meant, [&](const Reminder& reminder) {
    const auto* const its_kind = reminder.kind == Reminder::Kind::timer ? "timer" : "reminder";
    return (!kind->empty() && *kind != its_kind) || (arguments.has("id") && reminder.id != *id);
  });
  if (meant.empty()) return failed("There is no such one. There is: " + described(all));
  if (meant.size() > 1) return failed("Which one? " + described(meant));
  if (!wiring_.reminders->remove(wiring_.device, meant.front().id)) {
    return failed("It is too late: it is being said.");
  }
  return said(title(meant.front()) + " is cancelled.");
}

}  // namespace parley::mcp
