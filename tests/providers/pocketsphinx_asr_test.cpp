#include "parley/providers/pocketsphinx_asr.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <latch>
#include <random>
#include <thread>

#include "fakes/speech.hpp"

namespace parley::providers {
namespace {

using engine::AsrEvent;
using engine::AsrRequest;
using engine::AsrStream;
using engine::SpeechGrammar;
using testing::HasSubstr;
using Kind = AsrEvent::Kind;

std::shared_ptr<SpeechGrammar> lights() {
  auto grammar = std::make_shared<SpeechGrammar>();
  grammar->id = "lights";
  grammar->jsgf =
      "#JSGF V1.0;\ngrammar lights;\n"
      "public <command> = [please] turn (on | off) the <lamp> | set the volume to <number>;\n"
      "<lamp> = (kitchen | bedroom) light;\n<number> = ten | twenty | fifty;\n";
  grammar->words = {"bedroom", "fifty", "kitchen", "light", "off",  "on",     "please",
                    "set",     "ten",   "the",     "to",    "turn", "twenty", "volume"};
  return grammar;
}

std::shared_ptr<SpeechGrammar> drinks() {
  auto grammar = std::make_shared<SpeechGrammar>();
  grammar->id = "drinks";
  grammar->jsgf =
      "#JSGF V1.0;\ngrammar drinks;\npublic <order> = make me a (large | small) (coffee | tea);\n";
  grammar->words = {"a", "coffee", "large", "make", "me", "small", "tea"};
  return grammar;
}

AsrRequest request(std::shared_ptr<const SpeechGrammar> grammar) {
  AsrRequest made;
  made.grammar = std::move(grammar);
  return made;
}

class PocketsphinxAsr : public testing::Test {
 protected:
  std::shared_ptr<engine::AsrProvider> make(PocketsphinxSettings settings = {}) {
    return make_pocketsphinx(std::move(settings), workers_);
  }
  Result<AsrEvent> hear(engine::AsrProvider& provider, std::shared_ptr<const SpeechGrammar> grammar,
                        const std::vector<std::int16_t>& samples) {
    return test::run(io_, test::recognise(provider, request(std::move(grammar)), samples));
  }
  std::unique_ptr<AsrStream> open(engine::AsrProvider& provider,
                                  std::shared_ptr<const SpeechGrammar> grammar) {
    auto opened = test::run(io_, provider.open(request(std::move(grammar))));
    EXPECT_TRUE(opened.has_value());
    return std::move(*opened);
  }
  Result<AsrEvent> event_of(AsrStream& stream) { return test::run(io_, test::only_event(stream)); }

