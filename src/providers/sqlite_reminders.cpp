#include "parley/providers/sqlite_reminders.hpp"

#include <future>
#include <mutex>
#include <utility>

#include "parley/core/log.hpp"
#include "parley/core/worker_pool.hpp"
#include "providers/sqlite_file.hpp"

namespace parley::providers {
namespace {

using engine::Reminder;
using sqlite::Database;

constexpr sqlite::Schema kSchema{.key = "reminders.file", .table = "reminders", .version = 1, .sql = R"(
  CREATE TABLE reminders (
    device TEXT NOT NULL,
    id INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('timer', 'reminder')),
    text TEXT NOT NULL,
    due INTEGER NOT NULL,  -- ms of Unix time
    PRIMARY KEY (device, id)
  ) STRICT, WITHOUT ROWID;
  PRAGMA user_version = 1;
)"};

/// What waits at the end is written for that long, and for the one job that is being done.
constexpr auto kLastWrites = std::chrono::seconds(5);

const char* name_of(Reminder::Kind kind) {
  return kind == Reminder::Kind::timer ? "timer" : "reminder";
}

class SqliteReminders final : public engine::ReminderStore {
 public:
  SqliteReminders(const std::filesystem::path& file, SqliteRemindersOptions options)
      : database_(sqlite::open_file(file, Database::Mode::create, kSchema)),
        put_(database_.prepare(
            "INSERT OR REPLACE INTO reminders (device, id, kind, text, due) VALUES (?, ?, ?, ?, ?)")),
        remove_(database_.prepare("DELETE FROM reminders WHERE device = ? AND id = ?")),
        writer_(1, options.max_waiting) {}
  SqliteReminders(const SqliteReminders&) = delete;
  SqliteReminders& operator=(const SqliteReminders&) = delete;
  SqliteReminders(SqliteReminders&&) = delete;
  SqliteReminders& operator=(SqliteReminders&&) = delete;
  ~SqliteReminders() override { SqliteReminders::stop(); }

  std::vector<Reminder> load() override {
    std::vector<Reminder> out;
    auto query = database_.prepare("SELECT device, id, kind, text, due FROM reminders ORDER BY due");
    while (query.step()) {
      Reminder reminder;
      reminder.device = query.text(0);
      reminder.id = static_cast<int>(query.integer(1));
      reminder.kind = query.text(2) == "timer" ? Reminder::Kind::timer : Reminder::Kind::reminder;
      reminder.text = query.text(3);
      reminder.due = WallTime(std::chrono::milliseconds(query.integer(4)));
      out.push_back(std::move(reminder));
    }
    return out;
  }

  void put(Reminder reminder, Done done) override {
    const auto submitted = writer_.submit([this, reminder = std::move(reminder), done] {
      try {
        const auto due =
            std::chrono::duration_cast<std::chrono::milliseconds>(reminder.due.time_since_epoch());
        remove_what_is_left();
        put_.bind(std::string_view(reminder.device), static_cast<std::int64_t>(reminder.id),
                  std::string_view(name_of(reminder.kind)), std::string_view(reminder.text),
                  static_cast<std::int64_t>(due.count()));
        put_.run();
      } catch (const std::exception& failure) {
        return done(Error(Errc::unavailable, failure.what()));
      }
      done({});
    });
    if (!submitted) done(Error(submitted.error().code, "the storage does not keep up", true));
  }

  void remove(const std::string& device, int id) override {
    {
      const std::scoped_lock lock(mutex_);
      removed_.emplace_back(device, id);
    }
    // Where there is no room for the job, the next one does it.
    (void)writer_.submit([this] { try_to_remove(); });
  }

  void stop() override {
    if (std::exchange(stopped_, true)) return;
    auto last = std::make_shared<std::promise<void>>();
    if (writer_.submit([this, last] {
          try_to_remove();
          last->set_value();
        })) {
      if (last->get_future().wait_for(kLastWrites) != std::future_status::ready) {
        log::error("the reminders could not be written in time");
      }
    }
    writer_.stop();
  }

 private:
  using Key = std::pair<std::string, int>;

  void try_to_remove() {
    try {
      remove_what_is_left();
      if (std::exchange(failing_, false)) log::info("reminders can be deleted again");
    } catch (const std::exception& failure) {
      if (std::exchange(failing_, true)) return;
      log::error("a reminder cannot be deleted; after a restart it would be said once more",
                 {{"why", failure.what()}});
    }
  }

  /// The writer's thread, like all that follows.
  void remove_what_is_left() {
    std::vector<Key> keys;
    {
      const std::scoped_lock lock(mutex_);
      keys = removed_;
    }
    for (const auto& [device, id] : keys) {
      remove_.bind(std::string_view(device), static_cast<std::int64_t>(id)).run();
      const std::scoped_lock lock(mutex_);
      std::erase(removed_, Key(device, id));
    }
  }

  Database database_;
  sqlite::Statement put_;
  sqlite::Statement remove_;
  std::mutex mutex_;
  std::vector<Key> removed_;  ///< and still in the file
  bool failing_ = false;
  bool stopped_ = false;
  WorkerPool writer_;  ///< the one thread that uses the database after load()
};

}  // namespace

std::shared_ptr<engine::ReminderStore> open_sqlite_reminders(const std::filesystem::path& file,
                                                             SqliteRemindersOptions options) {
  return std::make_shared<SqliteReminders>(file, options);
}

}  // namespace parley::providers
