#include "parley/providers/simulated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>

namespace parley::providers {
namespace {

using namespace std::chrono_literals;
using engine::AsrEvent;
using engine::Message;

/// Runs a coroutine to its end and gives what it returns.
template <class T>
T run(Task<T> task) {
  asio::io_context io;
  auto future = asio::co_spawn(io, std::move(task), asio::use_future);
  io.run();
  return future.get();
}

/// Everything of a stream, in order; stops at an error.
template <class Event>
struct Heard {
  std::vector<Event> events;
  std::optional<Error> error;
};

template <class Event>
Task<Heard<Event>> drain(engine::EventStream<Event>& stream) {
  Heard<Event> heard;
  while (true) {
    auto event = co_await stream.next();
    if (!event) {
      heard.error = event.error();
      co_return heard;
    }
    if (!*event) co_return heard;
    heard.events.push_back(std::move(**event));
  }
}

Heard<AsrEvent> recognise(engine::AsrProvider& asr) {
  const auto work = [&]() -> Task<Heard<AsrEvent>> {
    auto stream = co_await asr.open({});
    (*stream)->push({});
    (*stream)->finish();
    (*stream)->finish();
    co_return co_await drain(**stream);
  };
  return run(work());
}

Heard<engine::LlmEvent> chat(engine::LlmProvider& llm, engine::ChatRequest request) {
  const auto work = [&]() -> Task<Heard<engine::LlmEvent>> {
    auto stream = co_await llm.chat(std::move(request));
    co_return co_await drain(**stream);
  };
  return run(work());
}

Heard<engine::TtsAudio> speak(engine::TtsProvider& tts, std::string text) {
  const auto work = [&]() -> Task<Heard<engine::TtsAudio>> {
    auto stream = co_await tts.speak({.text = std::move(text)});
    co_return co_await drain(**stream);
  };
  return run(work());
}

std::string text_of(const Heard<engine::LlmEvent>& heard) {
  std::string text;
  for (const auto& event : heard.events) {
    if (const auto* delta = std::get_if<engine::TextDelta>(&event.what)) text += delta->text;
  }
  return text;
}

Message message(Message::Role role) {
  Message made;
  made.role = role;
  return made;
}

TEST(SimulatedAsr, HearsItsTextsInTurn) {
  const auto asr = make_simulated_asr({.texts = {"one", "two"}, .delay = 1ms});
  for (const auto* text : {"one", "two", "one"}) {
    const auto heard = recognise(*asr);
    ASSERT_EQ(heard.events.size(), 1U);
    EXPECT_EQ(heard.events[0].text, text);
    EXPECT_EQ(heard.events[0].kind, AsrEvent::Kind::final);
  }
}

TEST(SimulatedAsr, IsReadyExactlyTheDelayAfterTheEnd) {
  const auto asr = make_simulated_asr({.delay = 30ms});
  const auto before = Clock::now();
  const auto heard = recognise(*asr);
  const auto after = Clock::now();
  ASSERT_EQ(heard.events.size(), 1U);
  EXPECT_GE(heard.events[0].ready_at, before + 30ms);
  EXPECT_LE(heard.events[0].ready_at, after) << "no event before its time";
}

TEST(SimulatedAsr, TellsAWordForSoMuchAudio) {
  const auto asr = make_simulated_asr({.texts = {"turn on the lamp"}, .delay = 0ms, .partials = 100ms});
  std::vector<std::string> partials;
  const auto work = [&]() -> Task<std::string> {
    auto stream = co_await asr->open({});
    // Two and a half words, and the rest when it is over.
    (*stream)->push(std::vector<std::int16_t>(4000));
    for (int i = 0; i < 2; ++i) partials.push_back((co_await (*stream)->next()).value()->text);
    (*stream)->finish();
    const auto heard = co_await drain(**stream);
    co_return heard.events.size() == 1 ? heard.events[0].text : "not one result";
  };
  EXPECT_EQ(run(work()), "turn on the lamp");
  EXPECT_EQ(partials, (std::vector<std::string>{"turn", "turn on"}));
}

TEST(SimulatedAsr, RejectsAndFailsWhenTold) {
  const auto rejected = recognise(*make_simulated_asr({.delay = 0ms, .reject = true}));
  ASSERT_EQ(rejected.events.size(), 1U);
  EXPECT_EQ(rejected.events[0].kind, AsrEvent::Kind::rejected);
  const auto failed = recognise(*make_simulated_asr({.delay = 0ms, .fail = true}));
  EXPECT_TRUE(failed.events.empty());
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->code, Errc::unavailable);
}

TEST(SimulatedLlm, AnswersByTheNumberOfTheUsersMessages) {
  const auto llm = make_simulated_llm(
      {.replies = {{"first one", {}, false}, {"second", {}, true}}, .delay = 0ms, .tokens_per_second = 1e6});
  engine::ChatRequest request;
  for (const auto* text : {"first one", "second", "first one"}) {
    request.messages.push_back(message(Message::Role::user));
    const auto heard = chat(*llm, request);
    EXPECT_EQ(text_of(heard), text);
    const bool ends = std::holds_alternative<engine::EndConversation>(heard.events.back().what);
    EXPECT_EQ(ends, std::string_view(text) == "second");
    request.messages.push_back(message(Message::Role::assistant));
  }
  EXPECT_EQ(text_of(chat(*llm, {})), "first one") << "no message at all";
}

TEST(SimulatedLlm, KeepsItsScheduleHoweverLateItIsAsked) {
  const auto llm =
      make_simulated_llm({.replies = {{"twelve chars", {}, false}}, .delay = 20ms, .tokens_per_second = 100});
  engine::ChatRequest request;
  request.messages.push_back(message(Message::Role::user));
  const auto before = Clock::now();
  const auto heard = chat(*llm, request);
  ASSERT_EQ(heard.events.size(), 3U);
  EXPECT_GE(heard.events[0].ready_at, before + 20ms);
  EXPECT_EQ(heard.events[1].ready_at - heard.events[0].ready_at, 10ms);
  EXPECT_EQ(heard.events[2].ready_at - heard.events[1].ready_at, 10ms);
}

TEST(SimulatedLlm, CallsItsToolsThenSpeaks) {
  engine::ToolCall volume;
  volume.name = "self.audio_speaker.set_volume";
  volume.arguments = {{"volume", 30}};
  engine::ToolCall unknown;
  unknown.name = "no_such_tool";
  const auto llm = make_simulated_llm(
      {.replies = {{"Done.", {volume, unknown}, false}}, .delay = 0ms, .tokens_per_second = 1e6});
  auto tools = std::make_shared<engine::ToolSet>();
  tools->tools.push_back(
      {.name = "self_audio_speaker_set_volume", .wire_name = "self.audio_speaker.set_volume"});
  engine::ChatRequest request;
  request.tools = tools;
  request.messages.push_back(message(Message::Role::user));
  const auto asked = chat(*llm, request);
  ASSERT_EQ(asked.events.size(), 2U);
  const auto& first = std::get<engine::ToolCall>(asked.events[0].what);
  const auto& second = std::get<engine::ToolCall>(asked.events[1].what);
  EXPECT_EQ(first.name, "self_audio_speaker_set_volume");
  EXPECT_EQ(first.arguments, nlohmann::json({{"volume", 30}}));
  EXPECT_EQ(second.name, "no_such_tool");
  EXPECT_NE(first.id, second.id);
  request.messages.push_back(message(Message::Role::assistant));
  request.messages.push_back(message(Message::Role::tool));
  EXPECT_EQ(text_of(chat(*llm, request)), "Done.");
}

TEST(SimulatedLlm, FailsWhenTold) {
  const auto heard = chat(*make_simulated_llm({.delay = 0ms, .fail = true}), {});
  EXPECT_TRUE(heard.events.empty());
  EXPECT_TRUE(heard.error);
}

TEST(SimulatedTts, SpeaksAsLongAsTheTextIsInPiecesOfTheirTime) {
  const auto tts =
      make_simulated_tts({.delay = 5ms, .per_character = 50ms, .realtime_factor = 0.05, .rate = 16000});
  const auto heard = speak(*tts, "seven c");
  ASSERT_EQ(heard.events.size(), 4U);
  std::size_t samples = 0;
  std::int16_t loudest = 0;
  for (const auto& event : heard.events) {
    EXPECT_EQ(event.pcm.rate, 16000);
    EXPECT_LE(event.pcm.samples.size(), 1600U);
    samples += event.pcm.samples.size();
    loudest = std::max(loudest, *std::ranges::max_element(event.pcm.samples));
  }
  EXPECT_EQ(samples, audio::samples_in(350ms, 16000));
  EXPECT_GT(loudest, 500);
  EXPECT_LT(loudest, 8000);
  EXPECT_EQ(heard.events[1].ready_at - heard.events[0].ready_at, 5ms);
}

TEST(SimulatedTts, HasNothingToSayOrFails) {
  EXPECT_TRUE(speak(*make_simulated_tts({.delay = 0ms}), "").events.empty());
  EXPECT_TRUE(speak(*make_simulated_tts({.delay = 0ms, .fail = true}), "hello").error);
}

TEST(Simulated, ReadTheirBlocks) {
  const auto asr = simulated_asr_from_config(config::Node::parse("{text: hi, delay: 0ms}", "p.yaml"), {});
  EXPECT_EQ(recognise(*asr).events.at(0).text, "hi");
  const auto llm = simulated_llm_from_config(
      config::Node::parse(
          "{replies: [{text: Done., tool_calls: [{name: a, arguments: {b: 1}}]}], delay: 0ms}", "p.yaml"),
      {});
  engine::ChatRequest request;
  request.messages.push_back(message(Message::Role::user));
  EXPECT_EQ(std::get<engine::ToolCall>(chat(*llm, request).events.at(0).what).arguments,
            nlohmann::json({{"b", 1}}));
  EXPECT_NE(simulated_tts_from_config(config::Node::parse("{rate: 16000}", "p.yaml"), {}), nullptr);
  for (const char* bad : {"texts: []", "delay: 5", "delay: -1ms"}) {
    EXPECT_THROW(simulated_asr_from_config(config::Node::parse(bad, "p.yaml"), {}), Failure) << bad;
  }
  for (const char* bad : {"replies: []", "replies: [{tool_calls: [{}]}]",
                          "replies: [{tool_calls: [{name: a, arguments: 3}]}]", "tokens_per_second: 0"}) {
    EXPECT_THROW(simulated_llm_from_config(config::Node::parse(bad, "p.yaml"), {}), Failure) << bad;
  }
  EXPECT_THROW(simulated_tts_from_config(config::Node::parse("rate: 4000", "p.yaml"), {}), Failure);
}

}  // namespace
}  // namespace parley::providers
