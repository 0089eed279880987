#include "providers/intents/dialogue.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace parley::providers::intents {
namespace {

using engine::Message;
using nlohmann::json;

/// A conversation with the intents; tools are answered from a script.
class Conversation {
 public:
  explicit Conversation(Catalog catalog, engine::ToolSet tools = test::stock_tools())
      : dialogue_(std::move(catalog), TimeZone::parse("UTC", utc())) {
    request_.tools = std::make_shared<engine::ToolSet>(std::move(tools));
  }

  Outcome say(std::string text) {
    request_.messages.push_back({.role = Message::Role::user, .text = std::move(text)});
    return next();
  }
  Outcome result(std::string text, bool failed = false) {
    const auto& calls = request_.messages.back().calls;
    EXPECT_EQ(calls.size(), 1U);
    request_.messages.push_back({.role = Message::Role::tool,
                                 .text = std::move(text),
                                 .call_id = calls.front().id,
                                 .failed = failed});
    return next();
  }
  std::vector<Message>& messages() { return request_.messages; }
  void set_tools(engine::ToolSet tools) {
    request_.tools = std::make_shared<engine::ToolSet>(std::move(tools));
  }
  Outcome next() {
    Outcome out = dialogue_.respond(request_, now_);
    const Outcome again = dialogue_.respond(request_, now_);
    EXPECT_EQ(out.text, again.text);
    EXPECT_EQ(out.call.has_value(), again.call.has_value());
    Message message{.role = Message::Role::assistant, .text = out.text};
    if (out.call) message.calls = {*out.call};
    request_.messages.push_back(std::move(message));
    return out;
  }

 private:
  static std::string utc() {
    std::string out;
    for (int block = 0; block < 2; ++block) {
      out += "TZif2" + std::string(15, '\0') + std::string(16, '\0');
      out += std::string("\0\0\0\1\0\0\0\4", 8) + std::string(6, '\0') + std::string("UTC\0", 4);
    }
    return out + "\nUTC0\n";
  }

  Dialogue dialogue_;
  engine::ChatRequest request_;
  WallTime now_{std::chrono::seconds(1'741'093'500)};  // Tuesday, 2025-03-04 13:05 UTC
};

constexpr const char* kStatus =
    R"({"audio_speaker":{"volume":70},"screen":{"brightness":95,"theme":"light"},"battery":{"level":50,"charging":true},)"
    R"("network":{"type":"wifi","ssid":"Home","signal":"strong"}})";

TEST(Dialogue, OneCallAndAReply) {
  Conversation talk(test::builtin_catalog());
  const Outcome call = talk.say("Set the volume to 50%.");
  EXPECT_TRUE(call.understood);
  EXPECT_TRUE(call.text.empty());
  ASSERT_TRUE(call.call);
  EXPECT_EQ(call.call->name, "self_audio_speaker_set_volume");
  EXPECT_EQ(call.call->arguments, (json{{"volume", 50}}));
  const Outcome reply = talk.result("true");
  EXPECT_EQ(reply.text, "Volume 50 percent.");
  EXPECT_FALSE(reply.call);
  EXPECT_FALSE(reply.end);
}

TEST(Dialogue, LaterCallsUseEarlierResults) {
  Conversation talk(test::builtin_catalog());
  ASSERT_EQ(talk.say("louder").call->name, "self_get_device_status");
  const Outcome second = talk.result(kStatus);
  ASSERT_TRUE(second.call);
  EXPECT_EQ(second.call->name, "self_audio_speaker_set_volume");
  EXPECT_EQ(second.call->arguments, (json{{"volume", 80}}));
  EXPECT_EQ(talk.result("true").text, "Volume 80 percent.");

  // The next turn starts from its own results.
  talk.say("turn it down by 75");
  EXPECT_EQ(talk.result(kStatus).call->arguments, (json{{"volume", 0}}));
  EXPECT_EQ(talk.result("true").text, "Volume 0 percent.");
}

TEST(Dialogue, CallIdsAreUnique) {
  Conversation talk(test::builtin_catalog());
  std::set<std::string> ids;
  for (int i = 0; i < 3; ++i) {
    ids.insert(talk.say("louder").call->id);
    ids.insert(talk.result(kStatus).call->id);
    talk.result("true");
  }
  EXPECT_EQ(ids.size(), 6U);
  // Also when old messages are forgotten.
  auto& messages = talk.messages();
  messages.erase(messages.begin(), messages.begin() + 6);
  const Outcome call = talk.say("mute");
  EXPECT_FALSE(ids.contains(call.call->id));
}

TEST(Dialogue, ResultsThatDoNotHelp) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"{}", "I couldn't find that out."},
      {R"({"audio_speaker":{}})", "I couldn't find that out."},
      {R"({"audio_speaker":{"volume":"loud"}})", "I couldn't find that out."},
      {R"({"audio_speaker":[70]})", "I couldn't find that out."},
      {"{\"audio_speaker\":{\"volu", "I couldn't find that out."},
      {"", "I couldn't find that out."},
      {"null", "I couldn't find that out."},
      {"[1,2]", "I couldn't find that out."},
  };
  for (const auto& [result, expected] : cases) {
    Conversation talk(test::builtin_catalog());
    talk.say("louder");
    const Outcome outcome = talk.result(result);
    EXPECT_FALSE(outcome.call) << result;
    EXPECT_EQ(outcome.text, expected) << result;
    Conversation other(test::builtin_catalog());
    other.say("what is the volume");
    if (result.find("loud") == std::string::npos) EXPECT_EQ(other.result(result).text, expected) << result;
  }
}

