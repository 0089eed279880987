// Whole turns through a session, on the manual clock.
#include <gmock/gmock.h>

#include "fakes/session_rig.hpp"

namespace parley::session {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = engine::AsrEvent::Kind;

class ConversationTest : public test::SessionRig {
 protected:
  json last_turn() const { return turn_log->lines.empty() ? json() : json(turn_log->lines.back()); }
};

TEST_F(ConversationTest, AnAutomaticTurnFromSpeechToTtsStop) {
  connect();
  hello();
  listen();
  utter();
  advance(10s);
  EXPECT_THAT(connection->story(),
              ElementsAre("hello", "stt", "tts start", "llm", "tts sentence_start", "frames", "tts stop"));
  EXPECT_EQ(connection->texts("stt")[0].json["text"], "hello");
  EXPECT_EQ(connection->texts("tts", "sentence_start")[0].json["text"], "Hello there.");
  EXPECT_EQ(connection->frames().size(), 10U) << "12 characters of 50 ms in frames of 60 ms";
  const auto turn = last_turn();
  EXPECT_EQ(turn["outcome"], "completed");
  EXPECT_EQ(turn["mode"], "auto");
  EXPECT_EQ(turn["said"], "Hello there.");
  EXPECT_NEAR(turn["added_ms"].get<double>(), 0, 0.001) << "nothing but engines on a clock that stands still";
  EXPECT_NEAR(turn["endpoint_ms"].get<double>(), 700, 61);
}

TEST_F(ConversationTest, TtsStopComesWhenTheLastFrameHasPlayed) {
  connect();
  hello();
  listen();
  utter();
  advance(10s);
  const auto frames = connection->frames();
  const auto stop = connection->texts("tts", "stop").at(0).at;
  EXPECT_EQ(stop - frames.front().at, static_cast<int>(frames.size()) * 60ms);
}

TEST_F(ConversationTest, TheFirstFrameLeavesTheDeviceTimeToClearItsQueue) {
  llm->delay = 0ms;
  tts->delay = 0ms;
  connect();
  hello();
  listen();
  utter();
  advance(10s);
  const auto start = connection->texts("tts", "start").at(0).at;
  EXPECT_EQ(connection->frames().at(0).at - start, settings->profile.audio.start_lead);
}

TEST_F(ConversationTest, AGoodbyeIsPlayedOutBeforeTheConnectionGoes) {
  llm->reply = [](const auto&) {
    return std::vector<test::FakeLlm::What>{engine::TextDelta{"Goodbye."}, engine::EndConversation{}};
  };
  connect();
  hello();
  listen();
  utter();
  while (connection->texts("tts", "stop").empty()) advance(10ms);
  advance(settings->profile.audio.send_ahead);
  EXPECT_FALSE(connection->closed);
  advance(1s);
  EXPECT_TRUE(connection->closed);
}

TEST_F(ConversationTest, FramesAreNeverEarlierThanTheSendAhead) {
  settings->profile.audio.send_ahead = 120ms;
  llm->reply = [](const auto&) {
    return std::vector<test::FakeLlm::What>{
        engine::TextDelta{"This is a rather long answer. It has two sentences."}};
  };
  connect();
  hello();
  listen();
  utter();
  advance(10s);
  const auto frames = connection->frames();
  ASSERT_GT(frames.size(), 30U);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_GE(frames[i].at - frames[0].at, static_cast<int>(i) * 60ms - 120ms);
  }
}

TEST_F(ConversationTest, PushToTalkEndsWithTheButtonNotWithSilence) {
  connect();
  hello();
  listen("manual");
  speak();
  audio(3s, false);
  speak();
  EXPECT_TRUE(connection->texts("stt").empty());
  stop();
  advance(10s);
  EXPECT_EQ(connection->texts("tts", "stop").size(), 1U);
  EXPECT_GE(asr->samples_heard, 16000U * 4);
  EXPECT_EQ(last_turn()["mode"], "manual");
}

TEST_F(ConversationTest, PushToTalkWithoutAudioIsNoSpeech) {
  connect();
  hello();
  listen("manual");
  stop();
  advance(1s);
  EXPECT_THAT(connection->story(), ElementsAre("hello"));
  EXPECT_EQ(last_turn()["outcome"], "no_speech");
}

TEST_F(ConversationTest, RealtimeListensOnWithoutANewStart) {
  connect();
  hello();
  listen("realtime");
  utter();
  advance(10s);
  utter();
  advance(10s);
  EXPECT_EQ(connection->texts("tts", "stop").size(), 2U);
  EXPECT_EQ(turn_log->lines.size(), 2U);
}