  std::shared_ptr<WorkerPool> workers_ = std::make_shared<WorkerPool>(2, 4096);
  asio::io_context io_;
};

TEST_F(PocketsphinxAsr, UnderstandsWhatTheGrammarAllows) {
  const auto provider = make();
  const auto before = Clock::now();
  for (const char* sentence : {"turn on the kitchen light", "please turn off the bedroom light",
                               "set the volume to twenty", "set the volume to fifty"}) {
    for (const char* voice : {"slt", "rms"}) {
      const auto event = hear(*provider, lights(), test::spoken(sentence, voice));
      ASSERT_TRUE(event.has_value()) << event.error().message;
      EXPECT_EQ(event->kind, Kind::final) << sentence << " by " << voice;
      EXPECT_EQ(event->text, sentence) << voice;
      EXPECT_GT(event->ready_at, before);
    }
  }
}

TEST_F(PocketsphinxAsr, RejectsOtherSpeech) {
  const auto provider = make();
  for (const char* sentence : {"my fellow citizens ask not what your country can do for you",
                               "yesterday we went swimming in the river with our old friends",
                               "the quarterly report shows a considerable increase in revenue"}) {
    for (const char* voice : {"slt", "rms"}) {
      const auto event = hear(*provider, lights(), test::spoken(sentence, voice));
      ASSERT_TRUE(event.has_value());
      EXPECT_TRUE(event->kind == Kind::rejected || event->text.empty()) << sentence << ": " << event->text;
    }
  }
}

TEST_F(PocketsphinxAsr, RejectionCanBeSwitchedOff) {
  PocketsphinxSettings settings;
  settings.reject = false;
  const auto event = hear(*make(settings), lights(),
                          test::spoken("my fellow citizens ask not what your country can do", "rms"));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->kind, Kind::final);
  settings.reject = true;
  settings.min_score = 1000;
  const auto strict = hear(*make(settings), lights(), test::spoken("turn on the kitchen light", "rms"));
  ASSERT_TRUE(strict.has_value());
  EXPECT_EQ(strict->kind, Kind::rejected);
  EXPECT_EQ(strict->text, "turn on the kitchen light");
  settings.min_score = -1000;
  settings.max_frames_per_word = 5;
  const auto drawn_out = hear(*make(settings), lights(), test::spoken("turn on the kitchen light", "rms"));
  ASSERT_TRUE(drawn_out.has_value());
  EXPECT_EQ(drawn_out->kind, Kind::rejected);
}

TEST_F(PocketsphinxAsr, RejectsACommandInTheMiddleOfOtherSpeech) {
  auto samples = test::spoken("yesterday we went swimming in the river with our old friends and", "rms");
  for (const char* more :
       {"turn on the kitchen light", "because nobody would ever believe a word of that story"}) {
    const auto part = test::spoken(more, "rms");
    samples.insert(samples.end(), part.begin() + 4000, part.end());
  }
  const auto event = hear(*make(), lights(), samples);
  ASSERT_TRUE(event.has_value());
  EXPECT_TRUE(event->kind == Kind::rejected || event->text.empty()) << event->text;
}

TEST_F(PocketsphinxAsr, NoiseAndSilenceAreNoCommand) {
  const auto provider = make();
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 1500);
  std::vector<std::int16_t> noise(32000);
  for (auto& sample : noise) sample = static_cast<std::int16_t>(std::lround(normal(random)));
  std::vector<std::int16_t> tone(32000);
  for (std::size_t i = 0; i < tone.size(); ++i) {
    tone[i] = static_cast<std::int16_t>(std::lround(8000 * std::sin(0.17 * static_cast<double>(i))));
  }
  for (const auto& samples :
       {std::vector<std::int16_t>(32000), noise, tone, std::vector<std::int16_t>(32000, 32767)}) {
    const auto event = hear(*provider, lights(), samples);
    ASSERT_TRUE(event.has_value());
    EXPECT_TRUE(event->kind == Kind::rejected || event->text.empty()) << event->text;
  }
}

TEST_F(PocketsphinxAsr, TooLittleAudioIsAnEmptyFinal) {
  const auto provider = make();
  for (const std::size_t length : {0U, 1U, 159U, 1600U, 2400U}) {
    const auto event = hear(*provider, lights(), std::vector<std::int16_t>(length, 100));
    ASSERT_TRUE(event.has_value()) << length;
    EXPECT_EQ(event->kind, Kind::final) << length;
    EXPECT_EQ(event->text, "") << length;
  }
}

TEST_F(PocketsphinxAsr, FinishTwiceAndPushAfterwardsChangeNothing) {
  const auto provider = make();
  const auto samples = test::spoken("turn on the kitchen light", "slt");
  const auto other = test::spoken("set the volume to ten", "slt");
  auto stream = open(*provider, lights());
  test::feed(*stream, samples);
  stream->push(other);
  stream->finish();
  const auto event = event_of(*stream);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->text, "turn on the kitchen light");
  stream->push(other);
  stream->finish();
  const auto end = test::run(io_, stream->next());
  ASSERT_TRUE(end.has_value());
  EXPECT_FALSE(end->has_value());
}

