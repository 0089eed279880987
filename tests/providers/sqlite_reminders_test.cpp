#include "parley/providers/sqlite_reminders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <future>

#include "parley/providers/sqlite_history.hpp"

namespace parley::providers {
namespace {

using engine::Reminder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

class SqliteRemindersTest : public testing::Test {
 protected:
  SqliteRemindersTest() {
    std::string pattern = (fs::temp_directory_path() / "parley-reminders-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
    file = directory / "reminders.db";
  }
  ~SqliteRemindersTest() override {
    store.reset();
    fs::remove_all(directory);
  }
  SqliteRemindersTest(const SqliteRemindersTest&) = delete;
  SqliteRemindersTest& operator=(const SqliteRemindersTest&) = delete;
  SqliteRemindersTest(SqliteRemindersTest&&) = delete;
  SqliteRemindersTest& operator=(SqliteRemindersTest&&) = delete;

  std::vector<std::string> reopened() {
    store.reset();
    store = open_sqlite_reminders(file);
    std::vector<std::string> out;
    for (const auto& reminder : store->load()) {
      out.push_back(reminder.device + " " + std::to_string(reminder.id) + " " + reminder.text);
    }
    return out;
  }
  Result<> put(const std::string& device, int id, const std::string& text) {
    std::promise<Result<>> promise;
    auto done = promise.get_future();
    store->put({.device = device, .id = id, .text = text, .due = due},
               [&](auto result) { promise.set_value(result); });
    return done.get();
  }
  std::string refusal() {
    try {
      reopened();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, Errc::configuration);
      return failure.what();
    }
    return "no complaint";
  }
  /// Something of another program's.
  void execute(const char* sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  fs::path directory;
  fs::path file;
  WallTime due{std::chrono::milliseconds(1'741'100'700'123)};
  std::shared_ptr<engine::ReminderStore> store;
};

TEST_F(SqliteRemindersTest, TheySurviveARestart) {
  EXPECT_THAT(reopened(), IsEmpty());
  put("aa", 1, "'; DROP TABLE reminders; -- 打开灯").value();
  put("aa", 2, "").value();
  put("bb", 1, "other").value();
  store->remove("aa", 2);
  EXPECT_THAT(reopened(),
              testing::UnorderedElementsAre("aa 1 '; DROP TABLE reminders; -- 打开灯", "bb 1 other"));
  EXPECT_EQ(store->load().at(0).due, due);
  EXPECT_EQ(store->load().at(0).kind, Reminder::Kind::timer);
  struct stat found {};
  EXPECT_EQ(stat(file.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
}

TEST_F(SqliteRemindersTest, AnIdMayBeGivenAgain) {
  reopened();
  put("aa", 1, "old").value();
  store->remove("aa", 1);
  put("aa", 1, "new").value();
  EXPECT_THAT(reopened(), ElementsAre("aa 1 new"));
}

TEST_F(SqliteRemindersTest, AFullDiskIsToldAndWhatWasSaidIsDeletedLater) {
  reopened();
  put("aa", 1, "said").value();
  execute(
      "CREATE TRIGGER full BEFORE INSERT ON reminders BEGIN SELECT RAISE(FAIL, 'no room'); END;"
      "CREATE TRIGGER stuck BEFORE DELETE ON reminders BEGIN SELECT RAISE(FAIL, 'no room'); END;");
  const auto refused = put("aa", 2, "more");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "no room");
  store->remove("aa", 1);
  EXPECT_FALSE(put("aa", 2, "more"));
  execute("DROP TRIGGER full; DROP TRIGGER stuck;");
  put("aa", 3, "other").value();
  EXPECT_THAT(reopened(), ElementsAre("aa 3 other"));
}

TEST_F(SqliteRemindersTest, AfterTheEndNothingIsTaken) {
  reopened();
  store->stop();
  store->stop();
  EXPECT_FALSE(put("aa", 1, "late"));
  store->remove("aa", 1);
}

TEST_F(SqliteRemindersTest, WhatCannotBeUsedIsRefused) {
  std::ofstream(file) << std::string(8192, 'x');
  EXPECT_THAT(refusal(), HasSubstr("reminders.file: " + file.string() + " is damaged or no database"));
  file = directory / "nowhere" / "reminders.db";
  EXPECT_THAT(refusal(), HasSubstr("there is no directory"));
  file = directory / "history.db";
  config::HistorySettings history;
  history.file = file;
  open_sqlite_history(history, std::make_shared<Metrics>());
  EXPECT_THAT(refusal(), HasSubstr("is a database of something else"));
  file = directory / "newer.db";
  reopened();
  store->stop();
  execute("PRAGMA user_version = 2");
  EXPECT_THAT(refusal(), HasSubstr("newer Parley"));
}

}  // namespace
}  // namespace parley::providers