TEST_F(ConversationTest, AVoiceInterruptsInRealtimeAndItsFirstWordIsKept) {
  connect();
  hello();
  llm->reply = [](const auto&) {
    return std::vector<test::FakeLlm::What>{engine::TextDelta{std::string(200, 'a') + "."}};
  };
  listen("realtime");
  utter();
  advance(1s);
  const auto before = connection->frames().size();
  speak(900ms);
  EXPECT_EQ(connection->texts("tts", "stop").size(), 1U);
  EXPECT_LE(connection->frames().size(), before + 10);
  audio(1s, false);
  EXPECT_EQ(turn_log->lines.at(0)["outcome"], "interrupted");
  EXPECT_EQ(turn_log->lines.at(0)["why"], "voice");
  EXPECT_GE(asr->samples_heard, 16U * 850)
      << "what came before the interruption was decided is recognised too";
}

TEST_F(ConversationTest, AbortIsSilenceAtOnce) {
  settings->profile.persona = "";
  llm->reply = [](const auto&) {
    return std::vector<test::FakeLlm::What>{
        engine::TextDelta{"One two three four five six seven eight nine ten."}};
  };
  connect();
  hello();
  listen();
  utter();
  advance(1s);
  abort("wake_word_detected");
  const auto sent = connection->sent.size();
  EXPECT_EQ(connection->sent.back().json["state"], "stop");
  advance(30s);
  EXPECT_EQ(connection->sent.size(), sent) << "nothing of the old turn survives";
  EXPECT_EQ(last_turn()["outcome"], "interrupted");
  listen();
  utter();
  advance(10s);
  const auto& history = llm->requests.at(1).messages;
  ASSERT_EQ(history.size(), 3U);
  EXPECT_THAT(history[1].text, HasSubstr("One two"));
  EXPECT_THAT(history[1].text, testing::Not(HasSubstr("ten"))) << "only what was heard is remembered";
}

TEST_F(ConversationTest, AbortInEveryInstantOfATurnLeavesASessionThatGoesOn) {
  for (auto at = 0ms; at < 2s; at += 17ms) {
    connect();
    hello();
    listen();
    speak();
    for (auto passed = 0ms; passed < at; passed += 60ms) audio(60ms, false);
    abort();
    advance(5s);
    const auto starts = connection->texts("tts", "start").size();
    EXPECT_EQ(starts, connection->texts("tts", "stop").size()) << at.count();
    listen();
    utter();
    advance(10s);
    EXPECT_EQ(connection->texts("tts", "stop").size(), starts + 1) << at.count();
    connection->vanish();
    advance(1s);
    EXPECT_EQ(asr->living, 0);
    if (HasFailure()) return;
  }
}

TEST_F(ConversationTest, ListenStartWhileSpeakingBeginsAnew) {
  connect();
  hello();
  listen();
  utter();
  advance(300ms);
  listen();
  EXPECT_EQ(connection->texts("tts", "stop").size(), 1U);
  utter();
  advance(10s);
  EXPECT_EQ(connection->texts("tts", "stop").size(), 2U);
}

TEST_F(ConversationTest, ToolsOfTheDeviceAreCalledAndTheirResultsRead) {
  llm->reply = [](const engine::ChatRequest& request) {
    if (request.messages.back().role == engine::Message::Role::tool) {
      return std::vector<test::FakeLlm::What>{
          engine::TextDelta{"Result: " + request.messages.back().text + "."}};
    }
    return std::vector<test::FakeLlm::What>{
        engine::ToolCall{"1", request.tools->tools.at(0).name, json::object()}};
  };
  connect();
  hello(1, true);
  const auto reply = [&](json result) {
    const auto request = connection->texts("mcp").back().json["payload"];
    connection->say(
        {{"type", "mcp"}, {"payload", {{"jsonrpc", "2.0"}, {"id", request["id"]}, {"result", result}}}});
  };
  EXPECT_EQ(connection->texts("mcp").back().json["payload"]["method"], "initialize");
  reply({{"protocolVersion", "2024-11-05"}});
  EXPECT_EQ(connection->texts("mcp").back().json["payload"]["method"], "tools/list");
  reply({{"tools", {{{"name", "self.lamp.turn_on"}, {"inputSchema", json::object()}}}}});
  listen();
  utter();
  advance(200ms);
  ASSERT_EQ(connection->texts("mcp").back().json["payload"]["method"], "tools/call");
  EXPECT_EQ(connection->texts("mcp").back().json["payload"]["params"]["name"], "self.lamp.turn_on");
  advance(1s);
  reply({{"content", {{{"type", "text"}, {"text", "done"}}}}, {"isError", false}});
  advance(10s);
  EXPECT_EQ(connection->texts("tts", "sentence_start").at(0).json["text"], "Result: done.");
  const auto turn = last_turn();
  EXPECT_EQ(turn["tools"][0]["name"], "self_lamp_turn_on");
  EXPECT_EQ(turn["tools"][0]["where"], "device");
  EXPECT_EQ(turn["tools"][0]["ok"], true);
  EXPECT_NEAR(turn["added_ms"].get<double>(), 0, 0.001) << "a slow tool is not ours";
}

