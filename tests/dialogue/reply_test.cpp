// The model, its tools and the voice of one reply, on the manual clock.
#include "parley/dialogue/reply.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <map>

#include "fakes/fake_engines.hpp"
#include "fakes/world.hpp"

namespace parley::dialogue {
namespace {

using namespace std::chrono_literals;
using engine::Message;
using engine::TextDelta;
using engine::ToolCall;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using What = test::FakeLlm::What;

/// Plays in real time on the manual clock, or not at all.
class FakeVoice final : public Voice {
 public:
  explicit FakeVoice(std::shared_ptr<Scheduler> scheduler) : scheduler_(std::move(scheduler)) {}
  void show(const Emotion& emotion) override { faces.emplace_back(emotion.name); }
  void begin_sentence(std::string text) override {
    sentences.push_back({std::move(text), scheduler_->now()});
  }
  Task<> play(const audio::Pcm& pcm) override {
    const auto length = std::chrono::microseconds(pcm.samples.size() * 1'000'000) / pcm.rate;
    co_await sleep_until(*scheduler_, stuck ? TimePoint::max() : scheduler_->now() + length);
  }
  struct Sentence {
    std::string text;
    TimePoint at;
  };
  std::vector<std::string> texts() const {
    std::vector<std::string> out;
    for (const auto& sentence : sentences) out.push_back(sentence.text);
    return out;
  }
  std::vector<std::string> faces;
  std::vector<Sentence> sentences;
  bool stuck = false;

 private:
  std::shared_ptr<Scheduler> scheduler_;
};

/// What a tool does.
struct Behaviour {
  Millis delay{0};
  std::string text = "done";
  std::string error;
  std::string throws;
  bool ends = false;  ///< without a result
  bool silent = false;
};

class ReplyTest : public testing::Test {
 protected:
  class Stream final : public mcp::CallStream {
   public:
    Stream(ReplyTest& test, Behaviour behaviour)
        : test_(test), behaviour_(std::move(behaviour)), ready_(test.world.now() + behaviour_.delay) {
      test_.most_running = std::max(test_.most_running, ++test_.running);
    }
    ~Stream() override { --test_.running; }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    Stream(Stream&&) = delete;
    Stream& operator=(Stream&&) = delete;
    Task<Result<std::optional<engine::ToolResult>>> next() override {
      co_await sleep_until(*test_.world.scheduler, behaviour_.silent ? TimePoint::max() : ready_);
      if (!behaviour_.throws.empty()) throw std::runtime_error(behaviour_.throws);
      if (!behaviour_.error.empty()) co_return Error(Errc::unavailable, behaviour_.error);
      if (behaviour_.ends) co_return std::optional<engine::ToolResult>();
      co_return std::optional(engine::ToolResult{behaviour_.text, false});
    }

   private:
    ReplyTest& test_;
    Behaviour behaviour_;
    TimePoint ready_;
  };

  /// Starts the reply; it runs as far as it can.
  void begin() {
    ReplyTools tools;
    tools.scheduler = world.scheduler;
    tools.llm = llm;
    tools.tts = tts;
    tools.profile = &profile;
    tools.call = [this](const ToolCall& call) -> std::unique_ptr<mcp::CallStream> {
      called.push_back(call.name);
      if (refuse_to_start) throw std::runtime_error("no start");
      return std::make_unique<Stream>(*this, behaviours[call.name]);
    };
    tools.where = [](std::string_view) { return "device"; };
    auto set = std::make_shared<engine::ToolSet>();
    for (const auto& [name, behaviour] : behaviours) {
      set->tools.push_back(
          {name, "", name, "", {{"type", "object"}, {"properties", {{"level", {{"type", "integer"}}}}}}});
    }
    engine::ChatRequest request;
    request.tools = set;
    progress->voice = voice;
    began = world.now();
    progress->record->endpoint_decided = began;
    asio::co_spawn(world.io, answer(tools, request, progress),
                   asio::bind_cancellation_slot(stop.slot(), [this](const std::exception_ptr& thrown) {
                     ended = true;
                     cancelled = thrown != nullptr;
                   }));
    world.settle();
  }
  void run() {
    begin();
    world.advance(1h);
    ASSERT_TRUE(ended);
  }
  /// The model asks for these, then says what came.
  void ask_for(std::vector<What> calls) {
    llm->reply = [calls](const engine::ChatRequest& request) {
      if (request.messages.empty() || request.messages.back().role != Message::Role::tool) return calls;
      return std::vector<What>{TextDelta{"All done."}};
    };
  }
  std::vector<Message> results() const {
    std::vector<Message> out;
    for (const auto& message : progress->result.messages) {
      if (message.role == Message::Role::tool) out.push_back(message);
    }
    return out;
  }

