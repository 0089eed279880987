#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parley/core/error.hpp"
#include "parley/core/time_zone.hpp"

namespace parley::engine {

/// What is to be said on a device at its time.
struct Reminder {
  enum class Kind { timer, reminder };
  std::string device;
  int id = 0;  ///< from 1, unlike those of the device's others
  Kind kind = Kind::timer;
  std::string text;  ///< what to remind of; of a timer its name, which may be empty
  WallTime due{};
};

/// Keeps reminders beyond the end of the server. Thread-safe; only load() waits for storage.
class ReminderStore {
 public:
  using Done = std::function<void(Result<>)>;

  ReminderStore() = default;
  ReminderStore(const ReminderStore&) = delete;
  ReminderStore& operator=(const ReminderStore&) = delete;
  ReminderStore(ReminderStore&&) = delete;
  ReminderStore& operator=(ReminderStore&&) = delete;
  virtual ~ReminderStore() = default;

  /// All that is kept; once, before anything else. Throws Failure.
  virtual std::vector<Reminder> load() = 0;
  /// `done`: once, on any thread, perhaps before this returns; after stop() perhaps never.
  virtual void put(Reminder reminder, Done done) = 0;
  /// Where that fails, it is tried again with whatever is written next.
  virtual void remove(const std::string& device, int id) = 0;
  /// Writes what waits and ends.
  virtual void stop() = 0;
};

}  // namespace parley::engine
