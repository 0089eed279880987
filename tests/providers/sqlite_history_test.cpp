#include "parley/providers/sqlite_history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <future>
#include <latch>

namespace parley::providers {
namespace {

using namespace std::chrono_literals;
using engine::Message;
using engine::PastTurn;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

class SqliteHistoryTest : public testing::Test {
 protected:
  SqliteHistoryTest() {
    std::string pattern = (fs::temp_directory_path() / "parley-history-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
    settings.file = directory / "history.db";
  }
  ~SqliteHistoryTest() override {
    store.reset();
    fs::remove_all(directory);
  }
  SqliteHistoryTest(const SqliteHistoryTest&) = delete;
  SqliteHistoryTest& operator=(const SqliteHistoryTest&) = delete;
  SqliteHistoryTest(SqliteHistoryTest&&) = delete;
  SqliteHistoryTest& operator=(SqliteHistoryTest&&) = delete;

  void open() {
    store.reset();
    SqliteHistoryOptions options;
    options.max_waiting = 8;
    options.wall_clock = [this] { return now.load(); };
    store = open_sqlite_history(settings, metrics, options);
  }
  std::string refusal() {
    try {
      open();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, Errc::configuration);
      return failure.what();
    }
    return "no complaint";
  }
  PastTurn turn(std::string text) const { return {.user_text = std::move(text), .reply = {}, .at = now}; }
  /// Waits for the writer, so that everything appended before is done.
  Result<std::vector<PastTurn>> load(const std::string& device, std::size_t max_turns = 100) const {
    std::promise<Result<std::vector<PastTurn>>> promise;
    auto loaded = promise.get_future();
    store->load(device, max_turns, [&](auto turns) { promise.set_value(std::move(turns)); });
    return loaded.get();
  }
  std::vector<std::string> texts(const std::string& device, std::size_t max_turns = 100) const {
    std::vector<std::string> out;
    for (const auto& past : load(device, max_turns).value()) out.push_back(past.user_text);
    return out;
  }
  /// Something of another program's.
  void execute(const char* sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(settings.file.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  fs::path directory;
  config::HistorySettings settings;
  std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
  std::atomic<WallTime> now{WallTime(std::chrono::seconds(1'741'100'700))};
  std::shared_ptr<engine::ConversationStore> store;
};

TEST_F(SqliteHistoryTest, WhatWasSaidSurvivesARestart) {
  open();
  PastTurn said = turn("mach das Licht an — 打开灯");
  Message asked;
  asked.role = Message::Role::assistant;
  asked.calls = {{.id = "call_1", .name = "self_lamp", .arguments = {{"on", true}, {"text", "\"'\n"}}}};
  Message result;
  result.role = Message::Role::tool;
  result.text = "no\xff bulb";
  result.call_id = "call_1";
  result.failed = true;
  Message answer;
  answer.role = Message::Role::assistant;
  answer.text = "Es geht nicht.";
  said.reply = {asked, result, answer};
  store->append("aa:bb", said);
  open();
  const auto turns = load("aa:bb").value();
  ASSERT_EQ(turns.size(), 1U);
  EXPECT_EQ(turns[0].user_text, said.user_text);
  EXPECT_EQ(turns[0].at, said.at);
  ASSERT_EQ(turns[0].reply.size(), 3U);
  EXPECT_EQ(turns[0].reply[0].calls.at(0).id, "call_1");
  EXPECT_EQ(turns[0].reply[0].calls.at(0).arguments, asked.calls[0].arguments);
  EXPECT_EQ(turns[0].reply[1].role, Message::Role::tool);
  EXPECT_EQ(turns[0].reply[1].call_id, "call_1");
  EXPECT_TRUE(turns[0].reply[1].failed);
  EXPECT_EQ(turns[0].reply[1].text, "no\xef\xbf\xbd bulb");
  EXPECT_EQ(turns[0].reply[2].text, "Es geht nicht.");
}

TEST_F(SqliteHistoryTest, TheNewestOldestFirstOfThisDeviceAlone) {
  open();
  for (const auto* text : {"one", "two", "three"}) store->append("aa:bb", turn(text));
  store->append("cc:dd", turn("other"));
  EXPECT_THAT(texts("aa:bb", 2), ElementsAre("two", "three"));
  EXPECT_THAT(texts("nobody"), IsEmpty());
}

TEST_F(SqliteHistoryTest, InMemoryItLastsAsLongAsTheStore) {
  settings.file.clear();
  open();
  store->append("aa:bb", turn("one"));
  EXPECT_THAT(texts("aa:bb"), ElementsAre("one"));
  open();
  EXPECT_THAT(texts("aa:bb"), IsEmpty());
  EXPECT_TRUE(fs::is_empty(directory));
}

TEST_F(SqliteHistoryTest, NamesAreDataNotCode) {
  open();
  const std::string device = "'; DROP TABLE turns; --";
  store->append(device, turn("'); DELETE FROM turns; --"));
  EXPECT_THAT(texts(device), ElementsAre("'); DELETE FROM turns; --"));
  EXPECT_THAT(texts("' OR '1'='1"), IsEmpty());
}

TEST_F(SqliteHistoryTest, TheOldestOfADeviceGoFirst) {
  settings.max_turns_per_device = 3;
  open();
  store->append("cc:dd", turn("other"));
  for (int i = 0; i < 7; ++i) {
    store->append("aa:bb", turn(std::to_string(i)));
    load("aa:bb").value();
  }
  EXPECT_THAT(texts("aa:bb"), ElementsAre("4", "5", "6"));
  EXPECT_THAT(texts("cc:dd"), ElementsAre("other"));
}

TEST_F(SqliteHistoryTest, NothingIsToldAfterItsTime) {
  settings.keep = 48h;
  open();
  store->append("aa:bb", turn("old"));
  load("aa:bb").value();
  now = now.load() + 36h;
  store->append("aa:bb", turn("new"));
  EXPECT_THAT(texts("aa:bb"), ElementsAre("old", "new"));
  now = now.load() + 24h;
  EXPECT_THAT(texts("aa:bb"), ElementsAre("new"));
  open();  // Here it is deleted, too.
  EXPECT_THAT(open_sqlite_archive(settings.file)->turns("aa:bb"), testing::SizeIs(1));
}

TEST_F(SqliteHistoryTest, OnlyItsOwnerReadsIt) {
  const auto mode = [](const fs::path& file) {
    struct stat found {};
    EXPECT_EQ(stat(file.c_str(), &found), 0) << file;
    return found.st_mode & 0777U;
  };
  std::ofstream(settings.file).flush();
  fs::permissions(settings.file, fs::perms(0644));
  open();
  store->append("aa:bb", turn("one"));
  load("aa:bb").value();
  EXPECT_EQ(mode(settings.file), 0600U);
  EXPECT_EQ(mode(settings.file.string() + "-wal"), 0600U);
}

TEST_F(SqliteHistoryTest, WhatCannotBeUsedIsRefused) {
  settings.file = directory / "nowhere" / "history.db";
  EXPECT_THAT(refusal(), HasSubstr("there is no directory"));
  settings.file = directory;
  EXPECT_THAT(refusal(), HasSubstr("is a directory"));
  settings.file = "/dev/null";
  EXPECT_THAT(refusal(), HasSubstr("is no file"));
  settings.file = directory / "text.db";
  std::ofstream(settings.file) << std::string(8192, 'x');
  EXPECT_THAT(refusal(), HasSubstr("text.db is damaged or no database"));
  settings.file = directory / "other.db";
  execute("CREATE TABLE other (x)");
  EXPECT_THAT(refusal(), HasSubstr("something else"));
}

TEST_F(SqliteHistoryTest, AFileThatMayNotBeWrittenIsRefused) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::permissions(directory, fs::perms(0500));
  EXPECT_THAT(refusal(), HasSubstr("cannot be made: Permission denied"));
  fs::permissions(directory, fs::perms(0700));
}

TEST_F(SqliteHistoryTest, ANewerFileIsRefused) {
  open();
  store->stop();
  execute("PRAGMA user_version = 2");
  EXPECT_THAT(refusal(), HasSubstr("newer Parley (version 2"));
}

TEST_F(SqliteHistoryTest, ADamagedPageIsRefused) {
  open();
  for (int i = 0; i < 8; ++i) {
    store->append("aa:bb", turn(std::string(2000, 'x')));
    load("aa:bb").value();
  }
  store.reset();
  {
    std::fstream file(settings.file, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(3 * 4096, '\xa5');
  }
  EXPECT_THAT(refusal(), HasSubstr("damaged"));
}

TEST_F(SqliteHistoryTest, ATurnThatCannotBeReadIsLeftOut) {
  open();
  store->append("aa:bb", turn("one"));
  load("aa:bb").value();
  execute(
      "INSERT INTO turns (device, at, user, reply) VALUES ('aa:bb', 1741100700000, 'bad', '{'),"
      "('aa:bb', 1741100700000, 'worse', '[{\"role\":\"king\"}]'), ('aa:bb', 1741100700000, 'odd', '[1]')");
  store->append("aa:bb", turn("two"));
  EXPECT_THAT(texts("aa:bb"), ElementsAre("one", "two"));
}

TEST_F(SqliteHistoryTest, AFullDatabaseLosesTurnsAndSaysSo) {
  settings.max_size = std::size_t{1} << 20U;
  open();
  for (int i = 0; i < 40; ++i) {
    store->append("aa:bb", turn(std::string(100'000, 'x')));
    ASSERT_TRUE(load("aa:bb"));
  }
  const auto kept = load("aa:bb").value().size();
  EXPECT_GT(kept, 5U);
  EXPECT_LT(kept, 40U);
  EXPECT_THAT(metrics->text(), HasSubstr("parley_history_lost_total{reason=\"write_failed\"}"));
  open_sqlite_archive(settings.file)->remove("aa:bb");
  store->append("aa:bb", turn("there is room again"));
  EXPECT_THAT(texts("aa:bb"), ElementsAre("there is room again"));
}

TEST_F(SqliteHistoryTest, ABusyStorageRefusesInsteadOfWaiting) {
  open();
  std::latch busy(1);
  std::latch go_on(1);
  store->load("aa:bb", 1, [&](const auto&) {
    busy.count_down();
    go_on.wait();
  });
  busy.wait();
  for (int i = 0; i < 10; ++i) store->append("aa:bb", turn(std::to_string(i)));
  std::optional<Errc> refused;
  store->load("aa:bb", 1, [&](const auto& loaded) {
    if (loaded.has_error()) refused = loaded.error().code;
  });
  EXPECT_EQ(refused, Errc::overloaded);
  go_on.count_down();
  store->stop();
  EXPECT_THAT(metrics->text(), HasSubstr("parley_history_lost_total{reason=\"queue_full\"} 2"));
  EXPECT_THAT(open_sqlite_archive(settings.file)->turns("aa:bb"), testing::SizeIs(8))
      << "stop() writes what waits";
}

TEST_F(SqliteHistoryTest, AfterTheEndNothingIsTaken) {
  open();
  store->stop();
  store->append("aa:bb", turn("late"));
  EXPECT_TRUE(load("aa:bb").has_error());
  EXPECT_THAT(metrics->text(), HasSubstr("reason=\"stopped\"} 1"));
}

TEST_F(SqliteHistoryTest, TheArchiveSeesARunningStore) {
  open();
  store->append("aa:bb", turn("one"));
  store->append("cc:dd", turn("two"));
  load("aa:bb").value();
  const auto archive = open_sqlite_archive(settings.file);
  const auto devices = archive->devices();
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].id, "aa:bb");
  EXPECT_EQ(devices[0].turns, 1U);
  EXPECT_EQ(devices[0].first, now.load());
  EXPECT_EQ(archive->remove("aa:bb"), 1U);
  EXPECT_EQ(archive->remove("aa:bb"), 0U);
  EXPECT_THAT(texts("aa:bb"), IsEmpty());
  EXPECT_THAT(texts("cc:dd"), ElementsAre("two"));
}

TEST_F(SqliteHistoryTest, WhatIsDeletedIsNotInTheFile) {
  open();
  store->append("aa:bb", turn("a very secret word"));
  store->stop();
  open_sqlite_archive(settings.file)->remove("aa:bb");
  std::ifstream file(settings.file, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(content.find("secret"), std::string::npos);
}

TEST_F(SqliteHistoryTest, AnArchiveHasToExist) {
  EXPECT_THROW(open_sqlite_archive(settings.file), Failure);
  EXPECT_FALSE(fs::exists(settings.file));
}

}  // namespace
}  // namespace parley::providers