TEST_F(PocketsphinxAsr, OneSpeakerDoesNotTouchTheNext) {
  PocketsphinxSettings settings;
  settings.max_decoders = 1;
  const auto provider = make(settings);
  const auto samples = test::spoken("set the volume to twenty", "rms");
  settings.reject = true;
  std::vector<std::int16_t> loud(48000);
  for (std::size_t i = 0; i < loud.size(); ++i)
    loud[i] = static_cast<std::int16_t>((i * 7919) % 60000 - 30000);
  const auto first = hear(*provider, lights(), samples);
  ASSERT_TRUE(hear(*provider, lights(), loud).has_value());
  const auto again = hear(*provider, lights(), samples);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->text, "set the volume to twenty");
  EXPECT_EQ(again->text, first->text);
}

TEST_F(PocketsphinxAsr, GrammarsTakeTurnsInOneDecoder) {
  PocketsphinxSettings settings;
  settings.max_decoders = 1;
  const auto provider = make(settings);
  auto french = drinks();
  french->id = "drinks with another pronunciation";
  french->pronunciations = {{"coffee", {"K AH F EY"}}};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(hear(*provider, lights(), test::spoken("turn off the kitchen light", "slt"))->text,
              "turn off the kitchen light");
    EXPECT_EQ(hear(*provider, drinks(), test::spoken("make me a large coffee", "slt"))->text,
              "make me a large coffee");
    EXPECT_EQ(hear(*provider, french, test::spoken("make me a small tea", "slt"))->text,
              "make me a small tea");
  }
}

TEST_F(PocketsphinxAsr, MoreUtterancesThanDecodersWaitTheirTurn) {
  PocketsphinxSettings settings;
  settings.max_decoders = 2;
  const auto provider = make(settings);
  const auto samples = test::spoken("turn on the bedroom light", "rms");
  std::vector<std::unique_ptr<AsrStream>> streams;
  for (int i = 0; i < 7; ++i) streams.push_back(open(*provider, i % 2 == 0 ? lights() : drinks()));
  // All of them are under way before the first one ends.
  for (auto& stream : streams) stream->push(std::span(samples).first(8000));
  for (auto& stream : streams) stream->push(std::span(samples).subspan(8000));
  for (auto& stream : streams) stream->finish();
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const auto event = event_of(*streams[i]);
    ASSERT_TRUE(event.has_value());
    if (i % 2 == 0) EXPECT_EQ(event->text, "turn on the bedroom light");
  }
}

TEST_F(PocketsphinxAsr, AbandonedUtterancesFreeTheirDecoders) {
  PocketsphinxSettings settings;
  settings.max_decoders = 1;
  const auto provider = make(settings);
  const auto samples = test::spoken("set the volume to ten", "rms");
  for (int i = 0; i < 20; ++i) {
    const auto stream = open(*provider, lights());
    stream->push(std::span(samples).first(static_cast<std::size_t>(i) * 1000));
    if (i % 3 == 0) stream->finish();
  }
  // One holds the decoder, one waits for it; both go away.
  auto holds = open(*provider, lights());
  holds->push(samples);
  auto waits = open(*provider, lights());
  waits->push(samples);
  auto next = open(*provider, lights());
  test::feed(*next, samples);
  waits.reset();
  holds.reset();
  const auto event = event_of(*next);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->text, "set the volume to ten");
}

TEST_F(PocketsphinxAsr, AnIdleStreamThatIsDroppedFreesItsDecoder) {
  PocketsphinxSettings settings;
  settings.max_decoders = 1;
  const auto provider = make(settings);
  const auto samples = test::spoken("set the volume to ten", "rms");
  auto holds = open(*provider, lights());
  holds->push(std::span(samples).first(1600));
  // Its job has run when this one, of the same pool, has.
  for (int i = 0; i < 200 && workers_->pending() > 0; ++i) std::this_thread::yield();
  auto next = open(*provider, lights());
  test::feed(*next, samples);
  holds.reset();
  const auto event = event_of(*next);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->text, "set the volume to ten");
}

