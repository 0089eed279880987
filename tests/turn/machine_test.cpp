#include "parley/turn/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace parley::turn {
namespace {

using protocol::ListenMode;
using State = Machine::State;
using testing::ElementsAre;

std::string name(const Action& action) {
  struct Namer {
    std::string operator()(const StartListening&) const { return "listen"; }
    std::string operator()(const StopListening&) const { return "deaf"; }
    std::string operator()(const EndUtterance&) const { return "end utterance"; }
    std::string operator()(const GuardForVoice&) const { return "guard"; }
    std::string operator()(const BeginTurn& a) const { return "begin " + std::to_string(a.generation); }
    std::string operator()(const OpenRecogniser&) const { return "open asr"; }
    std::string operator()(const FinishRecogniser&) const { return "finish asr"; }
    std::string operator()(const DropRecogniser&) const { return "drop asr"; }
    std::string operator()(const StartDraft& a) const { return "draft " + a.text; }
    std::string operator()(const SendStt& a) const { return "stt " + a.text; }
    std::string operator()(const SendTtsStart&) const { return "tts start"; }
    std::string operator()(const SendTtsStop&) const { return "tts stop"; }
    std::string operator()(const StartReply& a) const { return "reply " + a.text; }
    std::string operator()(const CancelReply&) const { return "cancel reply"; }
    std::string operator()(const EndTurn& a) const {
      return std::string(to_string(a.outcome)) + " " + std::to_string(a.generation);
    }
    std::string operator()(const Rest&) const { return "rest"; }
    std::string operator()(const Close& a) const { return "close " + std::to_string(a.code); }
  };
  return std::visit(Namer{}, action);
}

struct MachineTest : testing::Test {
  config::SessionSettings settings;
  Machine machine{settings};

