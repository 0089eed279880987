#pragma once

#include <map>
#include <utility>
#include <vector>

#include "parley/engine/reminder_store.hpp"

namespace parley::test {

/// Keeps reminders in a map; puts are answered at once, or by answer().
class FakeReminders final : public engine::ReminderStore {
 public:
  std::map<std::pair<std::string, int>, engine::Reminder> kept;
  bool slow = false;
  std::string error;

  std::vector<engine::Reminder> load() override {
    std::vector<engine::Reminder> out;
    for (const auto& [key, reminder] : kept) out.push_back(reminder);
    return out;
  }
  void put(engine::Reminder reminder, Done done) override {
    waiting_.emplace_back(std::move(reminder), std::move(done));
    if (!slow) answer();
  }
  void remove(const std::string& device, int id) override { kept.erase({device, id}); }
  /// What waits holds whoever asked, who may hold this.
  void stop() override { waiting_.clear(); }

  void answer() {
    for (auto& [reminder, done] : std::exchange(waiting_, {})) {
      if (!error.empty()) {
        done(Error(Errc::unavailable, error));
        continue;
      }
      kept[{reminder.device, reminder.id}] = reminder;
      done({});
    }
  }

 private:
  std::vector<std::pair<engine::Reminder, Done>> waiting_;
};

}  // namespace parley::test