TEST(Dialogue, FailuresAreTold) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"The speaker is off.", "That didn't work: The speaker is off."},
      {"timed out", "That didn't work: timed out."},
      {"", "That didn't work."},
      {R"({"error": {"code": -32601}})", "That didn't work."},
      {R"({"message": "No speaker."})", "That didn't work: No speaker."},
      {"at 0x4008 <main>:", "That didn't work."},
      {std::string(500, 'x'), "That didn't work."},
  };
  for (const auto& [result, expected] : cases) {
    Conversation talk(test::builtin_catalog());
    talk.say("mute");
    const Outcome outcome = talk.result(result, true);
    EXPECT_EQ(outcome.text, expected) << result;
    EXPECT_FALSE(outcome.call);
    EXPECT_TRUE(outcome.understood);
  }
  // In the middle of several calls.
  Conversation talk(test::builtin_catalog());
  talk.say("louder");
  talk.result(kStatus);
  EXPECT_EQ(talk.result("busy", true).text, "That didn't work: busy.");
}

TEST(Dialogue, Photos) {
  Conversation talk(test::builtin_catalog());
  const Outcome call = talk.say("What do you see?");
  EXPECT_EQ(call.text, "Let me see.");
  EXPECT_EQ(call.call->arguments, (json{{"question", "what do you see"}}));
  EXPECT_EQ(talk.result(R"({"success":true,"response":"A red cup."})").text, "A red cup.");

  EXPECT_EQ(talk.say("take a photo and tell me how many cups there are").call->arguments,
            (json{{"question", "how many cups there are"}}));
  EXPECT_EQ(talk.result("Two cups.").text, "Two cups.");

  talk.say("take a picture");
  EXPECT_EQ(talk.result(R"({"success":false,"message":"The camera is covered."})").text,
            "Sorry, I couldn't take a picture: The camera is covered.");
  talk.say("take a picture");
  EXPECT_EQ(talk.result(R"({"success":true})").text, "I took a picture, but I can't tell what is on it.");
}

TEST(Dialogue, StatusQuestions) {
  const std::vector<std::tuple<std::string, std::string, std::string>> cases{
      {"how much battery is left", kStatus, "The battery is at 50 percent and charging."},
      {"battery", R"({"battery":{"level":7,"charging":false}})", "The battery is at 7 percent."},
      {"battery", R"({"battery":{"level":7}})", "The battery is at 7 percent."},
      {"battery", R"({"audio_speaker":{"volume":70}})", "I can't see a battery here."},
      {"what network are you on", kStatus, "I'm connected by wifi to Home, the signal is strong."},
      {"what network are you on", R"({"network":{"type":"wifi"}})", "I'm connected by wifi."},
      {"what is the brightness", kStatus, "The brightness is at 95 percent."},
      {"how are you", R"({"audio_speaker":{"volume":70}})",
       "\xF0\x9F\x99\x82 I'm fine. The volume is at 70 percent."},
  };
  for (const auto& [text, status, expected] : cases) {
    Conversation talk(test::builtin_catalog());
    ASSERT_TRUE(talk.say(text).call) << text;
    EXPECT_EQ(talk.result(status).text, expected) << text;
  }
}

