// What is said when its time has come, and what Parley's own tools do to a session.
#include <gmock/gmock.h>

#include "fakes/fake_reminders.hpp"
#include "fakes/session_rig.hpp"

namespace parley::session {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using What = test::FakeLlm::What;

class RemindersTest : public test::SessionRig {
 protected:
  RemindersTest() {
    settings->profile.timezone = "Etc/UTC";
    reminders = mcp::ReminderBook::open(store, metrics, wall_time);
  }

  /// Both clocks go on.
  void pass(Millis span) {
    for (auto left = span; left > 0ms; left -= 100ms) {
      wall_time += std::min(left, Millis(100));
      advance(std::min(left, Millis(100)));
    }
  }
  void set(const std::string& text, Millis after, const std::string& device = "aa:bb") {
    reminders->add(
        {.device = device, .kind = engine::Reminder::Kind::reminder, .text = text, .due = wall_time + after},
        [](const auto& added) { EXPECT_TRUE(added); });
    world.settle();
  }
  std::vector<std::string> said() const {
    std::vector<std::string> out;
    for (const auto& message : connection->texts("tts", "sentence_start"))
      out.push_back(message.json["text"]);
    return out;
  }
  void begin(Caller caller = {"aa:bb", "", "", "127.0.0.1", "test"}) {
    connect(std::move(caller));
    hello();
  }
  /// The model calls this tool of Parley's own, then says what came of it.
  void model_calls(const std::string& tool, const json& arguments) {
    llm->reply = [=](const engine::ChatRequest& request) {
      if (request.messages.back().role == engine::Message::Role::tool) {
        return std::vector<What>{engine::TextDelta{request.messages.back().text}};
      }
      return std::vector<What>{engine::ToolCall{"c", "parley__" + tool, arguments}};
    };
  }

