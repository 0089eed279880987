#include "parley/mcp/reminder_book.hpp"

#include <algorithm>
#include <utility>

#include "parley/core/log.hpp"

namespace parley::mcp {
namespace {

constexpr auto kGivenUp = std::chrono::hours(30 * 24);

}  // namespace

std::shared_ptr<ReminderBook> ReminderBook::open(std::shared_ptr<engine::ReminderStore> store,
                                                 std::shared_ptr<Metrics> metrics, WallTime now,
                                                 ReminderLimits limits) {
  std::shared_ptr<ReminderBook> book(new ReminderBook(std::move(store), std::move(metrics), limits));
  book->now_ = now;
  if (!book->store_) return book;
  for (auto& reminder : book->store_->load()) {
    if (reminder.due < now - kGivenUp) {
      book->store_->remove(reminder.device, reminder.id);
      continue;
    }
    ++book->count_;
    auto& entries = book->devices_[reminder.device];
    entries.emplace(reminder.id, Entry{.reminder = std::move(reminder)});
  }
  return book;
}

void ReminderBook::drop_given_up() {
  const auto limit = now_ - kGivenUp;
  std::vector<std::pair<std::string, int>> gone;
  for (const auto& [device, entries] : devices_) {
    for (const auto& [id, entry] : entries) {
      if (entry.state == State::waiting && entry.reminder.due < limit) gone.emplace_back(device, id);
    }
  }
  for (const auto& [device, id] : gone) erase(device, id);
}

Result<Reminder> ReminderBook::enter(Reminder reminder) {
  const std::scoped_lock lock(mutex_);
  if (count_ >= limits_.all) drop_given_up();
  if (count_ >= limits_.all) return Error(Errc::limit, "The server keeps as many reminders as it can.");
  const auto known = devices_.find(reminder.device);
  if (known != devices_.end() && known->second.size() >= limits_.per_device) {
    return Error(Errc::limit, "There are " + std::to_string(known->second.size()) +
                                  " timers and reminders already, which is the most. Cancel one first.");
  }
  auto& entries = devices_[reminder.device];
  reminder.id = entries.empty() ? 1 : entries.rbegin()->first + 1;
  entries.emplace(reminder.id, Entry{.reminder = reminder, .state = State::being_stored});
  ++count_;
  return reminder;
}

void ReminderBook::add(Reminder reminder, Added added) {
  auto entered = enter(std::move(reminder));
  if (!entered) return added(entered.error());
  if (!store_) return settle(*entered, {}, added);
  store_->put(*entered, [self = shared_from_this(), entry = *entered, added = std::move(added)](
                            const Result<>& stored) { self->settle(entry, stored, added); });
}

void ReminderBook::settle(const Reminder& reminder, const Result<>& stored, const Added& added) {
  if (!stored) {
    {
      const std::scoped_lock lock(mutex_);
      erase(reminder.device, reminder.id);
    }
    metrics_->reminder("not_stored");
    log::error("a reminder cannot be kept", {{"device", reminder.device}, {"why", stored.error().message}});
    return added(Error(stored.error().code, "It could not be kept: " + stored.error().message + "."));
  }
  {
    const std::scoped_lock lock(mutex_);
    devices_.at(reminder.device).at(reminder.id).state = State::waiting;
  }
  metrics_->reminder("set");
  tell(reminder.device);
  added(reminder);
}

/// The lock is held until the storage knows: the id may be given again.
void ReminderBook::erase(const std::string& device, int id) {
  const auto entries = devices_.find(device);
  if (entries == devices_.end()) return;
  if (store_ && entries->second.at(id).state != State::being_stored) store_->remove(device, id);
  count_ -= entries->second.erase(id);
  if (entries->second.empty()) devices_.erase(entries);
}

std::vector<Reminder> ReminderBook::of(const std::string& device) const {
  std::vector<Reminder> out;
  {
    const std::scoped_lock lock(mutex_);
    const auto entries = devices_.find(device);
    if (entries == devices_.end()) return out;
    for (const auto& [id, entry] : entries->second) {
      if (entry.state == State::waiting) out.push_back(entry.reminder);
    }
  }
  std::ranges::stable_sort(out, {}, &Reminder::due);
  return out;
}

bool ReminderBook::remove(const std::string& device, int id) {
  {
    const std::scoped_lock lock(mutex_);
    const auto entries = devices_.find(device);
    if (entries == devices_.end()) return false;
    const auto entry = entries->second.find(id);
    if (entry == entries->second.end() || entry->second.state != State::waiting) return false;
    erase(device, id);
  }
  metrics_->reminder("cancelled");
  tell(device);
  return true;
}

std::optional<WallTime> ReminderBook::next(const std::string& device) const {
  const auto waiting = of(device);
  return waiting.empty() ? std::nullopt : std::optional(waiting.front().due);
}

std::shared_ptr<ReminderBook::Claim> ReminderBook::claim(const std::string& device, WallTime now,
                                                         std::size_t most) {
  std::vector<Reminder> due;
  {
    const std::scoped_lock lock(mutex_);
    now_ = std::max(now_, now);
    const auto entries = devices_.find(device);
    if (entries == devices_.end()) return nullptr;
    for (auto& [id, entry] : entries->second) {
      if (entry.state == State::waiting && entry.reminder.due <= now) due.push_back(entry.reminder);
    }
    std::ranges::stable_sort(due, {}, &Reminder::due);
    if (due.size() > most) due.resize(most);
    for (const auto& reminder : due) entries->second.at(reminder.id).state = State::claimed;
  }
  if (due.empty()) return nullptr;
  return std::make_shared<Claim>(shared_from_this(), std::move(due));
}

void ReminderBook::release(const std::vector<Reminder>& reminders) {
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& reminder : reminders) {
      devices_.at(reminder.device).at(reminder.id).state = State::waiting;
    }
  }
  tell(reminders.front().device);
}

void ReminderBook::forget(const std::vector<Reminder>& reminders) {
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& reminder : reminders) erase(reminder.device, reminder.id);
  }
  for (std::size_t i = 0; i < reminders.size(); ++i) metrics_->reminder("announced");
}

ReminderBook::Claim::~Claim() {
  if (!delivered_) book_->release(reminders_);
}

void ReminderBook::Claim::delivered() {
  if (!std::exchange(delivered_, true)) book_->forget(reminders_);
}

std::shared_ptr<void> ReminderBook::watch(const std::string& device, std::function<void()> changed) {
  auto watcher = std::make_shared<Watcher>(std::move(changed));
  {
    const std::scoped_lock lock(mutex_);
    watchers_.emplace(device, watcher);
  }
  auto* const handle = watcher.get();
  return {handle, [book = weak_from_this(), device, watcher = std::move(watcher)](void*) mutable {
            watcher.reset();
            if (const auto self = book.lock()) self->drop_watchers(device);
          }};
}

void ReminderBook::drop_watchers(const std::string& device) {
  const std::scoped_lock lock(mutex_);
  const auto [first, last] = watchers_.equal_range(device);
  for (auto at = first; at != last;) at = at->second.expired() ? watchers_.erase(at) : std::next(at);
}

void ReminderBook::tell(const std::string& device) {
  std::vector<std::shared_ptr<Watcher>> living;
  {
    const std::scoped_lock lock(mutex_);
    const auto [first, last] = watchers_.equal_range(device);
    for (auto at = first; at != last; ++at) {
      if (auto watcher = at->second.lock()) living.push_back(std::move(watcher));
    }
  }
  for (const auto& watcher : living) (*watcher)();
}

}  // namespace parley::mcp