TEST(Dialogue, Talk) {
  Conversation talk(test::builtin_catalog());
  EXPECT_EQ(talk.say("What time is it?").text, "It's 1:05 PM.");
  EXPECT_EQ(talk.say("what's the date").text, "Today is Tuesday, March 4.");
  EXPECT_EQ(talk.say("what can you do").text,
            "\xF0\x9F\x99\x82 I can set the volume, change the brightness, switch between the light and the "
            "dark theme, turn the "
            "light on and off, color the light, check the battery, describe what I see and tell the time and "
            "the date.");
  const Outcome bye = talk.say("Goodbye!");
  EXPECT_TRUE(bye.end);
  EXPECT_EQ(bye.text, "\xF0\x9F\x98\x8C Goodbye!");
  EXPECT_FALSE(talk.say("hello").end);
}

TEST(Dialogue, WhatIsNotUnderstoodIsSaidSo) {
  Conversation talk(test::builtin_catalog());
  for (const char* text : {"tell me a joke", "", "yes", "no"}) {
    const Outcome outcome = talk.say(text);
    EXPECT_FALSE(outcome.understood) << text;
    EXPECT_FALSE(outcome.call) << text;
    EXPECT_TRUE(outcome.text.starts_with("Sorry")) << outcome.text;
  }
  Conversation nobody(test::builtin_catalog());
  EXPECT_FALSE(nobody.next().understood);  // no user message at all
}

TEST(Dialogue, OnlyWhatIsInForceIsDone) {
  Conversation talk(test::builtin_catalog(), {.id = "bare", .tools = {}});
  const Outcome outcome = talk.say("turn on the lamp");
  EXPECT_FALSE(outcome.understood);
  EXPECT_FALSE(outcome.call);
  EXPECT_EQ(outcome.text, "I can't do that on this device.");
  EXPECT_EQ(talk.say("what can you do").text, "\xF0\x9F\x99\x82 I can tell the time and the date.");

  // Half of the tools of a command is not enough.
  talk.set_tools({.id = "half", .tools = {test::tool("self.audio_speaker.set_volume")}});
  EXPECT_FALSE(talk.say("louder").call);
  EXPECT_TRUE(talk.say("mute").call);
}

TEST(Dialogue, TakesTheWayThatTheDeviceHas) {
  const std::vector<std::pair<std::string, std::string>> cases{{"self.lamp.turn_on", "The lamp is on."},
                                                               {"self.light.turn_on", "The light is on."},
                                                               {"self.light.set_rgb", "The light is on."}};
  for (const auto& [wire_name, expected] : cases) {
    Conversation talk(test::builtin_catalog(), {.id = wire_name, .tools = {test::tool(wire_name)}});
    const Outcome call = talk.say("turn on the lamp");
    ASSERT_TRUE(call.call) << wire_name;
    EXPECT_EQ(call.call->arguments.size(), wire_name == "self.light.set_rgb" ? 3U : 0U);
    EXPECT_EQ(talk.result("true").text, expected);
  }
}

constexpr const char* kReset = R"(
lists: {level: {range: {from: 0, to: 200}}}
intents:
  reset: {sentences: "reset [the] device", tool: self.reset, confirm: true, reply: "Resetting."}
  level:
    sentences: "set [the] level to {level}"
    tool: self.set_level
    arguments: {level: "{level}"}
    confirm: "Really set it to {level}?"
    reply: "Level {level}."
    reply_error: "I can't set {level}."
  hello: {sentences: hello, reply: "Hello!"}
)";

engine::ToolSet reset_tools() {
  return {.id = "reset",
          .tools = {test::tool("self.reset"),
                    test::tool("self.set_level",
                               R"({"level": {"type": "integer", "minimum": 0, "maximum": 100}})")}};
}

