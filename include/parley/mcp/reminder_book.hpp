#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "parley/core/metrics.hpp"
#include "parley/engine/reminder_store.hpp"

namespace parley::mcp {

using engine::Reminder;

struct ReminderLimits {
  std::size_t per_device = 50;
  std::size_t all = 100'000;
};

/// The timers and reminders of all devices. Thread-safe; nothing waits.
///
/// Each is said once: a session claims what is due, nobody else can then, and what it began to say is gone
/// for good. Where it could not begin, the end of its claim gives it back. A crash between the first sound
/// and the next write has it said once more.
class ReminderBook : public std::enable_shared_from_this<ReminderBook> {
 public:
  /// Reads what `store` keeps (throws Failure); null: in memory. What is overdue by a month is deleted: its
  /// device does not come back.
  static std::shared_ptr<ReminderBook> open(std::shared_ptr<engine::ReminderStore> store,
                                            std::shared_ptr<Metrics> metrics, WallTime now,
                                            ReminderLimits limits = {});

  using Added = std::function<void(Result<Reminder>)>;
  /// Chooses the id. `added`: once, on any thread, perhaps before this returns; Errc::limit, or the error of
  /// the storage: then there is no such reminder.
  void add(Reminder reminder, Added added);
  /// Of the device, those that nobody has claimed; soonest first.
  std::vector<Reminder> of(const std::string& device) const;
  /// False: there is none that could be.
  bool remove(const std::string& device, int id);
  /// When the soonest of them is due.
  std::optional<WallTime> next(const std::string& device) const;

  class Claim {
   public:
    Claim(std::shared_ptr<ReminderBook> book, std::vector<Reminder> reminders)
        : book_(std::move(book)), reminders_(std::move(reminders)) {}
    ~Claim();
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    Claim(Claim&&) = delete;
    Claim& operator=(Claim&&) = delete;

    /// Soonest first; never empty.
    const std::vector<Reminder>& reminders() const { return reminders_; }
    /// They are being said.
    void delivered();

   private:
    std::shared_ptr<ReminderBook> book_;
    std::vector<Reminder> reminders_;
    bool delivered_ = false;
  };
  /// At most `most` of those due at `now`; null: none.
  std::shared_ptr<Claim> claim(const std::string& device, WallTime now, std::size_t most);

  /// `changed` is called, on any thread, when what next() says may have changed, as long as the handle lives
  /// (and perhaps once more).
  std::shared_ptr<void> watch(const std::string& device, std::function<void()> changed);

 private:
  /// What devices that never came back have left, when there is no room for more; mutex_ is held.
  void drop_given_up();
  enum class State { being_stored, waiting, claimed };
  struct Entry {
    Reminder reminder;
    State state = State::waiting;
  };
  using Entries = std::map<int, Entry>;
  using Watcher = std::function<void()>;

  ReminderBook(std::shared_ptr<engine::ReminderStore> store, std::shared_ptr<Metrics> metrics,
               ReminderLimits limits)
      : store_(std::move(store)), metrics_(std::move(metrics)), limits_(limits) {}
  Result<Reminder> enter(Reminder reminder);
  void settle(const Reminder& reminder, const Result<>& stored, const Added& added);
  void erase(const std::string& device, int id);
  void release(const std::vector<Reminder>& reminders);
  void forget(const std::vector<Reminder>& reminders);
  void tell(const std::string& device);
  void drop_watchers(const std::string& device);

  std::shared_ptr<engine::ReminderStore> store_;
  std::shared_ptr<Metrics> metrics_;
  ReminderLimits limits_;
  mutable std::mutex mutex_;
  std::map<std::string, Entries> devices_;
  std::size_t count_ = 0;
  WallTime now_{};  ///< the latest that was heard of
  std::multimap<std::string, std::weak_ptr<Watcher>> watchers_;
};

}  // namespace parley::mcp