TEST_F(PocketsphinxAsr, ManyThreadsAtOnce) {
  PocketsphinxSettings settings;
  settings.max_decoders = 3;
  const auto provider = make(settings);
  const std::array<std::string, 3> sentences = {"turn on the kitchen light", "set the volume to fifty",
                                                "make me a large coffee"};
  std::array<std::vector<std::int16_t>, 3> audio;
  for (std::size_t i = 0; i < audio.size(); ++i) audio.at(i) = test::spoken(sentences.at(i), "slt");
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      asio::io_context io;
      for (std::size_t n = 0; n < 3; ++n) {
        const std::size_t which = (t + n) % 3;
        const auto grammar = which == 2 ? drinks() : lights();
        provider->warm_up(request(grammar));
        {
          auto dropped = test::run(io, provider->open(request(grammar)));
          if (dropped.has_value()) (*dropped)->push(std::span(audio.at(which)).first(6000));
        }
        const auto event = test::run(io, test::recognise(*provider, request(grammar), audio.at(which)));
        if (event.has_value() && event->text == sentences.at(which)) ++right;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 12);
}

TEST_F(PocketsphinxAsr, KeepsThirtySecondsAndDropsTheRest) {
  const auto provider = make();
  auto samples = test::spoken("turn on the kitchen light", "slt");
  samples.resize(30U * 16000, 0);
  const auto more = test::spoken("set the volume to ten", "slt");
  auto stream = open(*provider, lights());
  stream->push(samples);
  stream->push(more);
  stream->finish();
  const auto event = event_of(*stream);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->text, "turn on the kitchen light");
}

TEST_F(PocketsphinxAsr, WithoutAGrammarItSaysSo) {
  const auto provider = make();
  const auto none = test::run(io_, provider->open(request(nullptr)));
  ASSERT_TRUE(none.has_error());
  EXPECT_EQ(none.error().code, Errc::unsupported);
  EXPECT_THAT(none.error().message, HasSubstr("grammar"));
  const auto empty = test::run(io_, provider->open(request(std::make_shared<SpeechGrammar>())));
  ASSERT_TRUE(empty.has_error());
  EXPECT_EQ(empty.error().code, Errc::unsupported);
  provider->warm_up(request(nullptr));
  provider->warm_up(request(std::make_shared<SpeechGrammar>()));
  EXPECT_TRUE(provider->validate(SpeechGrammar{}).has_value());
}

TEST_F(PocketsphinxAsr, BrokenGrammarsAreErrorsAndNothingElseBreaks) {
  PocketsphinxSettings settings;
  settings.max_decoders = 1;
  const auto provider = make(settings);
  const auto samples = test::spoken("turn on the kitchen light", "slt");
  const auto unknown = lights();
  unknown->id = "unknown";
  unknown->jsgf = "#JSGF V1.0;\ngrammar g;\npublic <g> = blorp | xyzzy;\n";
  unknown->words = {"blorp", "xyzzy"};
  const auto syntax = lights();
  syntax->id = "syntax";
  syntax->jsgf = "#JSGF V1.0;\ngrammar g;\npublic <g> = (turn on;\n";
  const auto unlisted = lights();
  unlisted->id = "unlisted";
  unlisted->jsgf = "#JSGF V1.0;\ngrammar g;\npublic <g> = turn banana;\n";
  const auto no_rule = lights();
  no_rule->id = "no rule";
  no_rule->jsgf = "#JSGF V1.0;\ngrammar g;\n<g> = turn;\n";
  const auto phones = lights();
  phones->id = "phones";
  phones->pronunciations = {{"turn", {"T QQ N"}}};
  for (const auto& [grammar, says] : {std::pair{unknown, "blorp, xyzzy"},
                                      {syntax, "not valid"},
                                      {unlisted, "not valid"},
                                      {no_rule, "not valid"},
                                      {phones, "T QQ N"}}) {
    const auto event = hear(*provider, grammar, samples);
    ASSERT_TRUE(event.has_error()) << grammar->id;
    EXPECT_EQ(event.error().code, Errc::configuration) << grammar->id;
    EXPECT_THAT(event.error().message, HasSubstr(says));
    const auto valid = provider->validate(*grammar);
    ASSERT_TRUE(valid.has_error()) << grammar->id;
    EXPECT_EQ(valid.error().message, event.error().message);
    provider->warm_up(request(grammar));
    const auto good = hear(*provider, lights(), samples);
    ASSERT_TRUE(good.has_value()) << grammar->id << ": " << good.error().message;
    EXPECT_EQ(good->text, "turn on the kitchen light");
  }
  EXPECT_TRUE(provider->validate(*lights()).has_value());
}