TEST(Dialogue, AsksBeforeItActs) {
  Conversation talk(test::catalog_of(kReset), reset_tools());
  const Outcome question = talk.say("Reset the device!");
  EXPECT_TRUE(question.understood);
  EXPECT_FALSE(question.call);
  EXPECT_EQ(question.text, "Do you want me to reset the device?");
  const Outcome call = talk.say("Yes, please.");
  ASSERT_TRUE(call.call);
  EXPECT_EQ(call.call->name, "self_reset");
  EXPECT_EQ(talk.result("true").text, "Resetting.");
  EXPECT_FALSE(talk.say("yes").understood);  // it was answered
}

TEST(Dialogue, AYesIsNoAnswerToAnEarlierConversation) {
  Conversation talk(test::catalog_of(kReset), reset_tools());
  talk.say("Reset the device!");
  for (auto& message : talk.messages()) message.earlier = true;
  const Outcome outcome = talk.say("yes");
  EXPECT_FALSE(outcome.understood);
  EXPECT_FALSE(outcome.call);
}

TEST(Dialogue, TakesNoForNo) {
  Conversation talk(test::catalog_of(kReset), reset_tools());
  talk.say("reset the device");
  const Outcome declined = talk.say("no");
  EXPECT_TRUE(declined.understood);
  EXPECT_EQ(declined.text, "Okay, I won't.");
  EXPECT_FALSE(talk.say("yes").call);
}

TEST(Dialogue, AnotherSentenceIsNoAnswer) {
  Conversation talk(test::catalog_of(kReset), reset_tools());
  talk.say("reset the device");
  EXPECT_EQ(talk.say("hello").text, "Hello!");
  EXPECT_FALSE(talk.say("yes").call);
  talk.say("reset the device");
  EXPECT_EQ(talk.say("set the level to 20").text, "Really set it to 20?");
  EXPECT_EQ(talk.say("yes").call->arguments, (json{{"level", 20}}));
  EXPECT_EQ(talk.result("true").text, "Level 20.");
}

TEST(Dialogue, OnlyAQuestionThatWasHeardCanBeAnswered) {
  Conversation talk(test::catalog_of(kReset), reset_tools());
  talk.say("reset the device");
  talk.messages().back().text = "Do you want me to";  // interrupted
  EXPECT_FALSE(talk.say("yes").call);

  Conversation emoji(test::catalog_of(kReset), reset_tools());
  emoji.say("reset the device");
  emoji.messages().back().text = "\xF0\x9F\xA4\x94 Do you want me to reset the device";
  EXPECT_TRUE(emoji.say("yes").call);

  Conversation gone(test::catalog_of(kReset), reset_tools());
  gone.say("reset the device");
  gone.set_tools({});
  EXPECT_FALSE(gone.say("yes").call);

  Conversation forged(test::catalog_of(kReset), reset_tools());
  forged.messages() = {{.role = Message::Role::assistant, .text = "Do you want me to reset the device?"}};
  EXPECT_FALSE(forged.say("yes").call);
}

TEST(Dialogue, NeverSendsWhatTheSchemaForbids) {
  Conversation talk(test::catalog_of(kReset), reset_tools());
  talk.say("set level to 150");
  const Outcome outcome = talk.say("yes");
  EXPECT_FALSE(outcome.call);
  EXPECT_EQ(outcome.text, "I can't set 150.");

  Conversation range(test::catalog_of(kReset), reset_tools());
  const Outcome beyond = range.say("set level to 500");
  EXPECT_FALSE(beyond.call);
  EXPECT_EQ(beyond.text, "I can only do that from 0 to 200.");
  EXPECT_FALSE(range.say("yes").call);

  Conversation builtin(test::builtin_catalog(),
                       {.id = "odd",
                        .tools = {test::tool("self.audio_speaker.set_volume",
                                             R"({"volume": {"type": "integer", "maximum": 40}})")}});
  EXPECT_EQ(builtin.say("set the volume to 50").text, "I can't set that.");
  EXPECT_TRUE(builtin.say("set the volume to 30").call);
}

TEST(Dialogue, LeavesTheCallsOfOthersAlone) {
  Conversation talk(test::builtin_catalog());
  talk.messages() = {{.role = Message::Role::user, .text = "mute"},
                     {.role = Message::Role::assistant,
                      .calls = {{.id = "call_abc", .name = "self_audio_speaker_set_volume"}}},
                     {.role = Message::Role::tool, .text = "true", .call_id = "call_abc"}};
  EXPECT_FALSE(talk.next().understood);
}

