#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "parley/engine/reminder_store.hpp"

namespace parley::providers {

struct SqliteRemindersOptions {
  std::size_t max_waiting = 1024;  ///< writes before more are refused
};

/// Reminders in SQLite, written by one thread of its own. Throws Failure(Errc::configuration) where the file
/// cannot be used, as open_sqlite_history() does.
std::shared_ptr<engine::ReminderStore> open_sqlite_reminders(const std::filesystem::path& file,
                                                             SqliteRemindersOptions options = {});

}  // namespace parley::providers
