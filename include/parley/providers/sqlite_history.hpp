#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "parley/config/settings.hpp"
#include "parley/core/metrics.hpp"
#include "parley/core/time_zone.hpp"
#include "parley/engine/conversation_store.hpp"

namespace parley::providers {

struct SqliteHistoryOptions {
  std::size_t max_waiting = 256;  ///< turns and loads before more are refused
  std::function<WallTime()> wall_clock = std::chrono::system_clock::now;
};

/// Conversations in SQLite, written and read by one thread of its own. Throws Failure(Errc::configuration)
/// where the file cannot be used: its directory is missing or may not be written to, it is damaged, belongs
/// to a newer Parley, or is no history at all. Later failures cost the turns concerned, a count and a log
/// line.
std::shared_ptr<engine::ConversationStore> open_sqlite_history(const config::HistorySettings& settings,
                                                               std::shared_ptr<Metrics> metrics,
                                                               SqliteHistoryOptions options = {});

/// The existing file of a history. Throws Failure where there is none, or it cannot be used; so do the calls.
std::unique_ptr<engine::ConversationArchive> open_sqlite_archive(const std::filesystem::path& file);

}  // namespace parley::providers