  std::vector<std::string> on(const Event& event) {
    std::vector<std::string> names;
    for (const auto& action : machine.on(event)) names.push_back(name(action));
    return names;
  }
  ReplyPlayed played(bool end = false) const { return {machine.generation(), end, false, ""}; }
  Recognised heard(std::string text) const { return {machine.generation(), std::move(text), false}; }
  void until_replying(ListenMode mode) {
    on(ListenStarted{mode});
    on(SpeechBegan{});
    if (mode == ListenMode::manual) on(ListenStopped{});
    on(SpeechEnded{});
    on(heard("hello"));
    ASSERT_EQ(machine.state(), State::replying);
  }
};

TEST_F(MachineTest, AnAutomaticTurnRunsFromSpeechToRest) {
  EXPECT_THAT(on(ListenStarted{ListenMode::automatic}), ElementsAre("listen"));
  EXPECT_THAT(on(SpeechBegan{}), ElementsAre("begin 1", "open asr"));
  EXPECT_THAT(on(SpeechEnded{}), ElementsAre("finish asr"));
  EXPECT_THAT(on(heard("lamp on")), ElementsAre("stt lamp on", "tts start", "reply lamp on", "deaf"));
  EXPECT_THAT(on(played()), ElementsAre("tts stop", "completed 1", "deaf", "rest"));
  EXPECT_EQ(machine.state(), State::idle);
}

TEST_F(MachineTest, AnAnnouncementIsATurnOfItsOwn) {
  EXPECT_TRUE(machine.can_announce());
  EXPECT_THAT(on(AnnouncementDue{"tea"}), ElementsAre("begin 1", "tts start", "reply tea", "deaf"));
  EXPECT_FALSE(machine.can_announce());
  EXPECT_TRUE(on(AnnouncementDue{"again"}).empty());
  EXPECT_THAT(on(played()), ElementsAre("tts stop", "completed 1", "deaf", "rest"));
}

TEST_F(MachineTest, AnAnnouncementWaitsForWhoeverSpeaks) {
  on(ListenStarted{ListenMode::automatic});
  EXPECT_TRUE(machine.can_announce());
  on(SpeechBegan{});
  EXPECT_TRUE(on(AnnouncementDue{"tea"}).empty());
  on(SpeechEnded{});
  EXPECT_TRUE(on(AnnouncementDue{"tea"}).empty());
  on(heard("hello"));
  EXPECT_TRUE(on(AnnouncementDue{"tea"}).empty());
  on(played());
  EXPECT_THAT(on(AnnouncementDue{"tea"}), ElementsAre("begin 2", "tts start", "reply tea", "deaf"));
  EXPECT_THAT(on(AbortRequested{}), ElementsAre("cancel reply", "tts stop", "interrupted 2", "deaf", "rest"));
}

TEST_F(MachineTest, NothingIsAnnouncedIntoAButtonThatIsHeldDown) {
  on(ListenStarted{ListenMode::manual});
  EXPECT_FALSE(machine.can_announce());
  EXPECT_TRUE(on(AnnouncementDue{"tea"}).empty());
}

TEST_F(MachineTest, InRealtimeAnAnnouncementCanBeTalkedOver) {
  on(ListenStarted{ListenMode::realtime});
  EXPECT_THAT(on(AnnouncementDue{"tea"}), ElementsAre("begin 1", "tts start", "reply tea", "guard"));
  EXPECT_THAT(on(played()), ElementsAre("tts stop", "completed 1", "listen"));
}

TEST_F(MachineTest, NothingIsAnnouncedByAServerThatStops) {
  on(ListenStarted{ListenMode::automatic});
  on(SpeechBegan{});
  on(ShutdownRequested{});
  EXPECT_FALSE(machine.can_announce());
}

TEST_F(MachineTest, APartialThatStandsIsDraftedWhileItsUtteranceRuns) {
  EXPECT_TRUE(on(PartialStood{0, "early"}).empty());
  on(ListenStarted{ListenMode::automatic});
  on(SpeechBegan{});
  EXPECT_THAT(on(PartialStood{1, "lamp"}), ElementsAre("draft lamp"));
  on(SpeechEnded{});
  EXPECT_THAT(on(PartialStood{1, "lamp on"}), ElementsAre("draft lamp on"));
  EXPECT_TRUE(on(PartialStood{0, "old"}).empty());
  on(heard("lamp on"));
  EXPECT_TRUE(on(PartialStood{1, "late"}).empty());
}

TEST_F(MachineTest, PushToTalkEndsWithTheButton) {
  on(ListenStarted{ListenMode::manual});
  on(SpeechBegan{});
  EXPECT_THAT(on(ListenStopped{}), ElementsAre("end utterance"));
  EXPECT_THAT(on(SpeechEnded{}), ElementsAre("finish asr"));
  EXPECT_THAT(on(heard("hi")), ElementsAre("stt hi", "tts start", "reply hi", "deaf"));
}

TEST_F(MachineTest, PushToTalkWithoutAWordIsNoSpeech) {
  on(ListenStarted{ListenMode::manual});
  on(ListenStopped{});
  EXPECT_THAT(on(SpeechEnded{true}), ElementsAre("begin 1", "no_speech 1", "deaf", "rest"));
}

TEST_F(MachineTest, RealtimeKeepsTheMicrophoneOpen) {
  until_replying(ListenMode::realtime);
  EXPECT_THAT(on(played()), ElementsAre("tts stop", "completed 1", "listen"));
}

TEST_F(MachineTest, AVoiceInterruptsInRealtime) {
  until_replying(ListenMode::realtime);
  EXPECT_THAT(on(SpeechBegan{}),
              ElementsAre("cancel reply", "tts stop", "interrupted 1", "begin 2", "open asr"));
  EXPECT_EQ(machine.state(), State::hearing);
}

TEST_F(MachineTest, AVoiceDoesNotInterruptWhereThatIsOff) {
  settings.voice_barge_in = false;
  until_replying(ListenMode::realtime);
  EXPECT_TRUE(on(SpeechBegan{}).empty());
  EXPECT_EQ(machine.state(), State::replying);
}

TEST_F(MachineTest, AbortSilencesAtOnce) {
  until_replying(ListenMode::automatic);
  EXPECT_THAT(on(AbortRequested{"wake_word_detected"}),
              ElementsAre("cancel reply", "tts stop", "interrupted 1", "deaf", "rest"));
  EXPECT_TRUE(on(ReplyPlayed{1, false, false, ""}).empty()) << "the old reply ends without a second tts stop";
}

TEST_F(MachineTest, AbortInRealtimeListensOn) {
  until_replying(ListenMode::realtime);
  EXPECT_THAT(on(AbortRequested{}), ElementsAre("cancel reply", "tts stop", "interrupted 1", "listen"));
}

TEST_F(MachineTest, ListenStartWhileSpeakingIsAbortAndStart) {
  until_replying(ListenMode::automatic);
  EXPECT_THAT(on(ListenStarted{ListenMode::manual}),
              ElementsAre("cancel reply", "tts stop", "interrupted 1", "listen"));
  EXPECT_EQ(machine.mode(), ListenMode::manual);
}

TEST_F(MachineTest, AListenStartWhileHearingStartsAnew) {
  on(ListenStarted{ListenMode::automatic});
  on(SpeechBegan{});
  EXPECT_THAT(on(ListenStarted{ListenMode::automatic}), ElementsAre("drop asr", "interrupted 1", "listen"));
}

TEST_F(MachineTest, NoiseIsForgottenAndListeningGoesOn) {
  on(ListenStarted{ListenMode::automatic});
  on(SpeechBegan{});
  EXPECT_THAT(on(SpeechEnded{true}), ElementsAre("drop asr", "no_speech 1", "listen"));
  on(SpeechBegan{});
  on(SpeechEnded{});
  EXPECT_THAT(on(heard("")), ElementsAre("no_speech 2", "listen"));
}

TEST_F(MachineTest, SpeechThatIsNoCommandGetsAnHonestAnswer) {
  on(ListenStarted{ListenMode::automatic});
  on(SpeechBegan{});
  on(SpeechEnded{});
  EXPECT_THAT(on(Recognised{1, "guess", true}),
              ElementsAre("tts start", "reply Sorry, I did not understand that.", "deaf"));
  EXPECT_THAT(on(played()), ElementsAre("tts stop", "rejected 1", "deaf", "rest"));
}

TEST_F(MachineTest, AnOpenMicrophoneIgnoresTalkThatIsNoCommand) {
  on(ListenStarted{ListenMode::realtime});
  on(SpeechBegan{});
  on(SpeechEnded{});
  EXPECT_THAT(on(Recognised{1, "guess", true}), ElementsAre("rejected 1", "listen"));
}

TEST_F(MachineTest, AFailedRecogniserIsApologisedFor) {
  on(ListenStarted{ListenMode::automatic});
  on(SpeechBegan{});
  on(SpeechEnded{});
  EXPECT_THAT(on(RecognitionFailed{1, "timeout"}),
              ElementsAre("drop asr", "tts start", "reply Sorry, something went wrong.", "deaf"));
  EXPECT_THAT(on(played()), ElementsAre("tts stop", "failed 1", "deaf", "rest"));
}

TEST_F(MachineTest, StaleEventsChangeNothing) {
  until_replying(ListenMode::automatic);
  on(ListenStarted{ListenMode::automatic});
  on(SpeechBegan{});
  EXPECT_TRUE(on(Recognised{1, "old", false}).empty());
  EXPECT_TRUE(on(RecognitionFailed{1, "old"}).empty());
  EXPECT_TRUE(on(ReplyPlayed{1, true, false, ""}).empty());
  EXPECT_EQ(machine.state(), State::hearing);
}

TEST_F(MachineTest, AGreetingSurvivesTheListenStartOfItsWakeWord) {
  settings.greeting = "Yes?";
  EXPECT_THAT(on(WakeWordHeard{"hi parley"}),
              ElementsAre("stt hi parley", "begin 1", "tts start", "reply Yes?", "deaf"));
  EXPECT_TRUE(on(ListenStarted{ListenMode::automatic}).empty());
  EXPECT_THAT(on(ListenStarted{ListenMode::automatic}),
              ElementsAre("cancel reply", "tts stop", "interrupted 1", "listen"))
      << "a second one is the user's";
}

TEST_F(MachineTest, AGreetingInRealtimeIsFollowedByListening) {
  settings.greeting = "Yes?";
  on(WakeWordHeard{"hi"});
  EXPECT_THAT(on(ListenStarted{ListenMode::realtime}), ElementsAre("guard"));
  EXPECT_THAT(on(played()), ElementsAre("tts stop", "completed 1", "listen"));
}

TEST_F(MachineTest, AWakeWordWithoutGreetingIsOnlyShown) {
  EXPECT_THAT(on(WakeWordHeard{"hi"}), ElementsAre("stt hi", "deaf", "rest"));
  EXPECT_THAT(on(ListenStarted{ListenMode::automatic}), ElementsAre("listen"));
}

TEST_F(MachineTest, GoodbyeClosesAfterTheReply) {
  until_replying(ListenMode::realtime);
  EXPECT_THAT(on(played(true)), ElementsAre("tts stop", "completed 1", "deaf", "close 1000"));
  EXPECT_TRUE(on(ListenStarted{ListenMode::automatic}).empty());
}

TEST_F(MachineTest, SilenceIsFollowedByAFarewell) {
  settings.farewell = "Bye.";
  on(ListenStarted{ListenMode::automatic});
  EXPECT_THAT(on(NoVoiceTimedOut{}), ElementsAre("begin 1", "tts start", "reply Bye.", "deaf"));
  EXPECT_THAT(on(played()), ElementsAre("tts stop", "completed 1", "deaf", "close 1000"));
}

TEST_F(MachineTest, IdlenessWithoutFarewellCloses) {
  EXPECT_THAT(on(IdleTimedOut{}), ElementsAre("deaf", "close 1000"));
}

TEST_F(MachineTest, ShutdownLetsTheTurnEnd) {
  until_replying(ListenMode::automatic);
  EXPECT_TRUE(on(ShutdownRequested{}).empty());
  EXPECT_THAT(on(played()), ElementsAre("tts stop", "completed 1", "deaf", "close 1001"));
}

TEST_F(MachineTest, ShutdownClosesWhoOnlyListens) {
  on(ListenStarted{ListenMode::automatic});
  EXPECT_THAT(on(ShutdownRequested{}), ElementsAre("deaf", "close 1001"));
}

/// Any order of events keeps the promises of the class.
TEST(MachinePropertyTest, EveryStartHasItsStopWhateverHappens) {
  std::mt19937 random(7);
  for (int run = 0; run < 3000; ++run) {
    config::SessionSettings settings;
    if (run % 3 == 0) settings.greeting = "Yes?";
    if (run % 4 == 0) settings.farewell = "Bye.";
    if (run % 5 == 0) settings.not_understood = "";
    Machine machine(settings);
    bool speaking = false;
    std::optional<Generation> open;
    const auto carry_out = [&](const Event& event) {
      for (const auto& action : machine.on(event)) {
        if (std::holds_alternative<SendTtsStart>(action)) {
          ASSERT_FALSE(std::exchange(speaking, true)) << "tts start twice";
        } else if (std::holds_alternative<SendTtsStop>(action)) {
          ASSERT_TRUE(std::exchange(speaking, false)) << "tts stop without start";
        } else if (const auto* begin = std::get_if<BeginTurn>(&action)) {
          ASSERT_FALSE(open.has_value());
          open = begin->generation;
        } else if (const auto* end = std::get_if<EndTurn>(&action)) {
          ASSERT_EQ(open, end->generation);
          open.reset();
        } else if (std::holds_alternative<StartReply>(action)) {
          ASSERT_TRUE(speaking);
        } else if (std::holds_alternative<Close>(action)) {
          ASSERT_FALSE(speaking);
        }
      }
    };
    for (int step = 0; step < 40; ++step) {
      const auto generation = machine.generation() - static_cast<Generation>(random() % 4 == 0);
      const std::vector<Event> events = {
          ListenStarted{static_cast<ListenMode>(random() % 3)},
          ListenStopped{},
          WakeWordHeard{"w"},
          AbortRequested{},
          SpeechBegan{},
          SpeechEnded{random() % 3 == 0},
          Recognised{generation, random() % 3 == 0 ? "" : "t", random() % 4 == 0},
          RecognitionFailed{generation, "f"},
          ReplyPlayed{generation, random() % 9 == 0, random() % 5 == 0, "w"},
          NoVoiceTimedOut{},
          IdleTimedOut{},
          AnnouncementDue{"a"},
          SpeechBegan{}};
      carry_out(events[random() % events.size()]);
      if (HasFatalFailure()) FAIL() << "run " << run << " step " << step;
      if (machine.state() == State::idle || machine.state() == State::listening) {
        ASSERT_FALSE(speaking);
        ASSERT_FALSE(open.has_value());
      }
    }
  }
}

}  // namespace
}  // namespace parley::turn
