#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "parley/core/time_zone.hpp"
#include "parley/engine/conversation_store.hpp"
#include "providers/sqlite_database.hpp"

namespace parley::providers::sqlite {

/// The tables of conversations and what is done with them. For one thread at a time; every call waits for the
/// storage, and throws DatabaseError.
class Conversations final : public engine::ConversationArchive {
 public:
  /// Creates the file with mode 0600 and its tables where they are missing (`Mode::create`); an empty `file`
  /// is in memory. Throws Failure(Errc::configuration) with a sentence that names the file.
  Conversations(const std::filesystem::path& file, Database::Mode mode);

  /// Bytes of the database that may not be passed.
  void limit_size(std::size_t bytes);
  /// Adds a turn, and deletes the device's oldest beyond `max_turns`.
  void append(const std::string& device, const engine::PastTurn& turn, std::size_t max_turns);
  /// The newest `max_turns` since `since`, oldest first.
  std::vector<engine::PastTurn> newest(const std::string& device, std::size_t max_turns, WallTime since);
  /// Deletes every turn before `before`; how many there were.
  std::size_t prune(WallTime before);

  std::vector<Device> devices() override;
  std::vector<engine::PastTurn> turns(const std::string& device) override;
  std::size_t remove(const std::string& device) override;

 private:
  Database database_;
  Statement insert_;
  Statement trim_;
  Statement select_;
  Statement prune_;
};

}  // namespace parley::providers::sqlite
