// What the model is told of the conversation, and what of it outlives the session.
#include <gmock/gmock.h>

#include "fakes/fake_conversations.hpp"
#include "fakes/session_rig.hpp"

namespace parley::session {
namespace {

using namespace std::chrono_literals;
using engine::Message;
using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

class MemoryTest : public test::SessionRig {
 protected:
  MemoryTest() { conversations = store; }

  void begin(Caller caller = {"aa:bb", "", "", "127.0.0.1", "test"}) {
    connect(std::move(caller));
    hello();
    listen();
  }
  void reconnect() {
    connection->vanish();
    advance(1min);
    begin();
  }
  std::vector<std::string> asked() const {
    std::vector<std::string> out;
    for (const auto& message : llm->requests.back().messages) {
      if (message.role != Message::Role::system) out.push_back(message.text);
    }
    return out;
  }

  std::shared_ptr<test::FakeConversations> store = std::make_shared<test::FakeConversations>();
};

TEST_F(MemoryTest, ADeviceThatConnectsAgainGoesOn) {
  begin();
  utter();
  advance(10s);
  ASSERT_EQ(store->kept["aa:bb"].size(), 1U);
  EXPECT_EQ(store->kept["aa:bb"][0].user_text, "hello");
  EXPECT_EQ(store->kept["aa:bb"][0].at, wall_time);
  reconnect();
  asr->answers = {{.text = "again"}};
  utter();
  advance(10s);
  EXPECT_THAT(asked(), ElementsAre("hello", "Hello there.", "again"));
  const auto& messages = llm->requests.back().messages;
  EXPECT_TRUE(messages[1].earlier);
  EXPECT_TRUE(messages[2].earlier);
  EXPECT_FALSE(messages[3].earlier);
}

TEST_F(MemoryTest, AnotherDeviceDoesNot) {
  begin();
  utter();
  advance(10s);
  connection->vanish();
  advance(1min);
  begin({"cc:dd", "", "", "127.0.0.1", "test"});
  utter();
  advance(10s);
  EXPECT_THAT(asked(), ElementsAre("hello"));
}

TEST_F(MemoryTest, ADeviceWithoutANameIsNotKept) {
  begin({"unnamed-1", "", "", "127.0.0.1", "test", true});
  utter();
  advance(10s);
  EXPECT_EQ(llm->requests.size(), 1U);
  EXPECT_EQ(store->loads, 0U);
  EXPECT_THAT(store->kept, IsEmpty());
}

TEST_F(MemoryTest, AnEarlyTurnWaitsALittleForIt) {
  store->kept["aa:bb"] = {{.user_text = "before", .reply = {}, .at = {}}};
  store->slow = true;
  asr->answers = {{.delay = 1s}};
  begin();
  utter();
  while (connection->texts("stt").empty()) advance(1ms);
  advance(40ms);
  EXPECT_THAT(llm->requests, IsEmpty());
  store->answer();
  advance(1ms);
  ASSERT_EQ(llm->requests.size(), 1U);
  EXPECT_THAT(asked(), ElementsAre("before", "hello"));
}

TEST_F(MemoryTest, AndThenGoesWithout) {
  store->kept["aa:bb"] = {{.user_text = "before", .reply = {}, .at = {}}};
  store->slow = true;
  asr->answers = {{.delay = 1s}};
  begin();
  utter();
  while (connection->texts("stt").empty()) advance(1ms);
  advance(60ms);
  ASSERT_EQ(llm->requests.size(), 1U);
  EXPECT_THAT(asked(), ElementsAre("hello"));
  advance(10s);
  store->answer();
  listen();
  utter();
  advance(10s);
  EXPECT_THAT(asked(), ElementsAre("before", "hello", "Hello there.", "hello"))
      << "what came late is in front";
}

TEST_F(MemoryTest, StorageThatFailsCostsNothingElse) {
  store->error = "the disk is on fire";
  begin();
  utter();
  advance(10s);
  EXPECT_EQ(connection->texts("tts", "stop").size(), 1U);
  EXPECT_EQ(store->kept["aa:bb"].size(), 1U);
}

TEST_F(MemoryTest, ALoadThatOutlivesTheSessionFallsOnTheFloor) {
  store->slow = true;
  begin();
  connection->vanish();
  advance(1min);
  EXPECT_TRUE(ended);
  session.reset();
  store->answer();
  advance(1s);
}

TEST_F(MemoryTest, OnlyWhatWasHeardIsKept) {
  llm->reply = [](const auto&) {
    return std::vector<test::FakeLlm::What>{
        engine::TextDelta{"One two three. Four five six. Seven eight nine."}};
  };
  begin();
  utter();
  while (connection->texts("tts", "sentence_start").size() < 2) advance(10ms);
  advance(400ms);
  abort();
  advance(10s);
  ASSERT_EQ(store->kept["aa:bb"].size(), 1U);
  const auto& reply = store->kept["aa:bb"][0].reply;
  ASSERT_EQ(reply.size(), 1U);
  EXPECT_THAT(reply[0].text, testing::StartsWith("One two three."));
  EXPECT_THAT(reply[0].text, testing::Not(testing::HasSubstr("Seven")));
}

TEST_F(MemoryTest, ThePromptBeginsAsTheOneBefore) {
  settings->profile.persona = "You are Parley.\nIt is {time} on {date}.";
  settings->profile.timezone = "Etc/UTC";
  begin();
  for (int i = 0; i < 4; ++i) {
    utter();
    advance(10s);
    wall_time += 20min;
    listen();
  }
  ASSERT_EQ(llm->requests.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& messages = llm->requests[i].messages;
    EXPECT_EQ(messages.front().text, "You are Parley.");
    const auto& aside = messages[messages.size() - 2];
    EXPECT_EQ(aside.role, Message::Role::system);
    EXPECT_EQ(messages.back().text, "hello");
    if (i == 0) {
      EXPECT_EQ(aside.text, "It is 15:05 on Tuesday, 2025-03-04.");
      continue;
    }
    const auto& before = llm->requests[i - 1].messages;
    for (std::size_t m = 0; m + 2 < before.size(); ++m) EXPECT_EQ(messages[m].text, before[m].text);
  }
  EXPECT_EQ(llm->requests[3].messages.end()[-2].text, "It is 16:05 on Tuesday, 2025-03-04.");
}

TEST_F(MemoryTest, TheDevicesStatusIsAskedForOnlyWhereThePersonaWantsIt) {
  const auto answer = [this](const json& result) {
    const auto request = connection->texts("mcp").back().json["payload"];
    connection->say(
        {{"type", "mcp"}, {"payload", {{"jsonrpc", "2.0"}, {"id", request["id"]}, {"result", result}}}});
  };
  const json tools = {{"tools", {{{"name", "self.get_device_status"}, {"inputSchema", json::object()}}}}};
  for (const bool wanted : {false, true}) {
    settings->profile.persona = wanted ? "You are Parley.\nThe device says {status}" : "You are Parley.";
    connect();
    hello(1, true);
    answer({{"protocolVersion", "2024-11-05"}});
    answer(tools);
    advance(1ms);
    EXPECT_EQ(connection->texts("mcp").back().json["payload"]["method"] == "tools/call", wanted);
    if (wanted) answer({{"content", {{{"type", "text"}, {"text", "volume 70"}}}}, {"isError", false}});
    listen();
    utter();  // It asks again here, and does not wait for the answer.
    advance(10s);
    const auto& messages = llm->requests.back().messages;
    const auto& last = messages[messages.size() - 2];
    EXPECT_EQ(last.text == "The device says volume 70", wanted) << last.text;
    connection->vanish();
    advance(1min);
  }
}

}  // namespace
}  // namespace parley::session
