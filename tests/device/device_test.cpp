#include "parley/device/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "device/fake_server.hpp"
#include "parley/audio/opus_codec.hpp"

namespace parley::device {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using Client = FakeServer::Client;

constexpr int kFrameMs = 20;

Settings settings_for(const FakeServer& server) {
  Settings settings;
  settings.url = {"127.0.0.1", std::to_string(server.port()), "/xiaozhi/v1/"};
  settings.token = "secret";
  settings.frame = Millis(kFrameMs);
  settings.handshake_timeout = Millis(150);
  settings.reply_timeout = Millis(150);
  settings.playout.loop_delay = Duration::zero();
  return settings;
}

Utterance utterance(int ms = 100) {
  return {"words", std::vector<std::int16_t>(audio::samples_in(Millis(ms), 16000), 1000), Millis(ms - 20)};
}

std::vector<std::uint8_t> packet(int ms = kFrameMs) {
  auto encoder = audio::OpusEncoder::make({});
  const std::vector<std::int16_t> silence(audio::samples_in(Millis(ms), 24000));
  const auto encoded = encoder->encode(silence);
  return {encoded->begin(), encoded->end()};
}

Task<> say_hello(Client& client) {
  co_await client.expect({{"type", "hello"}});
  json hello{{"type", "hello"}, {"transport", "websocket"}, {"session_id", "s1"}};
  hello["audio_params"] = {
      {"format", "opus"}, {"sample_rate", 24000}, {"channels", 1}, {"frame_duration", kFrameMs}};
  co_await client.json(hello);
}

Task<> tts(Client& client, const char* state) {
  json message{{"type", "tts"}, {"state", state}};
  co_await client.json(message);
}

/// A whole answer of some frames.
Task<> answer(Client& client, int frames = 3) {
  json stt{{"type", "stt"}, {"text", "words"}};
  co_await client.json(stt);
  co_await tts(client, "start");
  json subtitle{{"type", "tts"}, {"state", "sentence_start"}, {"text", "Yes."}};
  co_await client.json(subtitle);
  for (int i = 0; i < frames; ++i) co_await client.binary(packet());
  co_await tts(client, "stop");
}

Task<> hear(Client& client, std::size_t frames) {
  const auto enough = client.frames.size() + frames;
  co_await client.until([&client, enough] { return client.frames.size() >= enough; });
}

/// A device against a script, and what came of it.
class DeviceTest : public testing::Test {
 protected:
  using Change = std::function<void(Settings&)>;

  Result<> run(FakeServer::Script script, int turns = 1, const Change& change = {}, unsigned status = 101,
               const std::string& wake = "") {
    asio::io_context io(1);
    FakeServer server(io, std::move(script), status);
    auto settings = settings_for(server);
    if (change) change(settings);
    Device device(io.get_executor(), settings, McpServer(stock_tools()), NoiseBed(),
                  [this](const Event& event) {
                    events.push_back(event);
                    conversation.add(event);
                  });
    Result<> outcome;
    asio::co_spawn(io, converse(device, turns, wake, outcome), [&server](const std::exception_ptr& thrown) {
      server.close();
      if (thrown) std::rethrow_exception(thrown);
    });
    io.run();
    return outcome;
  }

  static Task<> converse(Device& device, int turns, std::string wake, Result<>& outcome) {
    outcome = co_await device.open();
    if (outcome && !wake.empty()) outcome = co_await device.wake(wake);
    for (int i = 0; i < turns && outcome; ++i) outcome = co_await device.turn(utterance());
    device.close();
  }

  std::size_t count(EventKind kind) const {
    return static_cast<std::size_t>(
        std::count_if(events.begin(), events.end(), [&](const Event& event) { return event.kind == kind; }));
  }
  std::string kinds() const {
    std::string names;
    for (const auto& event : events) names.append(names.empty() ? "" : " ").append(to_string(event.kind));
    return names;
  }
  std::string violation() const {
    const auto found = std::find_if(events.begin(), events.end(),
                                    [](const Event& event) { return event.kind == EventKind::violation; });
    return found == events.end() ? "none" : found->text;
  }

