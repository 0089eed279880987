// Answers that are asked for before the utterance has ended.
#include <gmock/gmock.h>

#include "fakes/session_rig.hpp"

namespace parley::session {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class DraftTest : public test::SessionRig {
 protected:
  json last_turn() const { return turn_log->lines.empty() ? json() : json(turn_log->lines.back()); }
};

TEST_F(DraftTest, AModelIsAskedAheadOnAPartialThatStands) {
  settings->profile.session.draft_after = 200ms;
  asr->answers[0].text = "Hello.";
  asr->answers[0].partials = {{100ms, "hel"}, {150ms, "hello"}};
  connect();
  hello();
  listen();
  utter();
  advance(10s);
  ASSERT_EQ(llm->requests.size(), 1U) << "the draft is the answer";
  EXPECT_EQ(llm->requests[0].messages.back().text, "hello");
  EXPECT_EQ(connection->texts("stt").at(0).json["text"], "Hello.");
  const auto turn = last_turn();
  EXPECT_EQ(turn["outcome"], "completed");
  EXPECT_NEAR(turn["draft_saved_ms"].get<double>(), to_ms(llm->delay), 0.001);
  EXPECT_FALSE(turn.contains("drafts_dropped"));
}

TEST_F(DraftTest, ADraftOnWordsThatChangeIsThrownAway) {
  settings->profile.session.draft_after = 200ms;
  asr->answers[0].text = "hello you";
  asr->answers[0].partials = {{100ms, "hello"}};
  connect();
  hello();
  listen();
  utter();
  advance(10s);
  ASSERT_EQ(llm->requests.size(), 2U);
  EXPECT_EQ(llm->requests[1].messages.back().text, "hello you");
  EXPECT_EQ(connection->texts("tts", "sentence_start").size(), 1U);
  const auto turn = last_turn();
  EXPECT_EQ(turn["drafts_dropped"], 1);
  EXPECT_FALSE(turn.contains("draft_saved_ms"));
}

TEST_F(DraftTest, ToolsOfADraftAreCalledOnlyWhenTheUtteranceHasEnded) {
  settings->profile.session.draft_after = 100ms;
  asr->answers[0].partials = {{50ms, "hello"}};
  TimePoint called{};
  llm->reply = [&](const engine::ChatRequest& request) {
    if (request.messages.back().role == engine::Message::Role::tool) {
      called = world.now();
      return std::vector<test::FakeLlm::What>{engine::TextDelta{"Done."}};
    }
    return std::vector<test::FakeLlm::What>{engine::ToolCall{"1", "no_such_tool", json::object()}};
  };
  connect();
  hello();
  listen();
  speak(1200ms);
  EXPECT_EQ(llm->requests.size(), 1U);
  EXPECT_EQ(called, TimePoint{});
  audio(settings->profile.detector.end_silence + 180ms, false);
  advance(10s);
  EXPECT_NE(called, TimePoint{});
  EXPECT_EQ(last_turn()["outcome"], "completed");
}

TEST_F(DraftTest, ADraftIsOffByDefaultAndEndsWithItsUtterance) {
  asr->answers[0].partials = {{50ms, "hello"}};
  connect();
  hello();
  listen();
  speak(1200ms);
  EXPECT_EQ(llm->requests.size(), 0U);
  abort();
  settings->profile.session.draft_after = 100ms;
  listen();
  audio(2s, false);  // A tone without a pause was taken for the room's own noise.
  speak(1200ms);
  EXPECT_EQ(llm->requests.size(), 1U);
  abort();
  advance(10s);
  EXPECT_EQ(llm->requests.size(), 1U);
  EXPECT_TRUE(connection->texts("tts", "start").empty());
}

}  // namespace
}  // namespace parley::session
