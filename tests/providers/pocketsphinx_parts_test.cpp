#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "parley/providers/pocketsphinx_asr.hpp"
#include "providers/pocketsphinx/cepstra.hpp"
#include "providers/pocketsphinx/lexicon.hpp"
#include "providers/pocketsphinx/pool.hpp"

namespace parley::providers::pocketsphinx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// --- RunningMean ----------------------------------------------------------------------------------

std::vector<float> firsts(RunningMean& mean) {
  std::vector<float> out;
  while (const auto frame = mean.pop()) out.push_back(frame->front());
  return out;
}

Cepstrum level(float value) {
  Cepstrum frame{};
  frame.fill(value);
  return frame;
}

TEST(RunningMean, WaitsForTheDelayThenForTheLookAhead) {
  RunningMean mean(4, 1);
  for (const float value : {1.0F, 2.0F, 3.0F}) {
    mean.push(level(value));
    EXPECT_FALSE(mean.pop());
  }
  mean.push(level(6));                                         // mean of 4: 3
  EXPECT_THAT(firsts(mean), ElementsAre(-2.0F, -1.0F, 0.0F));  // the fourth waits for one more
  mean.push(level(8));                                         // mean of 5: 4
  EXPECT_THAT(firsts(mean), ElementsAre(2.0F));
  mean.finish();
  EXPECT_THAT(firsts(mean), ElementsAre(4.0F));
  EXPECT_FALSE(mean.pop());
}

TEST(RunningMean, AShortUtteranceLosesItsOwnMean) {
  RunningMean mean(100, 10);
  mean.push(level(1));
  mean.push(level(3));
  EXPECT_FALSE(mean.pop());
  mean.finish();
  EXPECT_THAT(firsts(mean), ElementsAre(-1.0F, 1.0F));
}

TEST(RunningMean, ThePiecesDoNotMatter) {
  std::vector<std::vector<float>> results;
  for (const std::size_t piece : {1U, 7U, 50U}) {
    RunningMean mean(10, 3);
    std::vector<float> out;
    for (std::size_t i = 0; i < 50; ++i) {
      mean.push(level(static_cast<float>(i * i % 17)));
      if (i % piece == piece - 1) {
        for (const float value : firsts(mean)) out.push_back(value);
      }
    }
    mean.finish();
    for (const float value : firsts(mean)) out.push_back(value);
    results.push_back(out);
  }
  EXPECT_EQ(results[0].size(), 50U);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

// --- Lexicon --------------------------------------------------------------------------------------

class LexiconTest : public testing::Test {
 protected:
  LexiconTest() {
    std::ofstream file(path_);
    file << "tomato T AH M EY T OW\ntomato(2) T AH M AA T OW\r\nred R EH D\n\nbroken\n 'x Y\n'bout B AW T\n";
  }
  LexiconTest(const LexiconTest&) = delete;
  LexiconTest& operator=(const LexiconTest&) = delete;
  LexiconTest(LexiconTest&&) = delete;
  LexiconTest& operator=(LexiconTest&&) = delete;
  ~LexiconTest() override { std::filesystem::remove(path_); }

  static engine::SpeechGrammar grammar(std::vector<std::string> words) {
    engine::SpeechGrammar made;
    made.id = "g";
    made.words = std::move(words);
    return made;
  }

  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) / ("lexicon-" + std::to_string(::getpid()) + ".dict");
};

TEST_F(LexiconTest, FindsEveryPronunciation) {
  const auto found = find_pronunciations(grammar({"'bout", "blorp", "broken", "red", "tomato"}), path_);
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(found->at("tomato"), ElementsAre("T AH M EY T OW", "T AH M AA T OW"));
  EXPECT_THAT(found->at("red"), ElementsAre("R EH D"));
  EXPECT_THAT(missing_words(grammar({"'bout", "blorp", "broken", "red", "tomato"}), *found),
              ElementsAre("blorp", "broken"));
}

TEST_F(LexiconTest, TheConfigurationsPronunciationReplacesTheDictionarys) {
  auto made = grammar({"blorp", "red", "tomato"});
  made.pronunciations = {{"blorp", {"B L AO R P"}}, {"red", {"R IY D"}}, {"unused", {"AH"}}, {"tomato", {}}};
  const auto found = find_pronunciations(made, path_);
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(found->at("blorp"), ElementsAre("B L AO R P"));
  EXPECT_THAT(found->at("red"), ElementsAre("R IY D"));
  EXPECT_EQ(found->at("tomato").size(), 2U);
  EXPECT_EQ(found->count("unused"), 0U);
}

