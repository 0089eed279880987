#include "parley/mcp/reminder_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "fakes/fake_reminders.hpp"

namespace parley::mcp {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const WallTime kNow{std::chrono::seconds(1'741'100'700)};

class ReminderBookTest : public testing::Test {
 protected:
  ReminderBookTest() { open(); }

  void open() { book = ReminderBook::open(store, metrics, kNow, {.per_device = 3, .all = 5}); }
  Result<Reminder> add(const std::string& text, Duration after, const std::string& device = "aa") {
    // A slow storage answers when this has returned.
    const auto out = std::make_shared<std::optional<Result<Reminder>>>();
    const auto due = kNow + std::chrono::duration_cast<WallTime::duration>(after);
    book->add({.device = device, .text = text, .due = due}, [out](auto added) { *out = std::move(added); });
    return *out ? **out : Error(Errc::timeout, "not yet");
  }
  std::vector<std::string> texts(const std::string& device = "aa") const {
    std::vector<std::string> out;
    for (const auto& reminder : book->of(device)) out.push_back(reminder.text);
    return out;
  }

  std::shared_ptr<test::FakeReminders> store = std::make_shared<test::FakeReminders>();
  std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
  std::shared_ptr<ReminderBook> book;
};

TEST_F(ReminderBookTest, TheSoonestIsFirst) {
  EXPECT_FALSE(book->next("aa"));
  EXPECT_EQ(add("later", 2min)->id, 1);
  EXPECT_EQ(add("soon", 1min)->id, 2);
  EXPECT_EQ(add("other", 1s, "bb")->id, 1);
  EXPECT_THAT(texts(), ElementsAre("soon", "later"));
  EXPECT_EQ(book->next("aa"), kNow + 1min);
  EXPECT_FALSE(book->claim("aa", kNow + 59s, 9));
}

TEST_F(ReminderBookTest, WhatIsClaimedIsNobodyElses) {
  add("tea", 1min).value();
  auto claim = book->claim("aa", kNow + 2min, 9);
  ASSERT_TRUE(claim);
  EXPECT_FALSE(book->claim("aa", kNow + 2min, 9));
  EXPECT_FALSE(book->remove("aa", 1));
  EXPECT_THAT(texts(), IsEmpty());
  EXPECT_EQ(store->kept.size(), 1U) << "it was not said yet";
  claim.reset();
  EXPECT_THAT(texts(), ElementsAre("tea")) << "it could not be said";
  claim = book->claim("aa", kNow + 2min, 9);
  claim->delivered();
  claim->delivered();
  EXPECT_THAT(store->kept, IsEmpty());
  claim.reset();
  EXPECT_THAT(texts(), IsEmpty());
  EXPECT_THAT(metrics->text(), HasSubstr("parley_reminders_total{event=\"announced\"} 1"));
}

TEST_F(ReminderBookTest, OneOfManyClaimsWinsWhoeverAsks) {
  add("tea", 1s).value();
  std::atomic<int> won{0};
  std::vector<std::shared_ptr<ReminderBook::Claim>> claims(8);
  {
    std::vector<std::jthread> threads;
    for (auto& claim : claims) {
      threads.emplace_back([&] {
        claim = book->claim("aa", kNow + 1s, 1);
        won += claim != nullptr;
      });
    }
  }
  EXPECT_EQ(won, 1);
}

TEST_F(ReminderBookTest, ThereAreLimits) {
  for (const auto* text : {"1", "2", "3"}) add(text, 1min).value();
  const auto fourth = add("4", 1min);
  ASSERT_FALSE(fourth);
  EXPECT_EQ(fourth.error().code, Errc::limit);
  EXPECT_THAT(fourth.error().message, HasSubstr("Cancel one first"));
  EXPECT_TRUE(book->remove("aa", 2));
  EXPECT_EQ(add("5", 1min)->id, 4);
  add("6", 1min, "bb").value();
  add("7", 1min, "bb").value();
  EXPECT_THAT(add("8", 1min, "bb").error().message, HasSubstr("as many reminders as it can"));
}

TEST_F(ReminderBookTest, OnlyOnesOwnCanBeRemoved) {
  add("tea", 1min).value();
  EXPECT_FALSE(book->remove("bb", 1));
  EXPECT_FALSE(book->remove("aa", 2));
  EXPECT_FALSE(book->remove("aa", -1));
  EXPECT_TRUE(book->remove("aa", 1));
  EXPECT_FALSE(book->remove("aa", 1));
  EXPECT_THAT(store->kept, IsEmpty());
}

TEST_F(ReminderBookTest, ItIsThereWhenItIsStored) {
  store->slow = true;
  EXPECT_FALSE(add("tea", 1s));
  EXPECT_THAT(texts(), IsEmpty());
  EXPECT_FALSE(book->claim("aa", kNow + 1h, 9));
  EXPECT_FALSE(book->remove("aa", 1));
  std::optional<Result<Reminder>> second;
  book->add({.device = "aa", .text = "egg", .due = kNow + 5s}, [&](auto added) { second = added; });
  store->answer();
  EXPECT_EQ(second->value().id, 2);
  EXPECT_THAT(texts(), ElementsAre("tea", "egg"));
}

TEST_F(ReminderBookTest, StorageThatFailsIsTold) {
  store->error = "database or disk is full";
  const auto added = add("tea", 1s);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().message, "It could not be kept: database or disk is full.");
  EXPECT_THAT(texts(), IsEmpty());
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(add("tea", 1s));
  store->error.clear();
  EXPECT_TRUE(add("tea", 1s)) << "what failed takes no place";
}

TEST_F(ReminderBookTest, ARestartLosesNothingAndRepeatsNothing) {
  add("one", 1min).value();
  add("two", 2min).value();
  add("three", 3min).value();
  book->claim("aa", kNow + 1min, 9)->delivered();
  auto begun = book->claim("aa", kNow + 2min, 9);  // The server dies before the first sound.
  open();
  EXPECT_THAT(texts(), ElementsAre("two", "three"));
  EXPECT_EQ(add("four", 4min)->id, 4);
}

TEST_F(ReminderBookTest, AtTheStartWhatNobodyFetchesIsDeleted) {
  store->kept[{"gone", 1}] = {.device = "gone", .id = 1, .due = kNow - std::chrono::hours(31 * 24)};
  store->kept[{"aa", 7}] = {
      .device = "aa", .id = 7, .text = "late", .due = kNow - std::chrono::hours(29 * 24)};
  open();
  EXPECT_THAT(texts(), ElementsAre("late"));
  EXPECT_EQ(store->kept.size(), 1U);
}

TEST_F(ReminderBookTest, WhoWatchesIsToldOfEveryChange) {
  int told = 0;
  auto watch = book->watch("aa", [&] { ++told; });
  add("tea", 1s).value();
  EXPECT_EQ(told, 1);
  add("egg", 1s, "bb").value();
  EXPECT_EQ(told, 1);
  book->claim("aa", kNow + 1s, 1).reset();
  EXPECT_EQ(told, 2);
  book->remove("aa", 1);
  EXPECT_EQ(told, 3);
  watch.reset();
  add("tea", 1s).value();
  EXPECT_EQ(told, 3);
}

TEST_F(ReminderBookTest, AWatcherMayOutliveTheBook) {
  auto watch = book->watch("aa", [] {});
  book.reset();
  watch.reset();
}

TEST_F(ReminderBookTest, WithoutStorageItIsInMemory) {
  store = nullptr;
  open();
  add("tea", 1s).value();
  EXPECT_THAT(texts(), ElementsAre("tea"));
  book->claim("aa", kNow + 1s, 1)->delivered();
  EXPECT_THAT(texts(), IsEmpty());
}

}  // namespace
}  // namespace parley::mcp
