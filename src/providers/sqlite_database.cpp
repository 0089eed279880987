#include "providers/sqlite_database.hpp"

namespace parley::providers::sqlite {
namespace {

void check(sqlite3* database, int code) {
  if (code != SQLITE_OK) throw DatabaseError(code, sqlite3_errmsg(database));
}

}  // namespace

DatabaseError::DatabaseError(int code, const std::string& message)
    : Failure(Error(Errc::unavailable, message)), code_(code & 0xff) {
}

Statement::Statement(sqlite3* database, std::string_view sql) {
  sqlite3_stmt* made = nullptr;
  check(database, sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()),
                                     SQLITE_PREPARE_PERSISTENT, &made, nullptr));
  statement_.reset(made);
}

void Statement::rewind() {
  // What went wrong at the last run was reported then.
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

void Statement::put(int index, std::int64_t value) {
  check(sqlite3_db_handle(statement_.get()), sqlite3_bind_int64(statement_.get(), index, value));
}

void Statement::put(int index, std::string_view value) {
  const auto* const data = value.empty() ? "" : value.data();  // A null pointer would be NULL.
  check(sqlite3_db_handle(statement_.get()),
        sqlite3_bind_text64(statement_.get(), index, data, value.size(), SQLITE_STATIC, SQLITE_UTF8));
}

bool Statement::step() {
  const auto code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    const std::string why = sqlite3_errmsg(sqlite3_db_handle(statement_.get()));
    sqlite3_reset(statement_.get());
    throw DatabaseError(code, why);
  }
  sqlite3_reset(statement_.get());
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* const data = sqlite3_column_text(statement_.get(), column);
  const auto size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? std::string()
                         : std::string(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
}

Database::Database(const std::filesystem::path& file, Mode mode, std::chrono::milliseconds patience) {
  sqlite3* opened = nullptr;
  const auto flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                     (mode == Mode::create ? SQLITE_OPEN_CREATE : 0);
  const auto name = file.empty() ? std::string(":memory:") : std::filesystem::absolute(file).string();
  const auto code = sqlite3_open_v2(name.c_str(), &opened, flags, nullptr);
  database_.reset(opened);  // There is a handle to close even where opening failed.
  check(opened, code);
  check(opened, sqlite3_busy_timeout(opened, static_cast<int>(patience.count())));
}

void Database::execute(const char* sql) {
  check(database_.get(), sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr));
}

std::int64_t Database::number(std::string_view sql) {
  auto query = prepare(sql);
  const auto found = query.step();
  return found ? query.integer(0) : 0;
}

}  // namespace parley::providers::sqlite