TEST(Dialogue, GoesOnWhereAnotherModelStopped) {
  const auto after = [](const char* said, const char* tool, json arguments, const char* result,
                        bool failed = false) {
    Conversation talk(test::builtin_catalog());
    talk.messages() = {
        {.role = Message::Role::user, .text = said},
        {.role = Message::Role::assistant,
         .calls = {{.id = "call_abc", .name = tool, .arguments = std::move(arguments)}}},
        {.role = Message::Role::tool, .text = result, .call_id = "call_abc", .failed = failed}};
    Outcome out = talk.next();
    EXPECT_FALSE(out.understood) << "the model that began goes on where it can";
    return out;
  };
  const json none = json::object();
  auto outcome = after("turn on the lamp", "self_lamp_turn_on", none, "true");
  EXPECT_FALSE(outcome.lost);
  EXPECT_EQ(outcome.text, "The lamp is on.");
  EXPECT_NE(after("turn on the lamp", "self_lamp_turn_on", none, "the bulb is broken", true).text,
            "The lamp is on.");
  outcome = after("louder", "self_get_device_status", none, kStatus);
  ASSERT_TRUE(outcome.call) << "the second of two steps";
  EXPECT_EQ(outcome.call->name, "self_audio_speaker_set_volume");
  // What it did is not what the sentence asks for, or not what anybody here knows of.
  for (const auto& lost :
       {after("turn on the lamp", "self_lamp_turn_off", none, "true"),
        after("set the volume to 30", "self_audio_speaker_set_volume", {{"volume", 50}}, "true"),
        after("make it cosy in here", "self_lamp_turn_on", none, "true")}) {
    EXPECT_TRUE(lost.lost);
    EXPECT_TRUE(lost.text.empty());
    EXPECT_FALSE(lost.call);
  }
}

TEST(Dialogue, ResultsOfAnotherToolAreNotTakenForOurs) {
  Conversation talk(test::builtin_catalog());
  talk.messages() = {
      {.role = Message::Role::user, .text = "mute"},
      {.role = Message::Role::assistant, .calls = {{.id = "intent-1", .name = "self_lamp_turn_on"}}},
      {.role = Message::Role::tool, .text = "true", .call_id = "intent-1"}};
  EXPECT_FALSE(talk.next().understood);
  // More results than steps, and a call without its result.
  talk.messages() = {{.role = Message::Role::user, .text = "mute"},
                     {.role = Message::Role::assistant,
                      .calls = {{.id = "intent-1", .name = "self_audio_speaker_set_volume"},
                                {.id = "intent-2", .name = "self_audio_speaker_set_volume"}}},
                     {.role = Message::Role::tool, .text = "true", .call_id = "intent-2"},
                     {.role = Message::Role::tool, .text = "true", .call_id = "intent-1"}};
  EXPECT_FALSE(talk.next().understood);
  talk.messages() = {{.role = Message::Role::user, .text = "mute"},
                     {.role = Message::Role::assistant,
                      .calls = {{.id = "intent-1", .name = "self_audio_speaker_set_volume"}}}};
  EXPECT_EQ(talk.next().call->id, "intent-2");
}

TEST(Dialogue, EverySentenceEndsInAReply) {
  const Catalog catalog = test::builtin_catalog();
  test::Sampler sampler(catalog, 3);
  for (const Intent& intent : catalog.intents) {
    for (const Sentence& sentence : intent.sentences) {
      Conversation talk(test::builtin_catalog(), test::stock_and_own_tools());
      const std::string text = sampler.sentence(sentence).text();
      Outcome outcome = talk.say(text);
      for (int i = 0; i < 3 && outcome.call; ++i) {
        const bool status = outcome.call->name == "self_get_device_status";
        const bool state = outcome.call->name == "self_lamp_get_state";
        outcome = talk.result(status ? kStatus : state ? R"({"power": false})" : "A nice picture.");
      }
      EXPECT_TRUE(outcome.understood) << text;
      EXPECT_FALSE(outcome.call) << text;
      EXPECT_FALSE(outcome.text.empty()) << text;
      EXPECT_EQ(outcome.text.find_first_of("{}[]"), std::string::npos) << outcome.text;
      EXPECT_NE(outcome.text, "I couldn't find that out.") << text;
    }
  }
}

}  // namespace
}  // namespace parley::providers::intents
