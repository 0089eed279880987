#include "parley/providers/flite_tts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <latch>
#include <thread>

#include "fakes/speech.hpp"

namespace parley::providers {
namespace {

using engine::TtsAudio;
using engine::TtsStream;

struct Spoken {
  std::vector<std::int16_t> samples;
  std::size_t pieces = 0;
  int rate = 0;
};

Task<Result<Spoken>> speak_all(engine::TtsProvider& provider, engine::TtsRequest request) {
  auto stream = co_await provider.speak(std::move(request));
  if (stream.has_error()) co_return stream.error();
  Spoken spoken;
  while (true) {
    auto next = co_await (*stream)->next();
    if (next.has_error()) co_return next.error();
    if (!*next) co_return spoken;
    const auto& pcm = (*next)->pcm;
    if (pcm.samples.empty()) co_return Error(Errc::internal, "an empty piece");
    spoken.samples.insert(spoken.samples.end(), pcm.samples.begin(), pcm.samples.end());
    spoken.rate = pcm.rate;
    ++spoken.pieces;
  }
}

double rms(const std::vector<std::int16_t>& samples) {
  double sum = 0;
  for (const auto sample : samples) sum += static_cast<double>(sample) * sample;
  return samples.empty() ? 0 : std::sqrt(sum / static_cast<double>(samples.size()));
}

engine::TtsRequest request(std::string text, std::string voice = "") {
  engine::TtsRequest made;
  made.text = std::move(text);
  made.voice = std::move(voice);
  return made;
}

class FliteTts : public testing::Test {
 protected:
  Result<Spoken> speak(std::string text, std::string voice = "", FliteSettings settings = {}) {
    const auto provider = make_flite(std::move(settings), workers_);
    return test::run(io_, speak_all(*provider, request(std::move(text), std::move(voice))));
  }