  test::World world;
  std::shared_ptr<test::FakeLlm> llm = std::make_shared<test::FakeLlm>(world.scheduler);
  std::shared_ptr<test::FakeTts> tts = std::make_shared<test::FakeTts>(world.scheduler);
  std::shared_ptr<FakeVoice> voice = std::make_shared<FakeVoice>(world.scheduler);
  std::shared_ptr<ReplyInProgress> progress = std::make_shared<ReplyInProgress>();
  config::Profile profile;
  std::map<std::string, Behaviour> behaviours;
  std::vector<std::string> called;
  asio::cancellation_signal stop;
  TimePoint began;
  bool refuse_to_start = false;
  bool ended = false;
  bool cancelled = false;
  int running = 0;
  int most_running = 0;
};

TEST_F(ReplyTest, TheFirstClauseIsSpokenWhileTheModelGoesOn) {
  llm->reply = [](const auto&) {
    std::vector<What> deltas;
    for (const char* word : {"Good ", "morning ", "to you,", " it ", "is ", "nine. ", "Bye"})
      deltas.emplace_back(TextDelta{word});
    return deltas;
  };
  begin();
  world.advance(150ms);
  EXPECT_THAT(tts->spoken, ElementsAre("Good morning to you,"));
  world.advance(1min);
  EXPECT_THAT(voice->texts(), ElementsAre("Good morning to you,", "it is nine.", "Bye"));
}

TEST_F(ReplyTest, MarkupIsRememberedButNeitherSpokenNorShown) {
  const std::string raw = "[emotion: happy] **Hi** there! See [this](https://a.example). ```x```";
  llm->reply = [&](const auto&) { return std::vector<What>{TextDelta{raw}}; };
  run();
  EXPECT_THAT(voice->texts(), ElementsAre("Hi there!", "See this."));
  EXPECT_THAT(voice->faces, ElementsAre("happy"));
  EXPECT_EQ(progress->record->reply_text, "Hi there! See this.");
  EXPECT_EQ(progress->result.messages.back().text, raw);
}

TEST_F(ReplyTest, AReplyThatIsOnlyAFaceShowsIt) {
  llm->reply = [](const auto&) { return std::vector<What>{TextDelta{"😔"}}; };
  run();
  EXPECT_THAT(voice->faces, ElementsAre("sad"));
  EXPECT_THAT(tts->spoken, IsEmpty());
}

TEST_F(ReplyTest, ARunawayTextEndsAtItsLimit) {
  llm->delay = 0ms;
  tts->per_character = 0ms;
  llm->reply = [](const auto&) {
    std::vector<What> deltas(100000, TextDelta{"Größer! "});
    deltas.emplace_back(ToolCall{"1", "never", json::object()});
    return deltas;
  };
  run();
  const auto& messages = progress->result.messages;
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_LE(messages[0].text.size(), 32U * 1024);
  EXPECT_GE(messages[0].text.size(), 32U * 1024 - 3);
  EXPECT_THAT(messages[0].calls, IsEmpty());
  EXPECT_FALSE(progress->result.failed);
  EXPECT_EQ(llm->requests.size(), 1U);
  EXPECT_LE(progress->record->reply_text.size(), 33U * 1024);
  EXPECT_GT(tts->spoken.size(), 3000U) << "what fits is spoken";
}

TEST_F(ReplyTest, AHugeDeltaIsCutBetweenCharacters) {
  tts->per_character = 0ms;
  std::string huge;
  for (int i = 0; i < 100000; ++i) huge += "字";
  llm->reply = [&](const auto&) { return std::vector<What>{TextDelta{huge}}; };
  run();
  const auto& text = progress->result.messages.at(0).text;
  EXPECT_EQ(text.size(), 32U * 1024 / 3 * 3);
  EXPECT_EQ(json(text).dump().size(), text.size() + 2) << "whole characters";
}

TEST_F(ReplyTest, TheModelWaitsForTheVoice) {
  llm->delay = 1ms;
  tts->per_character = 1s;
  llm->reply = [](const auto&) { return std::vector<What>(200, TextDelta{"One more sentence! "}); };
  voice->stuck = true;
  begin();
  world.advance(10s);
  // One is being spoken, sixteen wait, one has no room.
  const auto said = [&] { return std::ranges::count(progress->record->reply_text, '!'); };
  EXPECT_EQ(said(), 17);
  world.advance(1min);
  EXPECT_EQ(said(), 17) << "nothing is read meanwhile, and no deadline runs";
  stop.emit(asio::cancellation_type::terminal);
  world.settle();
  EXPECT_TRUE(ended);
  EXPECT_TRUE(cancelled);
}

TEST_F(ReplyTest, OneDeltaOfManySentencesWaitsTooAndIsSpokenWhole) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "Sentence number " + std::string(1, static_cast<char>('a' + i % 26)) + "! ";
  llm->reply = [&](const auto&) { return std::vector<What>{TextDelta{text}}; };
  begin();
  world.advance(100ms);
  EXPECT_EQ(std::ranges::count(progress->record->reply_text, '!'), 17);
  world.advance(1h);
  EXPECT_TRUE(ended);
  EXPECT_EQ(voice->sentences.size(), 100U);
}

TEST_F(ReplyTest, AVoiceThatFailsDoesNotHoldTheModel) {
  tts->error = "down";
  llm->reply = [](const auto&) { return std::vector<What>(100, TextDelta{"One more sentence! "}); };
  run();
  EXPECT_TRUE(progress->result.failed);
  EXPECT_EQ(progress->result.why, "down");
}

TEST_F(ReplyTest, CallsOfARoundRunSideBySideWithResultsInOrder) {
  behaviours = {{"slow", {1s, "first", "", "", false, false}},
                {"fast", {200ms, "second", "", "", false, false}}};
  ask_for({ToolCall{"1", "slow", json::object()}, ToolCall{"2", "fast", json::object()}});
  begin();
  world.advance(250ms);
  EXPECT_EQ(running, 2);
  world.advance(1min);
  ASSERT_EQ(results().size(), 2U);
  EXPECT_EQ(results()[0].call_id, "1");
  EXPECT_EQ(results()[0].text, "first");
  EXPECT_EQ(results()[1].text, "second");
  ASSERT_EQ(progress->record->tools.size(), 2U);
  EXPECT_EQ(progress->record->tools[0].took, 1s);
  EXPECT_EQ(progress->record->tools[1].took, 200ms) << "its own time, not that of the slowest";
  EXPECT_THAT(voice->texts(), ElementsAre("All done."));
  EXPECT_EQ(running, 0);
}

TEST_F(ReplyTest, EveryFailureOfAToolIsReadByTheModel) {
  behaviours = {{"error", {0ms, "", "broken", "", false, false}},
                {"thrown", {0ms, "", "", "a defect", false, false}},
                {"ends", {0ms, "", "", "", true, false}},
                {"silent", {0ms, "", "", "", false, true}},
                {"good", {}}};
  profile.session.slow_tool_phrase.clear();
  ask_for({ToolCall{"1", "error", json::object()}, ToolCall{"2", "thrown", json::object()},
           ToolCall{"3", "ends", json::object()}, ToolCall{"4", "silent", json::object()},
           ToolCall{"5", "good", json::object()}, ToolCall{"6", "unknown", json::object()},
           ToolCall{"7", "good", {{"level", "loud"}}}, ToolCall{"8", "good", nullptr}});
  run();
  std::vector<std::string> texts;
  for (const auto& result : results()) texts.push_back((result.failed ? "failed: " : "") + result.text);
  EXPECT_THAT(texts, ElementsAre("failed: broken", "failed: a defect", "failed: The tool gave no result.",
                                 "failed: The tool did not answer in time.", "done",
                                 "failed: There is no tool named unknown.",
                                 HasSubstr("failed: The arguments of good are invalid: level: "),
                                 "failed: The arguments of good are invalid: they are not a JSON object."));
  EXPECT_THAT(called, ElementsAre("error", "thrown", "ends", "silent", "good"));
  EXPECT_FALSE(progress->result.failed);
  EXPECT_THAT(voice->texts(), ElementsAre("All done."));
}

TEST_F(ReplyTest, AToolThatCannotStartIsAFailureToo) {
  behaviours = {{"tool", {}}};
  refuse_to_start = true;
  ask_for({ToolCall{"1", "tool", json::object()}});
  run();
  ASSERT_EQ(results().size(), 1U);
  EXPECT_EQ(results()[0].text, "no start");
  EXPECT_TRUE(results()[0].failed);
  EXPECT_THAT(voice->texts(), ElementsAre("All done."));
}

TEST_F(ReplyTest, OnlySixteenToolsOfARoundRun) {
  behaviours = {{"tool", {100ms, "done", "", "", false, false}}};
  ask_for(std::vector<What>(20, ToolCall{"1", "tool", json::object()}));
  run();
  EXPECT_EQ(most_running, 16);
  ASSERT_EQ(results().size(), 20U);
  EXPECT_FALSE(results()[15].failed);
  EXPECT_TRUE(results()[16].failed);
  EXPECT_THAT(results()[19].text, HasSubstr("at most 16"));
  EXPECT_THAT(voice->texts(), ElementsAre("All done."));
}

TEST_F(ReplyTest, AModelThatAsksForToolsWithoutEndIsCutShort) {
  llm->delay = 0ms;
  behaviours = {{"tool", {}}};
  ask_for(std::vector<What>(100000, ToolCall{"1", "tool", json::object()}));
  run();
  EXPECT_EQ(results().size(), 64U);
  EXPECT_EQ(called.size(), 16U);
  EXPECT_THAT(voice->texts(), ElementsAre("All done."));
}

TEST_F(ReplyTest, ASlowToolIsAnnouncedOnce) {
  behaviours = {{"slow", {20s, "done", "", "", false, false}}};
  auto round = std::make_shared<int>(0);
  llm->reply = [round](const auto&) {
    if (++*round <= 2) return std::vector<What>{ToolCall{"1", "slow", json::object()}};
    return std::vector<What>{TextDelta{"<happy>All done."}};
  };
  begin();
  world.advance(1599ms);
  EXPECT_THAT(tts->spoken, IsEmpty());
  world.advance(1ms);
  EXPECT_THAT(tts->spoken, ElementsAre(profile.session.slow_tool_phrase))
      << "100 ms of the model, 1.5 s of the tool";
  world.advance(1h);
  ASSERT_TRUE(ended);
  EXPECT_THAT(voice->texts(), ElementsAre(profile.session.slow_tool_phrase, "All done."));
  EXPECT_THAT(voice->faces, ElementsAre("happy")) << "the face is the answer's";
  progress->record->first_frame = voice->sentences.at(0).at;
  EXPECT_NEAR(*progress->record->added_ms(), 0, 0.001) << "waiting for the tool is not ours";
}

TEST_F(ReplyTest, ASlowToolIsNotAnnouncedIntoSpeech) {
  behaviours = {{"slow", {20s, "done", "", "", false, false}}};
  tts->per_character = 250ms;
  ask_for({TextDelta{"Let me see. "}, ToolCall{"1", "slow", json::object()}});
  begin();
  world.advance(2s);
  EXPECT_THAT(tts->spoken, ElementsAre("Let me see.")) << "2.75 s long";
  world.advance(3s);
  EXPECT_THAT(tts->spoken, ElementsAre("Let me see.", profile.session.slow_tool_phrase));
}

TEST_F(ReplyTest, AFastToolIsNotAnnouncedAndTheAnnouncementCanBeTurnedOff) {
  behaviours = {{"tool", {1400ms, "done", "", "", false, false}}};
  ask_for({ToolCall{"1", "tool", json::object()}});
  run();
  EXPECT_THAT(tts->spoken, ElementsAre("All done."));
  behaviours["tool"].delay = 20s;
  profile.session.slow_tool_after = 0ms;
  run();
  EXPECT_THAT(tts->spoken, ElementsAre("All done.", "All done."));
}

TEST_F(ReplyTest, AbortAbandonsEveryCallAtOnce) {
  behaviours = {{"slow", {20s, "done", "", "", false, false}}};
  ask_for({ToolCall{"1", "slow", json::object()}, ToolCall{"2", "slow", json::object()}});
  begin();
  world.advance(1s);
  EXPECT_EQ(running, 2);
  stop.emit(asio::cancellation_type::terminal);
  world.settle();
  EXPECT_EQ(running, 0);
  EXPECT_TRUE(cancelled);
  world.advance(1h);
  EXPECT_THAT(tts->spoken, IsEmpty());
  EXPECT_THAT(results(), IsEmpty());
}

}  // namespace
}  // namespace parley::dialogue
