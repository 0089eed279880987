#include "parley/dialogue/history.hpp"

#include <gtest/gtest.h>

namespace parley::dialogue {
namespace {

using engine::Message;
using Role = Message::Role;

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

TEST(HistoryTest, ForgetsTheOldestTurnFirst) {
  History history(2);
  for (const auto* word : {"one", "two", "three"}) history.add(word, {message(Role::assistant, word)});
  const auto messages = history.request("be kind", "four");
  ASSERT_EQ(messages.size(), 6U);
  EXPECT_EQ(messages[0].role, Role::system);
  EXPECT_EQ(messages[1].text, "two");
  EXPECT_EQ(messages[5].text, "four");
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
