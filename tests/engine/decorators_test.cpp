#include "parley/engine/decorators.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_engines.hpp"

namespace parley::engine {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct FallbackTest : testing::Test {
  test::World world;
  std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
  Patience patience{5s, [this](const auto&) { return world.scheduler; }};

  template <class Event>
  std::vector<Event> all(EventStream<Event>& stream, std::optional<Error>* error = nullptr) {
    std::vector<Event> events;
    while (true) {
      auto next = world.run(stream.next());
      if (!next) break;
      if (!*next) {
        if (error != nullptr) *error = next->error();
        break;
      }
      if (!**next) break;
      events.push_back(std::move(***next));
    }
    return events;
  }
};

TEST_F(FallbackTest, TheNextModelAnswersWhenTheFirstFailsBeforeItsFirstEvent) {
  auto broken = std::make_shared<test::FakeLlm>(world.scheduler);
  broken->error = "500";
  auto good = std::make_shared<test::FakeLlm>(world.scheduler);
  const auto llm = with_fallback({{"cloud", broken}, {"local", good}}, metrics, patience);
  ChatRequest request;
  request.messages.emplace_back().text = "hi";
  auto stream = world.run(llm->chat(request));
  ASSERT_TRUE(stream && *stream);
  const auto events = all(***stream);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(good->requests.at(0).messages.at(0).text, "hi") << "the whole request goes on";
  EXPECT_THAT(metrics->text(), HasSubstr(R"(engine="cloud")"));
}

TEST_F(FallbackTest, TheLastFailureIsTheCallers) {
  auto first = std::make_shared<test::FakeTts>(world.scheduler);
  first->error = "one";
  auto second = std::make_shared<test::FakeTts>(world.scheduler);
  second->error = "two";
  const auto tts = with_fallback({{"a", first}, {"b", second}}, metrics, patience);
  auto stream = world.run(tts->speak({"text", "", "en"}));
  std::optional<Error> error;
  EXPECT_TRUE(all(***stream, &error).empty());
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "two");
}

TEST_F(FallbackTest, NothingIsRepeatedAfterTheFirstEvent) {
  auto first = std::make_shared<test::FakeLlm>(world.scheduler);
  auto second = std::make_shared<test::FakeLlm>(world.scheduler);
  const auto llm = with_fallback({{"a", first}, {"b", second}}, metrics, patience);
  auto stream = world.run(llm->chat({}));
  auto event = world.run((**stream)->next());
  ASSERT_TRUE(event && *event && **event);
  first->error = "broke in the middle";
  std::optional<Error> error;
  EXPECT_TRUE(all(***stream, &error).empty());
  EXPECT_TRUE(error);
  EXPECT_TRUE(second->requests.empty());
}

TEST_F(FallbackTest, ASecondRecogniserHearsEverythingFromTheBeginning) {
  for (const bool at_open : {true, false}) {
    auto first = std::make_shared<test::FakeAsr>(world.scheduler);
    (at_open ? first->answers[0].open_error : first->answers[0].error) = "down";
    auto second = std::make_shared<test::FakeAsr>(world.scheduler);
    second->answers[0].text = "from the second";
    const auto asr = with_fallback({{"a", first}, {"b", second}}, metrics, patience);
    auto stream = world.run(asr->open({}));
    ASSERT_TRUE(stream && *stream);
    (**stream)->push(std::vector<std::int16_t>(1000));
    (**stream)->push(std::vector<std::int16_t>(500));
    (**stream)->finish();
    const auto event = world.run((**stream)->next());
    ASSERT_TRUE(event && *event && **event);
    EXPECT_EQ((**event)->text, "from the second");
    EXPECT_EQ(second->samples_heard, 1500U);
    stream->value().reset();
    EXPECT_EQ(first->living + second->living, 0);
  }
}

TEST_F(FallbackTest, ASecondRecogniserTakesOverAfterPartialResults) {
  auto first = std::make_shared<test::FakeAsr>(world.scheduler);
  first->answers[0].partials = {{1ms, "from the"}};
  first->answers[0].error = "cut off";
  auto second = std::make_shared<test::FakeAsr>(world.scheduler);
  second->answers[0].text = "from the second";
  const auto asr = with_fallback({{"a", first}, {"b", second}}, metrics, patience);
  auto stream = world.run(asr->open({}));
  ASSERT_TRUE(stream && *stream);
  (**stream)->push(std::vector<std::int16_t>(1000));
  (**stream)->finish();
  std::vector<AsrEvent> events;
  while (events.size() < 2) {
    const auto event = world.run((**stream)->next());
    ASSERT_TRUE(event && *event && **event);
    events.push_back(***event);
  }
  EXPECT_EQ(events[0].kind, AsrEvent::Kind::partial);
  EXPECT_EQ(events[1].kind, AsrEvent::Kind::final);
  EXPECT_EQ(events[1].text, "from the second");
  EXPECT_EQ(second->samples_heard, 1000U);
}