  std::shared_ptr<WorkerPool> workers_ = std::make_shared<WorkerPool>(2, 64);
  asio::io_context io_;
};

TEST_F(FliteTts, SpeaksASentenceInPieces) {
  const auto spoken = speak("The volume is now fifty.");
  ASSERT_TRUE(spoken.has_value());
  EXPECT_EQ(spoken->rate, 16000);
  EXPECT_GT(spoken->pieces, 10U);
  EXPECT_GT(spoken->samples.size(), 16000U);
  EXPECT_LT(spoken->samples.size(), 48000U);
  EXPECT_GT(rms(spoken->samples), 500);
}

TEST_F(FliteTts, CutsTheSilenceBeforeTheFirstSound) {
  const auto spoken = speak("The volume is now fifty.");
  ASSERT_TRUE(spoken.has_value());
  const auto& samples = spoken->samples;
  const auto sound = std::ranges::find_if(samples, [](auto sample) { return std::abs(sample) > 150; });
  EXPECT_LE(sound - samples.begin(), 640);
}

TEST_F(FliteTts, VoicesDifferAndAnUnknownOneIsTheDefault) {
  const auto slt = speak("Hello there.", "slt");
  const auto rms_voice = speak("Hello there.", "rms");
  const auto unknown = speak("Hello there.", "no-such-voice");
  const auto by_settings = speak("Hello there.", "", {.voice = "rms"});
  ASSERT_TRUE(slt && rms_voice && unknown && by_settings);
  // No two syntheses are quite the same.
  const auto length = [](const Spoken& spoken) { return static_cast<double>(spoken.samples.size()); };
  EXPECT_GT(std::abs(length(*slt) - length(*rms_voice)), 400);
  EXPECT_NEAR(length(*unknown), length(*slt), 100);
  EXPECT_NEAR(length(*by_settings), length(*rms_voice), 100);
}

TEST_F(FliteTts, SpeedStretchesTime) {
  const auto normal = speak("This sentence has a certain length.");
  const auto fast = speak("This sentence has a certain length.", "", {.speed = 2.0});
  ASSERT_TRUE(normal && fast);
  const double ratio =
      static_cast<double>(normal->samples.size()) / static_cast<double>(fast->samples.size());
  EXPECT_NEAR(ratio, 2.0, 0.3);
}

TEST_F(FliteTts, NothingToSayIsACleanEnd) {
  for (const char* text :
       {"", "   ", "...", "?!", "\n\t", "\xF0\x9F\x98\x80", "\xE4\xBD\xA0\xE5\xA5\xBD", "\xFF\xFE"}) {
    const auto spoken = speak(text);
    ASSERT_TRUE(spoken.has_value()) << text;
    EXPECT_EQ(spoken->pieces, 0U) << text;
  }
}

TEST_F(FliteTts, HugeAndHostileTextIsBounded) {
  std::string words;
  while (words.size() < 200'000) words += "word 1234567 ";
  std::string junk;
  for (int i = 0; i < 3000; ++i) junk.push_back(static_cast<char>(i * 7 % 256));
  for (const auto& text : {words, std::string(100'000, 'a'), std::string(5000, '9'), junk}) {
    const auto spoken = speak(text, "", {.speed = 4.0});
    ASSERT_TRUE(spoken.has_value());
    EXPECT_LE(spoken->samples.size(), 60U * 16000);
  }
}

TEST_F(FliteTts, ALongSentenceIsSpokenWhole) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += "this goes on and on, ";
  const auto long_one = speak(text);
  const auto once = speak("this goes on and on, ");
  ASSERT_TRUE(long_one && once);
  const auto ratio =
      static_cast<double>(long_one->samples.size()) / static_cast<double>(once->samples.size());
  EXPECT_GT(ratio, 17);
  EXPECT_LT(ratio, 30);
}

TEST_F(FliteTts, AbandoningStopsTheSynthesis) {
  const auto provider = make_flite({}, workers_);
  std::string text;
  for (int i = 0; i < 60; ++i) text += "a very long sentence goes on and on ";
  const auto begin_and_drop = [&]() -> Task<Result<TtsAudio>> {
    auto stream = co_await provider->speak(request(text));
    if (stream.has_error()) co_return stream.error();
    auto first = co_await (*stream)->next();
    if (first.has_error()) co_return first.error();
    if (!*first) co_return Error(Errc::internal, "no audio");
    co_return std::move(**first);
  };
  ASSERT_TRUE(test::run(io_, begin_and_drop()).has_value());
  // Whole minutes of audio would take seconds; what follows waits for the same two workers.
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(test::run(io_, begin_and_drop()).has_value());
  EXPECT_TRUE(speak("Hello.").has_value());
}

TEST_F(FliteTts, AFullPoolIsAnError) {
  std::latch release(1);  // outlives the pool: its job still leaves wait() when the count is down
  const auto full = std::make_shared<WorkerPool>(1, 1);
  ASSERT_TRUE(full->submit([&release] { release.wait(); }).has_value());
  const auto provider = make_flite({}, full);
  const auto spoken = test::run(io_, speak_all(*provider, request("Hello.")));
  release.count_down();
  ASSERT_TRUE(spoken.has_error());
  EXPECT_EQ(spoken.error().code, Errc::overloaded);
}

TEST_F(FliteTts, ManyThreadsSpeakAtOnce) {
  const auto provider = make_flite({}, workers_);
  std::vector<std::thread> threads;
  std::array<double, 4> lengths{};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    threads.emplace_back([&, i] {
      asio::io_context io;
      for (int n = 0; n < 3; ++n) {
        const auto spoken =
            test::run(io, speak_all(*provider, request("Good morning.", i % 2 == 0 ? "slt" : "rms")));
        if (spoken.has_value()) lengths.at(i) += static_cast<double>(spoken->samples.size());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_GT(lengths[0], 3 * 8000);
  EXPECT_NEAR(lengths[0], lengths[2], 300);
  EXPECT_NEAR(lengths[1], lengths[3], 300);
}

TEST(FliteSynthesize, KnowsItsVoices) {
  const auto pcm = flite_synthesize("Hello.", "rms");
  ASSERT_TRUE(pcm.has_value());
  EXPECT_EQ(pcm->rate, 16000);
  EXPECT_GT(rms(pcm->samples), 500);
  EXPECT_EQ(flite_synthesize("Hello.", "bob").error().code, Errc::invalid_input);
  const auto silent = flite_synthesize("?", "slt");
  ASSERT_TRUE(silent.has_value());
  EXPECT_TRUE(silent->samples.empty());
}

TEST(FliteConfig, ReadsAndRefuses) {
  const auto workers = std::make_shared<WorkerPool>(1, 8);
  const engine::EngineContext context{workers};
  const auto good = config::Node::parse("{voice: rms, speed: 1.5}", "test.yaml");
  EXPECT_NE(flite_from_config(good, context), nullptr);
  EXPECT_NO_THROW(good.finish());
  EXPECT_NE(flite_from_config(config::Node::parse("{}", "test.yaml"), context), nullptr);
  for (const char* bad : {"{voice: bob}", "{speed: 0}", "{speed: fast}", "{voice: [slt]}"}) {
    EXPECT_THROW(flite_from_config(config::Node::parse(bad, "test.yaml"), context), Failure) << bad;
  }
  EXPECT_THROW(make_flite({.voice = "bob"}, workers), Failure);
}

TEST(FliteSpeakable, Table) {
  const struct {
    std::string text;
    std::string speakable;
  } cases[] = {
      {"Hello, world.", "Hello, world."},
      {"  a \n\t b  ", "a b"},
      {"It\xE2\x80\x99s 20\xC2\xB0", "It's 20 degrees"},
      {"Caf\xC3\xA9 \xE2\x80\x94 na\xC3\xAFve", "Cafe , naive"},
      {"\xE2\x80\x9CYes\xE2\x80\x9D\xE2\x80\xA6", "\"Yes\"..."},
      {"ok\xF0\x9F\x98\x80!", "ok !"},
      {"a\xC3", "a"},
      {"a\x80\xFF"
       "b",
       "a b"},
      {std::string("a\0b", 3), "a b"},
      {"...", ""},
      {"\xD0\x9F\xD1\x80", ""},
      {std::string(61, 'x'), std::string(60, 'x') + " x"},
  };
  for (const auto& [text, speakable] : cases) EXPECT_EQ(flite_speakable(text), speakable) << text;
  std::string many;
  while (many.size() < 5000) many += "word ";
  EXPECT_LE(flite_speakable(many).size(), 2000U);
  EXPECT_TRUE(flite_speakable(many).ends_with("word"));
}

}  // namespace
}  // namespace parley::providers