  std::vector<Event> events;
  Conversation conversation{Clock::now()};
};

TEST_F(DeviceTest, HoldsAConversationInAutoMode) {
  std::vector<json> texts;
  std::vector<std::pair<std::string, std::string>> headers;
  const auto outcome = run(
      [&](Client& client) -> Task<> {
        co_await say_hello(client);
        for (std::size_t turn = 1; turn <= 2; ++turn) {
          co_await client.until([&] {
            return client.count({{"type", "listen"}, {"state", "start"}}) == turn;
          });
          co_await hear(client, 8);
          co_await answer(client);
        }
        co_await client.until([] { return false; });
        texts = client.texts;
        headers = client.headers;
      },
      2);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(
      kinds(),
      "connected hello turn listen_start speech_end stt tts_start sentence first_audio tts_stop turn_end "
      "turn listen_start speech_end stt tts_start sentence first_audio tts_stop turn_end");
  const auto summary = conversation.summary({});
  const auto& turn = summary.at("turns").at(1);
  EXPECT_EQ(turn.at("heard"), "words");
  EXPECT_EQ(turn.at("frames").at("played"), 3);
  EXPECT_EQ(turn.at("frames").at("dropped"), 0);
  // The speech ended at 80 ms, the server answers after 8 frames.
  EXPECT_GE(turn.at("first_audio_ms").get<double>(), 80);
  ASSERT_FALSE(texts.empty());
  EXPECT_EQ(texts[0].at("audio_params").at("frame_duration"), kFrameMs);
  EXPECT_EQ(texts.back().at("session_id"), "s1");
  EXPECT_THAT(headers,
              testing::IsSupersetOf({std::pair<std::string, std::string>("Authorization", "Bearer secret"),
                                     {"Protocol-Version", "1"},
                                     {"Device-Id", "02:00:00:00:00:01"}}));
}

TEST_F(DeviceTest, ClosesTheMicrophoneWhileItSpeaks) {
  std::size_t before = 0;
  std::size_t after = 0;
  const auto outcome = run([&](Client& client) -> Task<> {
    co_await say_hello(client);
    co_await hear(client, 2);
    co_await tts(client, "start");
    // A request whose answer tells that the device has read the start.
    json ping{{"jsonrpc", "2.0"}, {"method", "initialize"}, {"id", 1}};
    json message{{"type", "mcp"}, {"payload", ping}};
    co_await client.json(message);
    co_await client.expect({{"type", "mcp"}});
    before = client.frames.size();
    for (int i = 0; i < 4; ++i) co_await client.binary(packet());
    co_await tts(client, "stop");
    co_await client.until([] { return false; });
    after = client.frames.size();
  });
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(before, after);
  EXPECT_EQ(count(EventKind::cut_off), 1U);
}

TEST_F(DeviceTest, ManualModeSaysWhenTheUtteranceIsOver) {
  const auto outcome = run(
      [](Client& client) -> Task<> {
        co_await say_hello(client);
        co_await client.expect({{"type", "listen"}, {"state", "start"}, {"mode", "manual"}});
        co_await client.expect({{"type", "listen"}, {"state", "stop"}});
        EXPECT_EQ(client.frames.size(), 5U);
        co_await answer(client);
      },
      1, [](Settings& settings) { settings.mode = protocol::ListenMode::manual; });
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(count(EventKind::listen_stop), 1U);
}

TEST_F(DeviceTest, RealtimeModeKeepsTheMicrophoneOpen) {
  const auto outcome = run(
      [](Client& client) -> Task<> {
        co_await say_hello(client);
        co_await hear(client, 7);
        co_await tts(client, "start");
        co_await hear(client, 3);
        co_await answer(client);
        co_await hear(client, 10);
        co_await answer(client);
        EXPECT_EQ(client.count({{"type", "listen"}}), 1U);
      },
      2, [](Settings& settings) { settings.mode = protocol::ListenMode::realtime; });
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(count(EventKind::listen_start), 1U);
  EXPECT_EQ(count(EventKind::cut_off), 0U);
}

TEST_F(DeviceTest, InterruptsTheFirstReplyByAnAbort) {
  const auto outcome = run(
      [](Client& client) -> Task<> {
        co_await say_hello(client);
        co_await hear(client, 6);
        co_await tts(client, "start");
        for (int i = 0; i < 10; ++i) co_await client.binary(packet());
        co_await client.expect({{"type", "abort"}});
        co_await tts(client, "stop");
        co_await client.binary(packet());
        co_await client.until([&] { return client.count({{"type", "listen"}}) == 2; });
        co_await hear(client, 6);
        co_await answer(client);
      },
      2, [](Settings& settings) { settings.interrupt_after = Millis(30); });
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(count(EventKind::abort), 1U);
  const auto first = conversation.summary({}).at("turns").at(0);
  EXPECT_EQ(first.at("interrupted"), true);
  EXPECT_EQ(first.at("frames").at("dropped_outside"), 1);
}

TEST_F(DeviceTest, TalksOverAReplyInRealtime) {
  const auto outcome = run(
      [](Client& client) -> Task<> {
        co_await say_hello(client);
        co_await hear(client, 6);
        co_await tts(client, "start");
        for (int i = 0; i < 10; ++i) co_await client.binary(packet());
        co_await hear(client, 10);
        co_await tts(client, "stop");
        co_await answer(client);
      },
      2,
      [](Settings& settings) {
        settings.mode = protocol::ListenMode::realtime;
        settings.interrupt_after = Millis(40);
        settings.talk_over = true;
      });
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(count(EventKind::abort), 0U);
  EXPECT_EQ(conversation.summary({}).at("turns").at(1).at("replies").at(0), "Yes.");
}

TEST_F(DeviceTest, HearsTheGreetingOut) {
  const auto outcome = run(
      [](Client& client) -> Task<> {
        co_await say_hello(client);
        co_await client.expect({{"type", "listen"}, {"state", "detect"}, {"text", "hi parley"}});
        co_await answer(client);
        co_await client.until([&] { return client.count({{"state", "start"}}) == 2; });
        co_await hear(client, 6);
        co_await answer(client);
      },
      1, {}, 101, "hi parley");
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(conversation.summary({}).at("greeting").at(0), "Yes.");
}

TEST_F(DeviceTest, AnswersToolCalls) {
  json reply;
  const auto outcome = run([&](Client& client) -> Task<> {
    co_await say_hello(client);
    json call{{"jsonrpc", "2.0"}, {"method", "tools/call"}, {"id", 5}};
    call["params"] = {{"name", "self.audio_speaker.set_volume"}, {"arguments", {{"volume", 30}}}};
    json message{{"type", "mcp"}, {"payload", call}};
    co_await client.json(message);
    co_await client.expect({{"type", "mcp"}});
    reply = client.texts.back();
    co_await answer(client);
  });
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(reply.at("payload").at("id"), 5);
  EXPECT_EQ(reply.at("payload").at("result").at("content").at(0).at("text"), "true");
  ASSERT_EQ(count(EventKind::tool_call), 1U);
}

TEST_F(DeviceTest, RefusalsAreSentences) {
  const auto refused = [&](unsigned status) {
    return run([](Client&) -> Task<> { co_return; }, 1, {}, status).error();
  };
  EXPECT_EQ(refused(401).code, Errc::unauthorized);
  EXPECT_EQ(refused(401).message, "the server refused the token (HTTP 401)");
  EXPECT_EQ(refused(503).code, Errc::unavailable);
  EXPECT_THAT(refused(404).message, HasSubstr("HTTP 404"));
  const auto nobody = run([](Client&) -> Task<> { co_return; }, 1, [](Settings& s) { s.url.port = "1"; });
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, Errc::unavailable);
}