TEST_F(FallbackTest, AModelInFrontGetsOnlyWhatItUnderstands) {
  auto commands = std::make_shared<test::FakeLlm>(world.scheduler);
  commands->only = "mute";
  auto cloud = std::make_shared<test::FakeLlm>(world.scheduler);
  const auto ask = [&](const std::vector<Named<LlmProvider>>& engines, const char* text) {
    const auto llm = with_fallback(engines, metrics, patience);
    ChatRequest request;
    request.messages.emplace_back().text = text;
    auto stream = world.run(llm->chat(request));
    ASSERT_TRUE(stream && *stream);
    EXPECT_EQ(all(***stream).size(), 1U);
  };
  ask({{"commands", commands}, {"cloud", cloud}}, "mute");
  EXPECT_EQ(commands->requests.size(), 1U);
  EXPECT_EQ(cloud->requests.size(), 0U);
  ask({{"commands", commands}, {"cloud", cloud}}, "tell me a story");
  EXPECT_EQ(commands->requests.size(), 1U);
  EXPECT_EQ(cloud->requests.size(), 1U);
  EXPECT_THAT(metrics->text(), testing::Not(HasSubstr("commands"))) << "passing on is no failure";
  // The last one answers, if only that it did not understand.
  ask({{"commands", commands}}, "tell me a story");
  EXPECT_EQ(commands->requests.size(), 2U);
  cloud->error = "down";
  ask({{"cloud", cloud}, {"commands", commands}}, "tell me a story");
  EXPECT_EQ(commands->requests.size(), 3U);
}

TEST_F(FallbackTest, ASilentModelIsGivenUpForTheNextOne) {
  auto silent = std::make_shared<test::FakeLlm>(world.scheduler);
  silent->silent = true;
  auto good = std::make_shared<test::FakeLlm>(world.scheduler);
  const auto llm = with_fallback({{"cloud", silent}, {"local", good}}, metrics, patience);
  auto stream = world.run(llm->chat({}));
  ASSERT_TRUE(stream && *stream);
  const auto asked = world.now();
  EXPECT_EQ(all(***stream).size(), 1U);
  EXPECT_GE(world.now() - asked, 5s);
  EXPECT_LT(world.now() - asked, 6s);
  EXPECT_THAT(metrics->text(), HasSubstr(R"(engine="cloud")"));
}

TEST_F(FallbackTest, ASilentRecogniserIsGivenUpAfterTheEndOfTheUtterance) {
  auto silent = std::make_shared<test::FakeAsr>(world.scheduler);
  silent->answers[0].silent = true;
  auto good = std::make_shared<test::FakeAsr>(world.scheduler);
  const auto asr = with_fallback({{"cloud", silent}, {"local", good}}, metrics, patience);
  auto stream = world.run(asr->open({}));
  ASSERT_TRUE(stream && *stream);
  (**stream)->push(std::vector<std::int16_t>(1600));
  std::optional<Result<std::optional<AsrEvent>>> event;
  asio::co_spawn(world.io, (**stream)->next(),
                 [&](const std::exception_ptr&, Result<std::optional<AsrEvent>> got) { event = got; });
  world.advance(1min);
  EXPECT_FALSE(event) << "an utterance may be long";
  (**stream)->finish();
  world.advance(4900ms);
  EXPECT_FALSE(event);
  world.advance(1s);
  ASSERT_TRUE(event && *event && **event);
  EXPECT_EQ((**event)->text, "hello");
  EXPECT_EQ(good->samples_heard, 1600U);
}

TEST_F(FallbackTest, WhereEveryEngineIsSilentTheCallerHearsOfIt) {
  auto silent = std::make_shared<test::FakeTts>(world.scheduler);
  silent->silent = true;
  const auto tts = with_fallback({{"a", silent}, {"b", silent}}, metrics, patience);
  auto stream = world.run(tts->speak({"text", "", "en"}));
  const auto asked = world.now();
  std::optional<Error> error;
  EXPECT_TRUE(all(***stream, &error).empty());
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, Errc::timeout);
  EXPECT_EQ(error->message, "engine b did not answer within 5000 ms");
  EXPECT_EQ(world.now() - asked, 10s);
}

}  // namespace
}  // namespace parley::engine
