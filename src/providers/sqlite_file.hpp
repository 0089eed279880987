#pragma once

#include <cstdint>
#include <filesystem>

#include "providers/sqlite_database.hpp"

namespace parley::providers::sqlite {

/// What a file of ours holds.
struct Schema {
  const char* key;    ///< names the file in the configuration
  const char* table;  ///< by which it is recognised
  std::int64_t version;
  const char* sql;  ///< makes it, and sets `user_version`
};

/// Creates the file with mode 0600 and its tables where they are missing (`Mode::create`); an empty `file` is
/// in memory. Throws Failure(Errc::configuration) with a sentence that names the file.
Database open_file(const std::filesystem::path& file, Database::Mode mode, const Schema& schema);

}  // namespace parley::providers::sqlite
