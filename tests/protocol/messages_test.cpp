#include "parley/protocol/messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace parley::protocol {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string sentence(std::string_view text) {
  const auto message = parse_device_message(text);
  if (message) return "no error";
  EXPECT_EQ(message.error().code, Errc::invalid_input);
  return message.error().message;
}

TEST(DeviceMessages, AreRefusedWithASentence) {
  const std::pair<std::string, const char*> table[] = {
      {R"({"type":"abort")", "the message is not valid JSON at byte 16 of 15"},
      {"", "the message is not valid JSON at byte 1 of 0"},
      {R"([{}])", "the message is an array; expected a JSON object"},
      {R"({"type":"abort","x":1e400})", "the message holds a number that is too large"},
      {std::string("{\"type\":\"abort\"}\0", 17), "the message holds a NUL byte"},
      {std::string(100'000, '['), "the message nests deeper than 32 levels"},
      {"{\"type\":" + std::string(100'000, '{'), "the message nests deeper than 32 levels"},
      {R"({})", "the field type is missing; expected a string"},
      {R"({"type":7})", "the field type is 7; expected a string"},
      {R"({"type":""})", "the field type is empty; expected the kind of the message"},
      {R"({"type":"listen"})", "the field state is missing; expected a string"},
      {R"({"type":"listen","state":"pause"})", "the field state is none of start, stop and detect"},
      {R"({"type":"mcp"})", "the field payload is missing; expected an object"},
      {R"({"type":"mcp","payload":[1]})", "the field payload is an array; expected an object"},
      {R"({"type":"hello","version":"one"})", "the field version is \"one\"; expected a whole number"},
      {R"({"type":"hello","features":{"mcp":1}})", "the field features.mcp is 1; expected true or false"},
      {R"({"type":"hello","audio_params":{"format":"pcm"}})",
       "the field audio_params.format is not \"opus\"; expected that and nothing else"},
      {R"({"type":"hello","audio_params":{"frame_duration":30}})",
       "the field audio_params.frame_duration is 30; expected one of 5, 10, 20, 40, 60, 80, 100, 120"},
      {R"({"type":"hello","audio_params":{"sample_rate":{}}})",
       "the field audio_params.sample_rate is an object; expected one of 8000, 12000, 16000, 24000, 48000"},
      // The first that is wrong is the one that is said.
      {R"({"type":"hello","version":[],"transport":1})",
       "the field version is an array; expected a whole number"},
  };
  for (const auto& [text, expected] : table) EXPECT_EQ(sentence(text), expected) << text.substr(0, 80);
  EXPECT_LT(sentence("{\"type\":\"abort\",\"reason\":[\"" + std::string(50'000, 'x') + "\"]}").size(), 100U);
  EXPECT_LT(sentence("{\"type\":" + std::string(200, '1') + "}").size(), 100U);
}

TEST(DeviceMessages, KeepUnknownKeysOfHello) {
  const auto message =
      parse_device_message(R"({"type":"hello","features":{"mcp":true,"glyph":1},"text_font":"x"})");
  ASSERT_TRUE(message);
  const auto& hello = std::get<DeviceHello>(*message);
  EXPECT_EQ(hello.raw.at("text_font"), "x");
  EXPECT_EQ(hello.raw.at("features").at("glyph"), 1);
  const auto written = json::parse(write_device_message(hello, "s"));
  EXPECT_EQ(written.at("text_font"), "x");
  EXPECT_EQ(written.at("features").at("glyph"), 1);
  EXPECT_FALSE(written.contains("version"));
}

TEST(DeviceMessages, AreWritten) {
  DeviceHello hello;
  hello.version = 3;
  hello.mcp = true;
  const std::pair<DeviceMessage, const char*> table[] = {
      {hello,
       R"({"type":"hello","version":3,"features":{"mcp":true,"aec":false},"transport":"websocket",
           "audio_params":{"format":"opus","sample_rate":16000,"channels":1,"frame_duration":60}})"},
      {ListenStart{.mode = ListenMode::realtime},
       R"({"session_id":"s","type":"listen","state":"start","mode":"realtime"})"},
      {ListenStart{}, R"({"session_id":"s","type":"listen","state":"start","mode":"auto"})"},
      {ListenStop{}, R"({"session_id":"s","type":"listen","state":"stop"})"},
      {ListenDetect{.text = "hi"}, R"({"session_id":"s","type":"listen","state":"detect","text":"hi"})"},
      {Abort{}, R"({"session_id":"s","type":"abort"})"},
      {Abort{.reason = "r"}, R"({"session_id":"s","type":"abort","reason":"r"})"},
      {McpMessage{.payload = {{"id", 1}}}, R"({"session_id":"s","type":"mcp","payload":{"id":1}})"},
      {Goodbye{}, R"({"session_id":"s","type":"goodbye"})"},
      {IgnoredMessage{.type = "iot"}, R"({"session_id":"s","type":"iot"})"},
  };
  for (const auto& [message, expected] : table) {
    EXPECT_EQ(json::parse(write_device_message(message, "s")), json::parse(expected));
  }
}

TEST(ServerMessages, AreWritten) {
  const ServerHello hello{.audio = {.sample_rate = 24000, .frame_duration = 20, .channels = 1}};
  const std::pair<ServerMessage, const char*> table[] = {
      {hello,
       R"({"session_id":"s","type":"hello","transport":"websocket",
           "audio_params":{"format":"opus","sample_rate":24000,"channels":1,"frame_duration":20}})"},
      {Stt{.text = "a \"b\""}, R"({"session_id":"s","type":"stt","text":"a \"b\""})"},
      {LlmEmotion{.emotion = "happy", .text = "😀"},
       R"({"session_id":"s","type":"llm","emotion":"happy","text":"😀"})"},
      {TtsStart{}, R"({"session_id":"s","type":"tts","state":"start"})"},
      {SentenceStart{.text = "x"}, R"({"session_id":"s","type":"tts","state":"sentence_start","text":"x"})"},
      {TtsStop{}, R"({"session_id":"s","type":"tts","state":"stop"})"},
      {McpMessage{.payload = {{"id", 1}}}, R"({"session_id":"s","type":"mcp","payload":{"id":1}})"},
      {SystemCommand{.command = "reboot"}, R"({"session_id":"s","type":"system","command":"reboot"})"},
      {Alert{.status = "a", .message = "b", .emotion = "c"},
       R"({"session_id":"s","type":"alert","status":"a","message":"b","emotion":"c"})"},
      {Custom{.payload = {{"a", json::array()}}}, R"({"session_id":"s","type":"custom","payload":{"a":[]}})"},
  };
  for (const auto& [message, expected] : table) {
    const auto text = write_server_message(message, "s");
    EXPECT_EQ(json::parse(text), json::parse(expected));
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
}

TEST(ServerMessages, ReplaceWhatIsNotUtf8) {
  const std::string broken = "a\xff\xe4\xbd";
  const auto text = write_server_message(Stt{.text = broken}, broken);
  const auto value = json::parse(text);
  EXPECT_EQ(value.at("text"), "a\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(value.at("session_id"), "a\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_TRUE(json::accept(write_server_message(IgnoredMessage{.type = broken}, "")));
  EXPECT_TRUE(json::accept(write_device_message(ListenDetect{.text = broken}, broken)));
  DeviceHello hello;
  hello.transport = broken;
  hello.raw = {{"k", broken}};
  EXPECT_TRUE(json::accept(write_device_message(hello, broken)));
}

TEST(ServerMessages, SurviveNumbersThatJsonDoesNotHave) {
  const auto text = write_server_message(Custom{.payload = {{"x", std::nan("")}, {"y", INFINITY}}}, "s");
  EXPECT_EQ(json::parse(text).at("payload"), (json{{"x", nullptr}, {"y", nullptr}}));
  EXPECT_EQ(json::parse(write_server_message(McpMessage{}, "s")).at("payload"), nullptr);
}

struct Negotiation {
  std::optional<int> hello;
  const char* header;
  int expected;  ///< 0: unsupported
};

TEST(NegotiateVersion, TakesTheHelloThenTheHeaderThenOne) {
  const Negotiation table[] = {
      {3, "1", 3},
      {2, "", 2},
      {1, "9", 1},
      {{}, "2", 2},
      {{}, "", 1},
      {{}, " 3 ", 3},
      {{}, "1.0", 1},
      {{}, "   ", 1},
      {2, "nonsense", 2},
      {4, "1", 0},
      {0, "", 0},
      {-1, "", 0},
      {{}, "4", 0},
      {{}, "two", 0},
      {{}, "2.5", 0},
      {{}, "-1", 0},
      {{}, "1.", 0},
      {{}, "1.0.0", 0},
      {{}, "99999999999999999999", 0},
      {{}, "0", 0},
  };
  for (const auto& row : table) {
    DeviceHello hello;
    hello.version = row.hello;
    const auto version = negotiate_version(hello, row.header);
    if (row.expected != 0) {
      ASSERT_TRUE(version) << row.header;
      EXPECT_EQ(*version, row.expected) << row.header;
    } else {
      ASSERT_FALSE(version) << row.header;
      EXPECT_EQ(version.error().code, Errc::unsupported);
      EXPECT_THAT(version.error().message, HasSubstr("is not supported; expected 1, 2 or 3"));
    }
  }
}

}  // namespace
}  // namespace parley::protocol