TEST_F(PocketsphinxAsr, AMissingModelOrDictionaryIsAnError) {
  const auto samples = test::spoken("turn on the kitchen light", "slt");
  PocketsphinxSettings no_dictionary;
  no_dictionary.dictionary = "/no/such/file.dict";
  const auto first = hear(*make(no_dictionary), lights(), samples);
  ASSERT_TRUE(first.has_error());
  EXPECT_EQ(first.error().code, Errc::configuration);
  EXPECT_THAT(first.error().message, HasSubstr("/no/such/file.dict"));
  PocketsphinxSettings no_model;
  no_model.model = "/no/such/model";
  const auto second = hear(*make(no_model), lights(), samples);
  ASSERT_TRUE(second.has_error());
  EXPECT_THAT(second.error().message, HasSubstr("/no/such/model"));
}

TEST_F(PocketsphinxAsr, OwnPronunciationsAreHeard) {
  auto grammar = lights();
  grammar->id = "own";
  grammar->jsgf = "#JSGF V1.0;\ngrammar g;\npublic <g> = turn on the (blorp | volume);\n";
  grammar->words = {"blorp", "on", "the", "turn", "volume"};
  grammar->pronunciations = {{"blorp", {"B L IH P", "K IH CH AH N"}}};
  const auto event = hear(*make(), grammar, test::spoken("turn on the kitchen", "slt"));
  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(event->text, "turn on the blorp");
}

TEST_F(PocketsphinxAsr, AFullWorkerPoolIsAnErrorAtTheEnd) {
  std::latch release(1);  // outlives the pool: its job still leaves wait() when the count is down
  const auto full = std::make_shared<WorkerPool>(1, 1);
  ASSERT_TRUE(full->submit([&release] { release.wait(); }).has_value());
  const auto provider = make_pocketsphinx({}, full);
  provider->warm_up(request(lights()));
  const auto event = hear(*provider, lights(), std::vector<std::int16_t>(16000));
  release.count_down();
  ASSERT_TRUE(event.has_error());
  EXPECT_EQ(event.error().code, Errc::overloaded);
}

TEST(PocketsphinxConfig, ReadsAndRefuses) {
  const auto good = config::Node::parse(
      "{max_unexplained: 0.25, max_decoders: 4, beam: 48, remove_noise: true, reject: false, min_score: "
      "-7.5, max_frames_per_word: "
      "60}",
      "test.yaml");
  const auto settings = pocketsphinx_settings(good);
  EXPECT_NO_THROW(good.finish());
  EXPECT_EQ(settings.max_decoders, 4U);
  EXPECT_EQ(settings.beam, 48);
  EXPECT_TRUE(settings.remove_noise);
  EXPECT_FALSE(settings.reject);
  EXPECT_EQ(settings.min_score, -7.5);
  EXPECT_EQ(settings.max_unexplained, 0.25);
  EXPECT_EQ(settings.max_frames_per_word, 60);
  EXPECT_EQ(settings.model, PocketsphinxSettings{}.model);
  const engine::EngineContext context{std::make_shared<WorkerPool>(1, 8)};
  EXPECT_NE(pocketsphinx_from_config(config::Node::parse("{}", "test.yaml"), context), nullptr);
  for (const char* bad : {"{max_decoders: 0}", "{beam: 5}", "{min_score: high}", "{model: no-such-directory}",
                          "{dictionary: no-such-file.dict}", "{reject: 3}"}) {
    EXPECT_THROW(pocketsphinx_from_config(config::Node::parse(bad, "test.yaml"), context), Failure) << bad;
  }
}

}  // namespace
}  // namespace parley::providers