TEST_F(DeviceTest, GivesUpWithoutHello) {
  const auto outcome = run([](Client& client) -> Task<> { co_await client.expect({{"type", "hello"}}); });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Errc::timeout);
  EXPECT_EQ(outcome.error().message, "the server did not say hello within 150 ms");
}

TEST_F(DeviceTest, GivesUpWithoutAnswer) {
  const auto outcome = run([](Client& client) -> Task<> { co_await say_hello(client); });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "the server gave no answer within 150 ms");
}

TEST_F(DeviceTest, GivesUpWhenAnAnswerStops) {
  const auto outcome = run([](Client& client) -> Task<> {
    co_await say_hello(client);
    co_await hear(client, 6);
    co_await tts(client, "start");
  });
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("stopped in the middle"));
}

TEST_F(DeviceTest, LostConnectionsAreSentences) {
  const auto closed = run([](Client& client) -> Task<> {
    co_await say_hello(client);
    co_await hear(client, 2);
    co_await client.close(1011, "no memory");
  });
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, Errc::closed);
  EXPECT_EQ(closed.error().message, "the server closed the connection (1011, no memory)");
  EXPECT_EQ(count(EventKind::closed), 1U);

  const auto dropped = run([](Client& client) -> Task<> {
    co_await say_hello(client);
    co_await hear(client, 2);
    client.drop();
  });
  ASSERT_FALSE(dropped);
  EXPECT_EQ(dropped.error().code, Errc::closed);
}

