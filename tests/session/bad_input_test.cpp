// What a session does with a device that breaks the rules: nothing is lost, nobody hangs.
#include <gmock/gmock.h>

#include <random>

#include "fakes/session_rig.hpp"

namespace parley::session {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class BadInputTest : public test::SessionRig {
 protected:
  /// A turn goes through from beginning to end.
  void expect_alive() {
    const auto before = connection->texts("tts", "stop").size();
    advance(20s);  // Whatever still ran has ended.
    listen();
    utter();
    advance(10s);
    EXPECT_GT(connection->texts("tts", "stop").size(), before);
    EXPECT_FALSE(connection->closed);
  }
};

const std::vector<std::string> kBadTexts = {
    "",
    " ",
    "null",
    "7",
    "\"listen\"",
    "[]",
    "{}",
    "{",
    R"({"type":})",
    R"({"type":7})",
    R"({"type":null})",
    R"({"type":"listen"})",
    R"({"type":"listen","state":7})",
    R"({"type":"listen","state":"sideways"})",
    R"({"type":"mcp"})",
    R"({"type":"mcp","payload":"text"})",
    R"({"type":"mcp","payload":[1,2]})",
    R"({"type":"mcp","payload":{"jsonrpc":"2.0","id":1,"error":{"message":"Tool "x" not found"}}})",
    R"({"type":"hello"})",
    "\xff\xfe\x00",
    std::string(3000, '['),
};

TEST_F(BadInputTest, BadTextsAreDroppedAndTheSessionGoesOn) {
  connect();
  hello();
  for (const auto& text : kBadTexts) connection->say_text(text);
  expect_alive();
}

TEST_F(BadInputTest, BadTextsBeforeHelloDoNotPreventIt) {
  connect();
  for (const auto& text : kBadTexts) {
    if (text.find("hello") == std::string::npos) connection->say_text(text);
  }
  connection->send_audio({1, 2, 3});
  hello();
  EXPECT_EQ(connection->texts("hello").size(), 1U);
  expect_alive();
}

TEST_F(BadInputTest, IgnoredTypesAreNoErrors) {
  connect();
  hello();
  for (int i = 0; i < 60; ++i) {
    connection->say({{"type", i % 2 == 0 ? "iot" : "something-new"}, {"states", json::array()}});
    advance(100ms);
  }
  EXPECT_THAT(metrics->text(), testing::Not(testing::HasSubstr("parley_bad_input_total{kind=\"message\"}")));
  expect_alive();
}

TEST_F(BadInputTest, BadFramesInEveryFramingAreDropped) {
  for (const int version : {1, 2, 3}) {
    connect();
    hello(version);
    listen();
    const std::vector<std::vector<std::uint8_t>> frames = {
        {},
        {0},
        {0, 0, 0},
        {9, 0, 0, 1, 7},
        {0, 0, 0xff, 0xff, 1},
        {0, 0, 0, 0},
        std::vector<std::uint8_t>(15, 0),
        std::vector<std::uint8_t>(16, 0),
        std::vector<std::uint8_t>(60000, 0xab),
    };
    for (const auto& frame : frames) connection->send_audio(frame);
    expect_alive();
    connection->vanish();
  }
}

TEST_F(BadInputTest, JsonInABinaryFrameIsUnderstood) {
  connect();
  hello(3);
  const std::string text = R"({"type":"listen","state":"start","mode":"auto"})";
  const protocol::Bytes payload(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  connection->send_audio(*protocol::write_frame(framing, protocol::FrameType::json, payload, 0));
  utter();
  advance(10s);
  EXPECT_EQ(connection->texts("tts", "stop").size(), 1U);
}

TEST_F(BadInputTest, AFloodEndsTheSessionWith1008) {
  connect();
  hello();
  for (int i = 0; i < 101; ++i) connection->say_text("junk");
  ASSERT_TRUE(connection->closed);
  EXPECT_EQ(connection->closed->first, 1008);
}

TEST_F(BadInputTest, BadInputNowAndThenIsNoFlood) {
  connect();
  hello();
  for (int i = 0; i < 300; ++i) {
    connection->say_text("junk");
    advance(200ms);
  }
  EXPECT_FALSE(connection->closed);
}

TEST_F(BadInputTest, AudioFasterThanRealTimeIsDroppedAndWithoutEndItIsAFlood) {
  connect();
  hello();
  listen();
  const std::vector<std::int16_t> silence(960);
  const auto send = [&](int frames) {
    for (int i = 0; i < frames && !connection->closed; ++i) {
      const auto packet = encoder->encode(silence);
      connection->send_audio({packet->begin(), packet->end()});
    }
  };
  send(500);  // Half a minute that a network held back.
  EXPECT_FALSE(connection->closed);
  EXPECT_THAT(metrics->text(), testing::HasSubstr(R"(reason="faster_than_real_time")"));
  send(1000);
  ASSERT_TRUE(connection->closed);
  EXPECT_EQ(connection->closed->first, 1008);
}

TEST_F(BadInputTest, ADefectEndsTheSessionWith1011AndEscapesNowhere) {
  connect();
  hello();
  llm->has_a_defect = true;
  listen();
  ASSERT_TRUE(connection->closed);
  EXPECT_EQ(connection->closed->first, 1011);
  EXPECT_TRUE(ended);
}

TEST_F(BadInputTest, NoHelloIsClosed) {
  connect();
  advance(settings->server.handshake_timeout + 1s);
  ASSERT_TRUE(connection->closed);
  EXPECT_EQ(connection->closed->first, 1002);
  EXPECT_TRUE(ended);
}

TEST_F(BadInputTest, AnUnknownVersionIsClosedWithTheReason) {
  connect();
  connection->say({{"type", "hello"}, {"version", 9}});
  ASSERT_TRUE(connection->closed);
  EXPECT_EQ(connection->closed->first, 1002);
  EXPECT_THAT(connection->closed->second, testing::HasSubstr("9"));
  EXPECT_TRUE(connection->texts("hello").empty());
  EXPECT_TRUE(ended);
}

TEST_F(BadInputTest, AHelloThatCannotBeReadIsClosedAtOnceWithItsField) {
  connect();
  connection->say({{"type", "hello"}, {"features", {{"mcp", "yes"}}}});
  ASSERT_TRUE(connection->closed);
  EXPECT_EQ(connection->closed->first, 1002);
  EXPECT_THAT(connection->closed->second, testing::HasSubstr("mcp"));
  EXPECT_TRUE(connection->texts("hello").empty());
  EXPECT_TRUE(ended);
}

TEST_F(BadInputTest, ADeviceThatNeverListsItsToolsIsHeardWithoutThem) {
  connect();
  hello(1, true);
  listen();
  utter();
  advance(5s);
  EXPECT_EQ(connection->texts("stt").size(), 1U);
  EXPECT_EQ(connection->texts("tts", "stop").size(), 1U);
}

TEST_F(BadInputTest, ASecondHelloChangesNothing) {
  connect();
  hello();
  hello(3);
  framing = protocol::Framing::raw;
  EXPECT_EQ(connection->texts("hello").size(), 1U);
  expect_alive();
}

TEST_F(BadInputTest, MessagesInAnyOrderKeepThePromises) {
  std::mt19937 random(11);
  for (int run = 0; run < 60; ++run) {
    connect();
    hello(1 + run % 3, run % 2 == 0);
    const std::vector<std::function<void()>> steps = {
        [&] { listen("auto"); },
        [&] { listen("manual"); },
        [&] { listen("realtime"); },
        [&] { stop(); },
        [&] { abort(); },
        [&] { speak(240ms); },
        [&] { audio(480ms, false); },
        [&] { utter(); },
        [&] { advance(400ms); },
        [&] {
          connection->say({{"type", "listen"}, {"state", "detect"}, {"text", "hey"}});
        },
        [&] { connection->say_text(kBadTexts[random() % kBadTexts.size()]); },
        [&] {
          connection->send_audio({1, 2, 3, 4, 5});
        },
        [&] { connection->say(R"({"type":"mcp","payload":{"jsonrpc":"2.0","id":1,"result":{}}})"_json); },
        [&] {
          connection->say({{"type", "goodbye"}});
        },
    };
    for (int step = 0; step < 25 && !connection->closed; ++step) steps[random() % steps.size()]();
    advance(2min);
    EXPECT_EQ(connection->texts("tts", "start").size(), connection->texts("tts", "stop").size())
        << "run " << run;
    EXPECT_EQ(asr->living, 0);
    connection->vanish();
    advance(1s);
    EXPECT_TRUE(ended);
    ended = false;
    if (HasFailure()) return;
  }
}

TEST_F(BadInputTest, ADeviceThatVanishesInEveryInstantLeavesNothingBehind) {
  for (auto at = 0ms; at < 2400ms; at += 31ms) {
    connect();
    hello(1, true);
    listen();
    speak();
    for (auto passed = 0ms; passed < at; passed += 60ms) audio(60ms, false);
    connection->vanish();
    advance(1s);
    EXPECT_TRUE(ended);
    ended = false;
    EXPECT_EQ(asr->living, 0);
    const std::weak_ptr<Session> gone = session;
    session.reset();
    world.settle();
    EXPECT_TRUE(gone.expired()) << "the session is still held at " << at.count();
    EXPECT_EQ(world.scheduler->armed(), 0U);
    if (HasFailure()) return;
  }
}

TEST_F(BadInputTest, ADeviceThatNeverAnswersMcpStillTalks) {
  connect();
  hello(1, true);
  listen();
  utter();
  advance(1min);
  EXPECT_EQ(connection->texts("tts", "stop").size(), 1U) << "after the tool list has timed out";
}

TEST_F(BadInputTest, McpAnswersThatAreWrongTwiceOrUnknownAreHarmless) {
  connect();
  hello(1, true);
  for (const auto* payload :
       {R"({"jsonrpc":"2.0","id":99,"result":{}})", R"({"jsonrpc":"2.0","id":1,"result":{}})",
        R"({"jsonrpc":"2.0","id":1,"result":{}})", R"({"jsonrpc":"2.0","id":2,"result":{"tools":"none"}})",
        R"({"jsonrpc":"2.0","id":2,"error":{}})", R"({"jsonrpc":"2.0","id":"a","method":"x"})"}) {
    connection->say({{"type", "mcp"}, {"payload", json::parse(payload)}});
  }
  expect_alive();
}

}  // namespace
}  // namespace parley::session
