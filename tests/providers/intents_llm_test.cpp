#include "parley/providers/intents_llm.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "intents/support.hpp"

namespace parley::providers {
namespace {

using engine::Message;

std::shared_ptr<IntentsLlm> make(std::string_view yaml) {
  const auto node = config::Node::parse(yaml, "test.yaml");
  auto out = intents_from_config(node, {});
  node.finish();
  return out;
}

std::string refusal_of(std::string_view yaml) {
  try {
    make(yaml);
  } catch (const Failure& failure) {
    return failure.error().message;
  }
  return {};
}

engine::ChatRequest request_of(std::string text) {
  engine::ChatRequest out;
  out.messages = {{.role = Message::Role::system, .text = "You are helpful."},
                  {.role = Message::Role::user, .text = std::move(text)}};
  out.tools = std::make_shared<engine::ToolSet>(intents::test::stock_tools());
  return out;
}

Task<> collect(engine::LlmProvider& provider, engine::ChatRequest request,
               std::vector<engine::LlmEvent>& out) {
  auto stream = co_await provider.chat(std::move(request));
  EXPECT_TRUE(stream);
  for (;;) {
    auto event = co_await (*stream)->next();
    EXPECT_TRUE(event);
    if (!*event) break;
    out.push_back(**std::move(event));
  }
}

std::vector<engine::LlmEvent> events_of(engine::LlmProvider& provider, engine::ChatRequest request) {
  std::vector<engine::LlmEvent> out;
  asio::io_context io;
  asio::co_spawn(io, collect(provider, std::move(request), out), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
  io.run();
  return out;
}

TEST(IntentsLlm, StreamsWhatItSaysAndDoes) {
  const auto llm = make("builtin: true");
  const TimePoint before = Clock::now();
  const auto photo = events_of(*llm, request_of("what do you see"));
  ASSERT_EQ(photo.size(), 2U);
  EXPECT_EQ(std::get<engine::TextDelta>(photo[0].what).text, "Let me see.");
  EXPECT_EQ(std::get<engine::ToolCall>(photo[1].what).name, "self_camera_take_photo");
  EXPECT_GE(photo[0].ready_at, before);
  EXPECT_LE(photo[1].ready_at, Clock::now());

  const auto bye = events_of(*llm, request_of("goodbye"));
  ASSERT_EQ(bye.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<engine::EndConversation>(bye[1].what));

  const auto unknown = events_of(*llm, request_of("recite a poem"));
  ASSERT_EQ(unknown.size(), 1U);
  EXPECT_TRUE(std::get<engine::TextDelta>(unknown[0].what).text.starts_with("Sorry"));

  EXPECT_EQ(events_of(*llm, {}).size(), 1U);
}

TEST(IntentsLlm, FailsWhereAnotherModelCalledToolsForWhatItDoesNotKnow) {
  const auto llm = make("builtin: true");
  auto request = request_of("make it cosy in here");
  request.messages.push_back(
      {.role = Message::Role::assistant, .calls = {{.id = "call_abc", .name = "self_lamp_turn_on"}}});
  request.messages.push_back({.role = Message::Role::tool, .text = "true", .call_id = "call_abc"});
  std::optional<Error> error;
  asio::io_context io;
  asio::co_spawn(io, llm->chat(request),
                 [&](const std::exception_ptr&, const Result<std::unique_ptr<engine::LlmStream>>& stream) {
                   if (!stream) error = stream.error();
                 });
  io.run();
  ASSERT_TRUE(error) << "a Sorry, I did not understand after the lamp went on would be a lie";
  EXPECT_EQ(error->code, Errc::unsupported);
}

TEST(IntentsLlm, TellsWhatItUnderstands) {
  const auto llm = make("builtin: true");
  const auto tools = intents::test::stock_tools();
  const auto exact = llm->match("Set the volume to 30.", tools);
  ASSERT_TRUE(exact);
  EXPECT_EQ(exact->intent, "volume_set");
  EXPECT_EQ(exact->slots, (nlohmann::json{{"level", 30}}));
  EXPECT_TRUE(exact->exact);
  EXPECT_FALSE(llm->match("take a photo and tell me who is there", tools)->exact);
  EXPECT_FALSE(llm->match("set the volume to 300", tools));
  EXPECT_FALSE(llm->match("set the volume to 30", {}));
  EXPECT_FALSE(llm->match("recite a poem", tools));

  EXPECT_TRUE(llm->understands(request_of("mute")));
  EXPECT_FALSE(llm->understands(request_of("recite a poem")));
  auto without_tools = request_of("mute");
  without_tools.tools = std::make_shared<engine::ToolSet>();
  EXPECT_FALSE(llm->understands(without_tools));
}

TEST(IntentsLlm, EqualToolSetsGetTheSameGrammar) {
  const auto llm = make("builtin: true");
  const auto tools = intents::test::stock_tools();
  const auto grammar = llm->grammar(tools);
  ASSERT_TRUE(grammar);
  EXPECT_EQ(grammar, llm->grammar(intents::test::stock_tools()));
  EXPECT_NE(grammar->id, llm->grammar({.id = "bare", .tools = {}})->id);
  // Remembered are the last used ones.
  for (int i = 0; i < 100; ++i) {
    llm->grammar({.id = std::to_string(i), .tools = {}});
    llm->grammar(tools);
  }
  EXPECT_EQ(grammar, llm->grammar(tools));
  // Sets without an id are what they hold.
  EXPECT_NE(llm->grammar({.tools = tools.tools})->id, llm->grammar({.tools = {}})->id);
}

TEST(IntentsLlm, IsSharedByThreads) {
  const auto llm = make("builtin: true");
  std::vector<std::thread> threads;
  std::vector<int> understood(4);
  for (std::size_t t = 0; t < understood.size(); ++t) {
    threads.emplace_back([&llm, &count = understood[t]] {
      for (int i = 0; i < 50; ++i) {
        auto request = request_of("mute");
        auto tools = intents::test::stock_tools();
        tools.id = std::to_string(i % 7);
        request.tools = std::make_shared<engine::ToolSet>(std::move(tools));
        const bool good = llm->understands(request) && llm->grammar(*request.tools) != nullptr;
        count += good ? 1 : 0;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const int count : understood) EXPECT_EQ(count, 50);
}

TEST(IntentsLlm, SumsUp) {
  const auto llm = make("builtin: true");
  EXPECT_GT(llm->summary().intents, 25U);
  EXPECT_GT(llm->summary().sentences, 90U);
  const auto& words = llm->summary().words;
  EXPECT_TRUE(std::binary_search(words.begin(), words.end(), "brightness"));
  EXPECT_TRUE(llm->summary().pronunciations.contains("unmute"));
  const auto& tools = llm->summary().tools;
  EXPECT_TRUE(std::binary_search(tools.begin(), tools.end(), "self.audio_speaker.set_volume"));
}

TEST(IntentsLlm, ReadsFilesAndAdditions) {
  const auto directory =
      std::filesystem::temp_directory_path() / ("parley-intents-" + std::to_string(::getpid()));
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "a.yaml")
      << "intents: {hello: {sentences: hello, reply: a}, one: {sentences: one, reply: a}}";
  std::ofstream(directory / "b.yaml") << "intents: {hello: {sentences: hello, reply: b}}";
  std::ofstream(directory / "bad.yaml") << "intents: {hello: {sentences: hello, reply: b, replay: c}}";
  const auto load = [&](const std::string& keys) {
    std::ofstream(directory / "main.yaml") << keys;
    const auto node = config::Node::load(directory / "main.yaml");
    return intents_from_config(node, {});
  };
  const auto said = [](const std::shared_ptr<IntentsLlm>& llm, const std::string& text) {
    return std::get<engine::TextDelta>(events_of(*llm, request_of(text)).front().what).text;
  };
  EXPECT_EQ(said(load("files: [a.yaml]"), "hello"), "a");
  EXPECT_EQ(said(load("files: [a.yaml, b.yaml]"), "hello"), "b");
  EXPECT_EQ(said(load("files: [a.yaml, b.yaml]"), "one"), "a");
  EXPECT_EQ(said(load("files: [a.yaml]\nintents: {mine: {sentences: hello, reply: c}}"), "hello"), "c");
  EXPECT_TRUE(said(load("files: [a.yaml]"), "what time is it").starts_with("Sorry"));
  EXPECT_TRUE(said(load("files: [a.yaml]\nbuiltin: true"), "what time is it").starts_with("It's"));
  EXPECT_THROW(load("files: [none.yaml]"), Failure);
  try {
    load("files: [bad.yaml]");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_NE(failure.error().message.find("bad.yaml:1: intents.hello.replay"), std::string::npos)
        << failure.error().message;
  }
  std::filesystem::remove_all(directory);
}

TEST(IntentsLlm, RefusesWhatIsWrong) {
  EXPECT_NE(refusal_of("builtin: false").find("expected `files`, `intents` or `builtin: true`"),
            std::string::npos);
  EXPECT_NE(refusal_of("timezone: Europe/Atlantis").find("there is no time zone `Europe/Atlantis`"),
            std::string::npos);
  EXPECT_NE(refusal_of("langauge: en").find("langauge"), std::string::npos);
  EXPECT_NE(refusal_of("language: de").find("expected `de`"), std::string::npos);
  EXPECT_NE(refusal_of("intents: {a: {sentences: '(', reply: x}}").find("intents.a.sentences"),
            std::string::npos);
  EXPECT_EQ(refusal_of("{}"), "");
}

}  // namespace
}  // namespace parley::providers
