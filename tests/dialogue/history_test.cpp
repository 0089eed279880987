#include "parley/dialogue/history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

namespace parley::dialogue {
namespace {

using engine::Message;
using Role = Message::Role;

constexpr std::size_t kPlenty = 1'000'000;

Message message(Role role, std::string text) {
  Message out;
  out.role = role;
  out.text = std::move(text);
  return out;
}

Message call(std::vector<std::string> ids) {
  Message out;
  out.role = Role::assistant;
  out.text = "Let me see.";
  for (auto& id : ids) out.calls.push_back({std::move(id), "tool", nlohmann::json::object()});
  return out;
}

std::vector<std::string> user_texts(const History& history) {
  std::vector<std::string> out;
  for (const auto& said : history.request("", "", "now")) {
    if (said.role == Role::user) out.push_back(said.text);
  }
  out.pop_back();
  return out;
}

TEST(EstimateTokens, ByAlphabet) {
  const std::tuple<std::string_view, std::size_t> table[] = {
      {"", 0},
      {"a", 1},
      {"The lamp is on.", 4},
      {"Schalte die Küche aus", 6},   // 21 characters, one of two bytes
      {"Đèn phòng khách đã bật", 6},  // Vietnamese: 22 characters
      {"打开厨房的灯", 6},
      {"電気をつけて", 6},
      {"불을 켜 줘", 5},  // four syllables of one, two spaces
      {"Включи свет", 6},
      {"🙂", 1},
      {"\xff\xfe", 2},
      {"\xe6\x89", 2},  // cut off
      {std::string_view("\0\0\0\0", 4), 1},
  };
  for (const auto& [text, tokens] : table) EXPECT_EQ(estimate_tokens(text), tokens) << text;
}

TEST(EstimateTokens, CountsCallsWithTheirArguments) {
  auto asked = call({"a"});
  const auto before = estimate_tokens(asked);
  asked.calls[0].arguments["text"] = std::string(400, 'x');
  EXPECT_GE(estimate_tokens(asked), before + 100);
}

TEST(HistoryTest, ForgetsTheOldestTurnFirst) {
  History history(2, kPlenty);
  for (const auto* word : {"one", "two", "three"}) history.add(word, {message(Role::assistant, word)});
  const auto messages = history.request("be kind", "", "four");
  ASSERT_EQ(messages.size(), 6U);
  EXPECT_EQ(messages[0].role, Role::system);
  EXPECT_EQ(messages[1].text, "two");
  EXPECT_EQ(messages[5].text, "four");
}

TEST(HistoryTest, WhatChangesComesRightBeforeTheNewestWords) {
  History history(4, kPlenty);
  history.add("one", {message(Role::assistant, "1")});
  const auto messages = history.request("be kind", "It is noon.", "two");
  ASSERT_EQ(messages.size(), 5U);
  EXPECT_EQ(messages[0].text, "be kind");
  EXPECT_EQ(messages[3].role, Role::system);
  EXPECT_EQ(messages[3].text, "It is noon.");
  EXPECT_EQ(messages[4].text, "two");
}

TEST(HistoryTest, OneStepMakesRoomForSeveralTurns) {
  History history(12, kPlenty);
  std::size_t steps = 0;
  std::string first;
  for (int i = 0; i < 48; ++i) {
    history.add(std::to_string(i), {});
    EXPECT_LE(history.turns(), 12U);
    const auto front = user_texts(history).front();
    if (!first.empty() && front != first) ++steps;
    first = front;
  }
  EXPECT_EQ(steps, 9U) << "36 turns beyond the limit, four at a time";
}

TEST(HistoryTest, TheTokensAreALimitOfTheirOwn) {
  History history(100, 200);
  for (int i = 0; i < 50; ++i) {
    history.add(std::to_string(i), {message(Role::assistant, std::string(100, 'x'))});
    std::size_t tokens = 0;
    const auto messages = history.request("", "", "");
    for (std::size_t m = 0; m + 1 < messages.size(); ++m) tokens += estimate_tokens(messages[m]);
    EXPECT_LE(tokens, 200U);
  }
  EXPECT_GE(history.turns(), 3U);
  EXPECT_EQ(user_texts(history).back(), "49");
}

TEST(HistoryTest, CallsGoWithTheirResults) {
  History history(100, 150);
  for (int i = 0; i < 30; ++i) {
    history.add("do it", {call({"a", "b"}), message(Role::tool, "1"), message(Role::tool, "2"),
                          message(Role::assistant, "Done.")});
    const auto messages = history.request("", "", "now");
    EXPECT_EQ(messages.front().role, Role::user);
    EXPECT_EQ(std::ranges::count(messages, Role::tool, &Message::role),
              2 * std::ranges::count_if(messages, [](const auto& m) { return !m.calls.empty(); }));
  }
}

TEST(HistoryTest, AHugeResultCostsTheCallsNotTheTurn) {
  History history(10, 100);
  history.add("read it", {call({"a"}), message(Role::tool, std::string(10'000, 'x')),
                          message(Role::assistant, "It is long.")});
  const auto messages = history.request("", "", "and?");
  ASSERT_EQ(messages.size(), 4U);
  EXPECT_EQ(messages[0].text, "read it");
  EXPECT_EQ(messages[1].text, "Let me see.");
  EXPECT_TRUE(messages[1].calls.empty());
  EXPECT_EQ(messages[2].text, "It is long.");
}

TEST(HistoryTest, AHugeTextIsNotKept) {
  History history(10, 100);
  history.add("one", {});
  history.add(std::string(10'000, 'x'), {});
  EXPECT_EQ(user_texts(history), std::vector<std::string>{"one"});
}

TEST(HistoryTest, NoLimitIsTooSmall) {
  for (const auto& [turns, tokens] : {std::pair<std::size_t, std::size_t>{0, 0}, {0, 100}, {1, 0}, {1, 1}}) {
    History history(turns, tokens);
    for (int i = 0; i < 5; ++i) history.add("words", {message(Role::assistant, "more words")});
    history.restore({{.user_text = "before", .reply = {}, .at = {}}});
    EXPECT_EQ(history.turns(), 0U) << turns << " " << tokens;
  }
}

TEST(HistoryTest, EarlierTurnsGoInFrontAndAreMarked) {
  History history(10, kPlenty);
  history.add("now", {message(Role::assistant, "Now.")});
  history.restore({{.user_text = "then", .reply = {message(Role::assistant, "Then.")}, .at = {}}});
  const auto messages = history.request("", "", "next");
  ASSERT_EQ(messages.size(), 5U);
  EXPECT_EQ(messages[0].text, "then");
  EXPECT_TRUE(messages[0].earlier);
  EXPECT_TRUE(messages[1].earlier);
  EXPECT_EQ(messages[2].text, "now");
  EXPECT_FALSE(messages[2].earlier);
  EXPECT_FALSE(messages[3].earlier);
  EXPECT_FALSE(messages[4].earlier);
}

TEST(HistoryTest, EarlierTurnsObeyTheLimits) {
  History history(3, kPlenty);
  std::vector<engine::PastTurn> earlier;
  for (int i = 0; i < 10; ++i) earlier.push_back({.user_text = std::to_string(i), .reply = {}, .at = {}});
  history.restore(std::move(earlier));
  EXPECT_EQ(user_texts(history), (std::vector<std::string>{"7", "8", "9"}));
}

TEST(HistoryTest, OnlyWhatWasHeardIsKept) {
  const auto kept = truncate_to_heard(
      {call({"a"}), message(Role::tool, "42"), message(Role::assistant, "It is 42 and more.")}, "It is");
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0].text, "");
  EXPECT_EQ(kept[0].calls.size(), 1U);
  EXPECT_EQ(kept[2].text, "It is");
}

TEST(HistoryTest, CallsWithoutAllTheirResultsAreDropped) {
  const auto kept = truncate_to_heard({call({"a", "b"}), message(Role::tool, "42")}, "");
  EXPECT_TRUE(kept.empty());
}

}  // namespace
}  // namespace parley::dialogue