TEST_F(ConversationTest, AToolThatNeverAnswersDoesNotEndTheTurn) {
  llm->reply = [](const engine::ChatRequest& request) {
    if (request.messages.back().role == engine::Message::Role::tool) {
      return std::vector<test::FakeLlm::What>{engine::TextDelta{request.messages.back().text + "."}};
    }
    return std::vector<test::FakeLlm::What>{engine::ToolCall{"1", "self_slow", json::object()}};
  };
  connect();
  hello(1, true);
  connection->say(R"({"type":"mcp","payload":{"jsonrpc":"2.0","id":1,"result":{}}})"_json);
  connection->say(
      R"({"type":"mcp","payload":{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"self.slow"}]}}})"_json);
  listen();
  utter();
  advance(60s);
  const auto sentences = connection->texts("tts", "sentence_start");
  ASSERT_EQ(sentences.size(), 2U);
  EXPECT_EQ(sentences[0].json["text"], settings->profile.session.slow_tool_phrase);
  EXPECT_EQ(sentences[1].json["text"], "the device did not answer in time.");
  EXPECT_EQ(last_turn()["outcome"], "completed");
  EXPECT_EQ(last_turn()["tools"][0]["ok"], false);
}

TEST_F(ConversationTest, AModelThatAsksForToolsForEverIsStopped) {
  llm->reply = [](const engine::ChatRequest&) {
    return std::vector<test::FakeLlm::What>{engine::ToolCall{"1", "none", json::object()}};
  };
  connect();
  hello();
  listen();
  utter();
  advance(60s);
  EXPECT_EQ(llm->requests.size(), 9U);
  EXPECT_TRUE(llm->requests.back().tools->tools.empty()) << "the last round has to answer";
  EXPECT_EQ(last_turn()["outcome"], "failed");
  EXPECT_EQ(tts->spoken.back(), settings->profile.session.apology);
}

struct Failing {
  std::string name;
  std::function<void(test::SessionRig&, test::FakeAsr&, test::FakeLlm&, test::FakeTts&)> arrange;
};
class FailingEngineTest : public test::SessionRig, public testing::WithParamInterface<Failing> {};

TEST_P(FailingEngineTest, EndsInAnApologyAndASessionThatGoesOn) {
  apology_clip = std::make_shared<const audio::Pcm>(audio::Pcm{16000, std::vector<std::int16_t>(16000, 100)});
  const auto good = asr->answers;
  GetParam().arrange(*this, *asr, *llm, *tts);
  connect();
  hello();
  listen();
  utter();
  advance(2min);
  ASSERT_EQ(turn_log->lines.size(), 1U);
  EXPECT_EQ(turn_log->lines[0]["outcome"], "failed");
  EXPECT_FALSE(turn_log->lines[0].value("why", "").empty());
  EXPECT_EQ(connection->texts("tts", "start").size(), 1U);
  EXPECT_EQ(connection->texts("tts", "stop").size(), 1U);
  EXPECT_FALSE(connection->frames().empty()) << "something was heard";
  asr->answers = good;
  llm->error.clear();
  llm->silent = false;
  tts->error.clear();
  tts->silent = false;
  listen();
  utter();
  advance(10s);
  ASSERT_EQ(turn_log->lines.size(), 2U);
  EXPECT_EQ(turn_log->lines[1]["outcome"], "completed");
}

INSTANTIATE_TEST_SUITE_P(
    Engines, FailingEngineTest,
    testing::Values(
        Failing{"AsrOpen", [](auto&, auto& asr, auto&, auto&) { asr.answers.front().open_error = "down"; }},
        Failing{"AsrLater", [](auto&, auto& asr, auto&, auto&) { asr.answers.front().error = "broke"; }},
        Failing{"AsrSilent", [](auto&, auto& asr, auto&, auto&) { asr.answers.front().silent = true; }},
        Failing{"LlmError", [](auto&, auto&, auto& llm, auto&) { llm.error = "500"; }},
        Failing{"LlmSilent", [](auto&, auto&, auto& llm, auto&) { llm.silent = true; }},
        Failing{"TtsError", [](auto&, auto&, auto&, auto& tts) { tts.error = "500"; }},
        Failing{"TtsSilent", [](auto&, auto&, auto&, auto& tts) { tts.silent = true; }}),
    [](const auto& info) { return info.param.name; });

TEST_F(ConversationTest, NothingSaidIsForgottenAndListenedOn) {
  asr->answers = {{"", 20ms, Kind::final, "", "", false, {}},
                  {"hello", 20ms, Kind::final, "", "", false, {}}};
  connect();
  hello();
  listen();
  utter();
  advance(500ms);
  EXPECT_TRUE(connection->texts("tts").empty());
  utter();
  advance(10s);
  EXPECT_EQ(connection->texts("tts", "stop").size(), 1U) << "without a new listen start";
}