  std::shared_ptr<test::FakeReminders> store = std::make_shared<test::FakeReminders>();
};

TEST_F(RemindersTest, ATimerThatWasSetByVoiceSpeaksWhenItIsDue) {
  model_calls("set_timer", {{"seconds", 20}, {"name", "tea"}});
  begin();
  listen();
  utter();
  pass(10s);
  EXPECT_THAT(said(), ElementsAre("The tea timer is set for 20 seconds."));
  EXPECT_EQ(store->kept.size(), 1U);
  connection->sent.clear();
  pass(8s);
  EXPECT_THAT(connection->sent, IsEmpty());
  pass(4s);
  EXPECT_THAT(connection->story(),
              ElementsAre("tts start", "llm", "tts sentence_start", "frames", "tts stop"));
  EXPECT_THAT(said(), ElementsAre("Your tea timer is up."));
  EXPECT_THAT(store->kept, IsEmpty());
  const auto& line = turn_log->lines.back();
  EXPECT_EQ(line["kind"], "announcement");
  EXPECT_EQ(line["outcome"], "completed");
  EXPECT_FALSE(turn_log->lines.front().contains("kind"));
  pass(2min);
  EXPECT_THAT(said(), SizeIs(1));
}

TEST_F(RemindersTest, WhatWasDueWhileTheDeviceWasAwayIsSaidWhenItComes) {
  set("take the bread out", 1min);
  pass(30min);
  begin();
  pass(900ms);
  EXPECT_THAT(connection->texts("tts"), IsEmpty()) << "a device that was woken says so first";
  pass(5s);
  ASSERT_THAT(said(), ElementsAre("This was for 15:06. Reminder: take the bread out."));
  connection->vanish();
  begin();
  pass(1min);
  EXPECT_THAT(said(), IsEmpty()) << "once";
}

TEST_F(RemindersTest, ItWaitsForTheDevicesTools) {
  set("call", 1ms);
  pass(1s);
  connect();
  hello(1, true);
  pass(1900ms);
  EXPECT_THAT(connection->texts("tts"), IsEmpty());
  pass(5s);
  EXPECT_THAT(said(), SizeIs(1)) << "but not for ever";
}

TEST_F(RemindersTest, ItWaitsUntilThePersonWasAnswered) {
  begin();
  listen();
  set("call", 1s);
  speak(1200ms);
  wall_time += 3s;
  EXPECT_THAT(connection->texts("tts"), IsEmpty());
  audio(1s, false);
  pass(10s);
  EXPECT_THAT(said(), ElementsAre("Hello there.", "Reminder: call."));
  EXPECT_THAT(connection->texts("tts", "stop"), SizeIs(2));
  // A device says `listen start` when it has drained its queue: that must not cut the reminder off.
  const auto stop = connection->texts("tts", "stop").front().at;
  EXPECT_GE(connection->texts("tts", "start").back().at - stop, 1s);
}

TEST_F(RemindersTest, TheListenStartAfterAReplyDoesNotCutItOff) {
  begin();
  listen();
  set("call", 1s);
  utter();
  wall_time += 1s;
  while (connection->texts("tts", "stop").empty()) pass(100ms);
  pass(300ms);
  listen();
  pass(900ms);
  EXPECT_THAT(connection->texts("tts", "start"), SizeIs(1)) << "somebody may begin to speak";
  pass(5s);
  EXPECT_THAT(said(), ElementsAre("Hello there.", "Reminder: call."));
  EXPECT_EQ(turn_log->lines.back()["outcome"], "completed");
}

TEST_F(RemindersTest, NothingIsSaidIntoAButtonThatIsHeldDown) {
  begin();
  listen("manual");
  set("call", 1s);
  pass(20s);
  EXPECT_THAT(connection->texts("tts"), IsEmpty());
  stop();
  pass(10s);
  EXPECT_THAT(said(), ElementsAre("Reminder: call."));
}

TEST_F(RemindersTest, AnAbortedOneWasDelivered) {
  begin();
  set("one two three four five", 1s);
  while (connection->frames().empty()) pass(100ms);
  EXPECT_THAT(store->kept, IsEmpty()) << "from its first sound on";
  abort();
  pass(2min);
  EXPECT_THAT(said(), SizeIs(1));
  EXPECT_EQ(turn_log->lines.back()["outcome"], "interrupted");
}

TEST_F(RemindersTest, OneThatIsInterruptedBeforeItsFirstSoundIsSaidLater) {
  tts->delay = 500ms;
  begin();
  set("call", 1s);
  while (connection->texts("tts", "start").empty()) pass(100ms);
  listen();
  EXPECT_THAT(connection->frames(), IsEmpty());
  EXPECT_EQ(store->kept.size(), 1U);
  pass(10s);
  EXPECT_THAT(said(), ElementsAre("Reminder: call."));
  EXPECT_THAT(store->kept, IsEmpty());
}

TEST_F(RemindersTest, AVoiceThatFailsIsTriedAgain) {
  apology_clip = std::make_shared<audio::Pcm>(audio::Pcm{24000, std::vector<std::int16_t>(24000)});
  tts->error = "no voice";
  begin();
  set("call", 1s);
  pass(30s);
  EXPECT_THAT(connection->frames(), IsEmpty()) << "an apology is no reminder";
  EXPECT_THAT(tts->spoken, SizeIs(1));
  EXPECT_EQ(connection->texts("tts", "start").size(), connection->texts("tts", "stop").size());
  EXPECT_EQ(turn_log->lines.back()["outcome"], "failed");
  tts->error.clear();
  pass(40s);
  EXPECT_THAT(said(), ElementsAre("This was for 15:05. Reminder: call."));
}

TEST_F(RemindersTest, ADeviceThatVanishesBeforeTheFirstSoundIsToldWhenItComesBack) {
  tts->delay = 500ms;
  begin();
  set("call", 1s);
  while (connection->texts("tts", "start").empty()) pass(100ms);
  connection->vanish();
  session.reset();
  pass(1s);
  EXPECT_EQ(store->kept.size(), 1U);
  begin();
  pass(5s);
  EXPECT_THAT(said(), ElementsAre("Reminder: call."));
}

TEST_F(RemindersTest, OfTwoSessionsOfOneDeviceOneSaysIt) {
  begin();
  const auto first = connection;
  const auto first_session = session;
  begin();
  set("call", 2s);
  pass(20s);
  EXPECT_EQ(first->texts("tts", "sentence_start").size() + said().size(), 1U);
  first->vanish();
}

TEST_F(RemindersTest, ManyAtOnceAreSaidAFewAtATime) {
  for (int i = 1; i <= 7; ++i) set(std::to_string(i), 1s);
  pass(1s);
  begin();
  pass(2min);
  ASSERT_THAT(said(), SizeIs(2));
  EXPECT_EQ(said().front(), "Reminder: 1. Reminder: 2. Reminder: 3. Reminder: 4. Reminder: 5.");
  EXPECT_THAT(store->kept, IsEmpty());
}

TEST_F(RemindersTest, AWallClockThatIsSetForwardIsSeenWithinAMinute) {
  begin();
  set("call", 2h);
  wall_time += 3h;
  advance(1min);
  advance(5s);
  ASSERT_THAT(said(), SizeIs(1));
}

TEST_F(RemindersTest, AWallClockThatIsSetBackPutsItOff) {
  settings->profile.session.idle_timeout = 0ms;
  begin();
  set("call", 2min);
  wall_time -= 1h;
  advance(5min);
  EXPECT_THAT(said(), IsEmpty());
  pass(Millis(1h) + 3min);
  EXPECT_THAT(said(), SizeIs(1));
}

TEST_F(RemindersTest, OnesOfOtherDevicesAreNotSaid) {
  begin();
  set("call", 1s, "cc:dd");
  pass(1min);
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(RemindersTest, OneThatIsCancelledIsNotSaid) {
  begin();
  set("call", 10s);
  pass(5s);
  EXPECT_TRUE(reminders->remove("aa:bb", 1));
  pass(1min);
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(RemindersTest, ADeviceWithoutANameIsToldThatNothingIsKept) {
  model_calls("set_timer", {{"seconds", 20}});
  begin({"unnamed-1", "", "", "127.0.0.1", "test", true});
  listen();
  utter();
  pass(10s);
  EXPECT_EQ(said().at(0), "This device did not say who it is,");
  EXPECT_THAT(store->kept, IsEmpty());
}

TEST_F(RemindersTest, TheConversationEndsAfterTheReplyThatAskedForIt) {
  model_calls("end_conversation", json::object());
  begin();
  listen();
  utter();
  pass(10s);
  EXPECT_THAT(said(), SizeIs(1));
  ASSERT_TRUE(connection->closed);
  EXPECT_EQ(connection->closed->first, 1000);
}

TEST_F(RemindersTest, AnInterruptedReplyEndsNothing) {
  model_calls("end_conversation", json::object());
  begin();
  listen();
  utter();
  while (connection->frames().empty()) pass(100ms);
  abort();
  llm->reply = [](const auto&) { return std::vector<What>{engine::TextDelta{"Still here."}}; };
  listen();
  utter();
  pass(10s);
  EXPECT_FALSE(connection->closed);
}

TEST_F(RemindersTest, AnotherPersonaAndVoiceStayForTheSession) {
  settings->personas["pirate"] = {"You are a pirate.", "rms"};
  settings->profile.voice = "slt";
  settings->profile.persona = "You are Parley.";
  model_calls("switch_persona", {{"name", "pirate"}});
  begin();
  listen();
  utter();
  pass(10s);
  EXPECT_EQ(llm->requests.back().messages.front().text, "You are Parley.");
  EXPECT_EQ(tts->voices.back(), "rms") << "at once";
  listen();
  utter();
  pass(10s);
  EXPECT_EQ(llm->requests.back().messages.front().text, "You are a pirate.");
  model_calls("switch_persona", {{"name", "default"}});
  listen();
  utter();
  pass(10s);
  EXPECT_EQ(tts->voices.back(), "slt");
  connection->vanish();
  begin();
  listen();
  utter();
  pass(10s);
  EXPECT_EQ(llm->requests.back().messages.front().text, "You are Parley.");
}

}  // namespace
}  // namespace parley::session
