#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "parley/core/error.hpp"

namespace parley::providers::sqlite {

/// What the library reported; `full`: no room on the disk or within the allowed size.
class DatabaseError : public Failure {
 public:
  DatabaseError(int code, const std::string& message);
  int code() const { return code_; }

 private:
  int code_;
};

/// One prepared statement. Not thread-safe, like its database.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);

  /// Binds all parameters in order, from the first.
  template <class... Values>
  Statement& bind(const Values&... values) {
    rewind();
    int index = 0;
    (put(++index, values), ...);
    return *this;
  }
  /// The next row; false: there is none, and the statement is ready for new parameters.
  bool step();
  /// Runs it to its end.
  void run();

  std::int64_t integer(int column) const;
  std::string text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  void rewind();
  void put(int index, std::int64_t value);
  /// Not copied: has to live until step() said false.
  void put(int index, std::string_view value);

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// One connection, for one thread at a time. Failures are thrown as DatabaseError.
class Database {
 public:
  enum class Mode { create, existing };

  /// `file` empty: in memory. A busy file is waited for, up to `patience`.
  Database(const std::filesystem::path& file, Mode mode, std::chrono::milliseconds patience);

  /// One or several statements without parameters or results.
  void execute(const char* sql);
  /// The one number that a query without parameters gives.
  std::int64_t number(std::string_view sql);
  Statement prepare(std::string_view sql) { return {database_.get(), sql}; }
  /// Rows changed by the last statement.
  std::int64_t changes() const { return sqlite3_changes64(database_.get()); }

  /// Everything within, or nothing where `work` throws.
  template <class Work>
  void transaction(Work work) {
    execute("BEGIN IMMEDIATE");
    try {
      work();
      execute("COMMIT");
    } catch (...) {
      // A full disk has rolled it back already.
      sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
      throw;
    }
  }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace parley::providers::sqlite