TEST_F(ConversationTest, RejectedSpeechIsAnsweredHonestly) {
  asr->answers = {{"set volume", 20ms, Kind::rejected, "", "", false, {}}};
  connect();
  hello();
  listen();
  utter();
  advance(10s);
  EXPECT_TRUE(llm->requests.empty());
  EXPECT_EQ(tts->spoken.at(0), settings->profile.session.not_understood);
  EXPECT_EQ(last_turn()["outcome"], "rejected");
}

TEST_F(ConversationTest, SilenceEndsTheSessionWithAFarewell) {
  settings->profile.session.farewell = "See you.";
  connect();
  hello();
  listen();
  advance(settings->profile.session.no_voice_timeout + 5s);
  EXPECT_EQ(tts->spoken.at(0), "See you.");
  ASSERT_TRUE(connection->closed);
  EXPECT_EQ(connection->closed->first, 1000);
  EXPECT_TRUE(ended);
}

TEST_F(ConversationTest, IdlenessEndsTheSession) {
  connect();
  hello();
  advance(settings->profile.session.idle_timeout - 1s);
  EXPECT_FALSE(connection->closed);
  advance(2s);
  EXPECT_TRUE(connection->closed);
}

TEST_F(ConversationTest, TheModelCanEndTheConversation) {
  llm->reply = [](const auto&) {
    return std::vector<test::FakeLlm::What>{engine::TextDelta{"Goodbye."}, engine::EndConversation{}};
  };
  connect();
  hello();
  listen();
  utter();
  advance(10s);
  EXPECT_EQ(connection->texts("tts", "stop").size(), 1U);
  ASSERT_TRUE(connection->closed);
  EXPECT_EQ(connection->closed->first, 1000);
}

TEST_F(ConversationTest, AGreetingForTheWakeWord) {
  settings->profile.session.greeting = "Yes?";
  connect();
  hello();
  connection->say({{"type", "listen"}, {"state", "detect"}, {"text", "hi parley"}});
  listen();
  advance(3s);
  EXPECT_THAT(connection->story(),
              ElementsAre("hello", "stt", "tts start", "llm", "tts sentence_start", "frames", "tts stop"));
}

TEST_F(ConversationTest, ADeviceThatUsesDtxEndsItsUtteranceBySendingNothing) {
  connect();
  hello();
  listen();
  speak();
  advance(3s);
  EXPECT_EQ(connection->texts("stt").size(), 1U);
}

TEST_F(ConversationTest, ShutdownLetsTheReplyEnd) {
  connect();
  hello();
  listen();
  utter();
  advance(200ms);
  session->shut_down();
  advance(10s);
  EXPECT_EQ(connection->texts("tts", "stop").size(), 1U);
  ASSERT_TRUE(connection->closed);
  EXPECT_EQ(connection->closed->first, 1001);
}

TEST_F(ConversationTest, FramesCarryRisingTimestampsInFramingTwo) {
  connect();
  hello(2);
  listen();
  utter();
  advance(10s);
  listen();
  utter();
  advance(10s);
  std::uint32_t last = 0;
  for (const auto& frame : connection->frames()) {
    const auto parsed = protocol::parse_frame(protocol::Framing::timestamped, frame.bytes);
    ASSERT_TRUE(parsed);
    EXPECT_GT(parsed->timestamp, last);
    last = parsed->timestamp;
  }
  EXPECT_GT(last, 0U);
}

TEST_F(ConversationTest, TheDownlinkIsExactlyWhatHelloDeclared) {
  for (const auto rate : {16000, 24000}) {
    for (const auto frame : {20ms, 40ms, 60ms}) {
      settings->profile.audio.downlink_rate = rate;
      settings->profile.audio.downlink_frame = frame;
      tts->rate = 22050;
      connect();
      hello(3);
      const auto params = connection->texts("hello").at(0).json["audio_params"];
      EXPECT_EQ(params["sample_rate"], rate);
      EXPECT_EQ(params["frame_duration"], frame.count());
      listen();
      utter();
      advance(10s);
      ASSERT_FALSE(connection->frames().empty());
      auto decoder = audio::OpusDecoder::make(rate);
      for (const auto& sent : connection->frames()) {
        const auto parsed = protocol::parse_frame(protocol::Framing::compact, sent.bytes);
        ASSERT_TRUE(parsed);
        const auto pcm = decoder->decode(parsed->payload, frame);
        ASSERT_TRUE(pcm);
        EXPECT_EQ(pcm->size(), audio::samples_in(frame, rate));
      }
      connection->vanish();
      advance(1s);
    }
  }
}

}  // namespace
}  // namespace parley::session