TEST_F(DeviceTest, AServerMayCloseOnceItHasAnswered) {
  const auto script = [](Client& client) -> Task<> {
    co_await say_hello(client);
    co_await hear(client, 6);
    co_await answer(client, 8);
    co_await client.close(1000, "goodbye");
  };
  const auto one_turn = run(script);
  ASSERT_TRUE(one_turn) << one_turn.error().message;
  EXPECT_EQ(conversation.summary({}).at("turns").at(0).at("frames").at("played"), 8);
  const auto two_turns = run(script, 2);
  ASSERT_FALSE(two_turns);
  EXPECT_EQ(two_turns.error().message, "the server closed the connection (1000, goodbye)");
}

TEST_F(DeviceTest, ReportsWhatBreaksTheProtocolAndGoesOn) {
  struct Case {
    const char* name;
    std::function<Task<>(Client&)> misdeed;
    int version;
    const char* complaint;
  };
  const Case cases[] = {
      {"junk text", [](Client& c) -> Task<> { co_await c.text("{\"type\":"); }, 1, ""},
      {"a text that is no object", [](Client& c) -> Task<> { co_await c.text("[1]"); }, 1, ""},
      {"text in a binary frame",
       [](Client& c) -> Task<> {
         const std::string text = R"({"type":"tts","state":"start"})";
         co_await c.binary({text.begin(), text.end()});
       },
       1, "JSON in a binary frame"},
      {"a short header",
       [](Client& c) -> Task<> {
         co_await c.binary({0, 0});
       },
       3, "a bad binary frame: "},
      {"a wrong size",
       [](Client& c) -> Task<> {
         co_await c.binary({0, 0, 0, 9, 1});
       },
       3, "a bad binary frame: "},
      {"a second hello", [](Client& c) -> Task<> { co_await say_hello(c); }, 1, "a second hello"},
  };
  for (const auto& each : cases) {
    events.clear();
    const auto outcome = run(
        [&](Client& client) -> Task<> {
          co_await say_hello(client);
          co_await hear(client, 1);
          co_await each.misdeed(client);
          co_await hear(client, 4);
          co_await tts(client, "start");
          co_await tts(client, "stop");
        },
        1, [&](Settings& settings) { settings.version = each.version; });
    EXPECT_TRUE(outcome) << each.name;
    EXPECT_EQ(count(EventKind::violation), 1U) << each.name;
    EXPECT_THAT(violation(), HasSubstr(each.complaint)) << each.name;
  }
}

TEST_F(DeviceTest, ReportsFramesOfAnotherLengthThanDeclared) {
  const auto outcome = run([](Client& client) -> Task<> {
    co_await say_hello(client);
    co_await hear(client, 6);
    co_await tts(client, "start");
    co_await client.binary(packet(40));
    co_await tts(client, "stop");
  });
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(violation(), "a frame of 960 samples where hello declared 20 ms");
}

TEST_F(DeviceTest, ABinaryFrameBeforeHelloIsAViolation) {
  const auto outcome = run([](Client& client) -> Task<> {
    co_await client.expect({{"type", "hello"}});
    co_await client.binary(packet());
    co_await say_hello(client);
    co_await hear(client, 6);
    co_await answer(client);
  });
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(violation(), "a binary frame before hello");
}

}  // namespace
}  // namespace parley::device
