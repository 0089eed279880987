#include "parley/device/conversation.hpp"

#include <gtest/gtest.h>

namespace parley::device {
namespace {

TimePoint at(int ms) {
  return TimePoint{} + std::chrono::hours(1) + Millis(ms);
}

Event event(EventKind kind, int ms, int turn, std::string text = "",
            nlohmann::ordered_json data = nlohmann::ordered_json::object()) {
  return {kind, at(ms), turn, std::move(text), std::move(data)};
}

TEST(Conversation, CountsTimesFromTheTurnsBeginningAndLatenciesFromTheEndOfSpeech) {
  Conversation conversation(at(0));
  std::string text;
  for (const auto& each : {
           event(EventKind::connected, 2, 0, "", {{"connect_ms", 2.0}}),
           event(EventKind::turn, 1000, 1, "turn on the lamp"),
           event(EventKind::listen_start, 1000, 1, "auto"),
           event(EventKind::speech_end, 2840, 1, "turn on the lamp"),
           event(EventKind::stt, 3560, 1, "turn on the lamp"),
           event(EventKind::tool_call, 3570, 1, "self.lamp.turn_on",
                 {{"arguments", nlohmann::ordered_json::object()}, {"result", "true"}, {"failed", false}}),
           event(EventKind::first_audio, 3590, 1),
           event(EventKind::turn_end, 5000, 1, "", {{"received", 20}, {"dropped", 1}, {"underruns", 0}}),
       }) {
    text += conversation.add(each);
  }
  EXPECT_EQ(text,
            "   +0.002  connected (2.0 ms)\n"
            "turn 1: \"turn on the lamp\"\n"
            "   +0.000  listen start (auto)\n"
            "   +1.840  you said \"turn on the lamp\" (end of speech)\n"
            "   +2.560  heard \"turn on the lamp\" (720 ms after the end of speech)\n"
            "   +2.570  tool self.lamp.turn_on {} -> true\n"
            "   +2.590  first audio (750 ms after the end of speech)\n"
            "   +4.000  played out: 20 frames, 1 dropped, 0 underruns\n");
}

TEST(Conversation, SummaryPerTurn) {
  Conversation conversation(at(0));
  for (const auto& each : {
           event(EventKind::sentence, 100, 0, "Hello."),
           event(EventKind::turn, 1000, 1, "one"),
           event(EventKind::speech_end, 2000, 1, "one"),
           event(EventKind::stt, 2700, 1, "won"),
           event(EventKind::tts_start, 2701, 1),
           event(EventKind::sentence, 2710, 1, "First."),
           event(EventKind::sentence, 2900, 1, "Second."),
           event(EventKind::first_audio, 2720, 1),
           event(EventKind::abort, 3000, 1),
           event(EventKind::tts_stop, 3003, 1),
           event(EventKind::violation, 3100, 1, "nonsense"),
           event(EventKind::turn, 4000, 2, "two"),
       }) {
    conversation.add(each);
  }
  const auto summary = conversation.summary("lost");
  EXPECT_EQ(summary.at("greeting").at(0), "Hello.");
  ASSERT_EQ(summary.at("turns").size(), 2U);
  const auto& first = summary.at("turns").at(0);
  EXPECT_EQ(first.at("said"), "one");
  EXPECT_EQ(first.at("heard"), "won");
  EXPECT_EQ(first.at("stt_ms"), 700.0);
  EXPECT_EQ(first.at("first_audio_ms"), 720.0);
  EXPECT_EQ(first.at("replies").size(), 2U);
  EXPECT_EQ(first.at("interrupted"), true);
  EXPECT_EQ(first.at("abort_to_stop_ms"), 3.0);
  const auto& second = summary.at("turns").at(1);
  EXPECT_TRUE(second.at("heard").is_null());
  EXPECT_TRUE(second.at("first_audio_ms").is_null());
  EXPECT_EQ(summary.at("violations"), 1);
  EXPECT_EQ(summary.at("error"), "lost");
  EXPECT_TRUE(conversation.summary({}).at("error").is_null());
  EXPECT_NE(conversation.summary_text("lost").find("Failed: lost"), std::string::npos);
}

TEST(Conversation, JsonLines) {
  Conversation conversation(at(0));
  conversation.add(event(EventKind::speech_end, 500, 1, "x"));
  const auto stt = event(EventKind::stt, 1250, 1, "caf\xc3\xa9 \xff");
  conversation.add(stt);
  const auto line = nlohmann::json::parse(conversation.json_line(stt));
  EXPECT_EQ(line.at("event"), "stt");
  EXPECT_EQ(line.at("t"), 1.25);
  EXPECT_EQ(line.at("turn"), 1);
  EXPECT_EQ(line.at("after_speech_ms"), 750.0);
  EXPECT_EQ(line.at("text"), "caf\xc3\xa9 \xef\xbf\xbd");
}

TEST(Conversation, LatenciesAreUnknownBeforeTheEndOfSpeech) {
  Conversation conversation(at(0));
  conversation.add(event(EventKind::turn, 0, 1, "x"));
  EXPECT_EQ(conversation.add(event(EventKind::first_audio, 100, 1)), "   +0.100  first audio\n");
  EXPECT_TRUE(conversation.summary({}).at("turns").at(0).at("first_audio_ms").is_null());
}

}  // namespace
}  // namespace parley::device