TEST_F(LexiconTest, NamesWhatIsMissing) {
  Lexicon lexicon(path_);
  const auto found = lexicon.of(grammar({"blorp", "red", "zint"}));
  ASSERT_TRUE(found.has_error());
  EXPECT_EQ(found.error().code, Errc::configuration);
  EXPECT_THAT(found.error().message, HasSubstr("blorp, zint"));
  EXPECT_THAT(found.error().message, HasSubstr("`pronunciations:`"));
  const auto words = words_without_pronunciation(grammar({"blorp", "red", "zint"}), path_);
  ASSERT_TRUE(words.has_value());
  EXPECT_THAT(*words, ElementsAre("blorp", "zint"));
}

TEST_F(LexiconTest, RemembersByGrammar) {
  Lexicon lexicon(path_);
  const auto first = lexicon.of(grammar({"red"}));
  std::filesystem::remove(path_);
  const auto again = lexicon.of(grammar({"red"}));
  ASSERT_TRUE(first && again);
  EXPECT_EQ(*first, *again);
  auto other = grammar({"red"});
  other.id = "other";
  const auto unread = lexicon.of(other);
  ASSERT_TRUE(unread.has_error());
  EXPECT_THAT(unread.error().message, HasSubstr("cannot be read"));
}

// --- DecoderPool ----------------------------------------------------------------------------------

class FakeDecoder final : public Decoder {
 public:
  explicit FakeDecoder(std::string id) : id_(std::move(id)) {}
  Result<> set_grammar(const engine::SpeechGrammar& grammar, const Pronunciations& /*words*/) override {
    id_ = grammar.id;
    return {};
  }
  bool accepts(const Pronunciations& /*words*/) const override { return true; }
  const std::string& grammar_id() const override { return id_; }
  void start() override {}
  void push(audio::PcmView /*samples*/) override {}
  Heard finish() override { return {}; }

 private:
  std::string id_;
};

struct FakeWaiter final : Waiter {
  bool wanted = true;
  bool offered = false;
  std::unique_ptr<Decoder> got;
  bool offer(std::unique_ptr<Decoder>& decoder) override {
    offered = true;
    if (wanted) got = std::move(decoder);
    return wanted;
  }
};

std::unique_ptr<Decoder> fake(std::string id) {
  return std::make_unique<FakeDecoder>(std::move(id));
}

TEST(DecoderPool, PrefersTheSameGrammarThenANewPlaceThenTheLongestIdle) {
  DecoderPool pool(3);
  EXPECT_EQ(*pool.acquire("a", {}), nullptr);
  EXPECT_EQ(*pool.acquire("b", {}), nullptr);
  pool.release(fake("a"));
  pool.release(fake("b"));
  EXPECT_TRUE(pool.has_idle("a"));
  EXPECT_FALSE(pool.has_idle("c"));
  EXPECT_EQ((*pool.acquire("b", {}))->grammar_id(), "b");
  EXPECT_EQ(*pool.acquire("c", {}), nullptr);
  EXPECT_EQ((*pool.acquire("c", {}))->grammar_id(), "a");
  EXPECT_FALSE(pool.acquire("a", {}));
}

TEST(DecoderPool, HandsOnInTheOrderOfAsking) {
  DecoderPool pool(1);
  ASSERT_TRUE(pool.acquire("a", {}));
  const auto gone = std::make_shared<FakeWaiter>();
  auto first = std::make_shared<FakeWaiter>();
  const auto refuses = std::make_shared<FakeWaiter>();
  const auto second = std::make_shared<FakeWaiter>();
  refuses->wanted = false;
  EXPECT_FALSE(pool.acquire("a", std::make_shared<FakeWaiter>()));  // destroyed at once
  EXPECT_FALSE(pool.acquire("a", first));
  EXPECT_FALSE(pool.acquire("a", refuses));
  EXPECT_FALSE(pool.acquire("a", second));
  pool.release(fake("a"));
  EXPECT_NE(first->got, nullptr);
  EXPECT_FALSE(pool.has_idle("a"));
  pool.release(std::move(first->got));
  EXPECT_TRUE(refuses->offered);
  EXPECT_NE(second->got, nullptr);
  pool.release(nullptr);  // it broke
  EXPECT_FALSE(pool.has_idle("a"));
  EXPECT_EQ(*pool.acquire("a", {}), nullptr);
}

}  // namespace
}  // namespace parley::providers::pocketsphinx
