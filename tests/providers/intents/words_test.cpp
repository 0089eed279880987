#include "providers/intents/words.hpp"

#include <gtest/gtest.h>

#include "providers/intents/numbers.hpp"

namespace parley::providers::intents {
namespace {

std::string said(std::string_view text, std::string_view language = "en") {
  const auto words = split_words(text, language);
  return join(words, 0, words.size());
}

TEST(Words, ReadsWhatRecognisersWrite) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"Set the volume to 50%.", "set the volume to fifty percent"},
      {"twenty-five", "twenty five"},
      {"I\xE2\x80\x99"
       "D LIKE... a \"latte\"!",
       "i'd like a latte"},
      {"'hello' the ladies' dogs", "hello the ladies dogs"},
      {"set it to -5\xC2\xB0", "set it to minus five degrees"},
      {"2,500 or 3.5 or 1,23", "two thousand five hundred or 3.5 or one twenty three"},
      {"salt & pepper", "salt and pepper"},
      {"\xC3\x84rger \xD0\x94\xD0\x90 \xCE\x91\xCE\xA9", "\xC3\xA4rger \xD0\xB4\xD0\xB0 \xCE\xB1\xCF\x89"},
      {"\xE6\x89\x93\xE5\xBC\x80\xE7\x81\xAF\xE3\x80\x82", "\xE6\x89\x93 \xE5\xBC\x80 \xE7\x81\xAF"},
      {"\xF0\x9F\x99\x82 Done \xE2\x80\x94 now", "done now"},
      {"bad \xFF\xC3 bytes \xE2\x82", "bad bytes"},
      {"1234567", "1234567"},
      {" \t\n", ""},
      {"007", "seven"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(said(text), expected) << text;
}

TEST(Words, ComparesWithoutApostrophes) {
  EXPECT_EQ(split_words("what's", "en").front().key, "whats");
  EXPECT_EQ(split_words("what's", "en").front().text, "what's");
}

TEST(Words, KnowsWhereTheyComeFrom) {
  const std::string text = "Say: 25 Things!";
  const auto words = split_words(text, "en");
  ASSERT_EQ(words.size(), 4U);
  EXPECT_EQ(text.substr(words[1].begin, words[2].end - words[1].begin), "25");
  EXPECT_EQ(text.substr(words[3].begin, words[3].end - words[3].begin), "Things");
}

TEST(Words, KeepsDigitsOfOtherLanguages) {
  EXPECT_EQ(said("Lautst\xC3\xA4rke auf 50%", "de"), "lautst\xC3\xA4rke auf 50 %");
  EXPECT_EQ(said("auf -5", "de"), "auf -5");
  const auto words = split_words("auf 50", "de");
  ASSERT_EQ(numbers_at(words, 1, "de").size(), 1U);
  EXPECT_EQ(numbers_at(words, 1, "de").front().value, 50);
  EXPECT_TRUE(numbers_at(words, 0, "de").empty());
}

TEST(Numbers, EveryFormIsReadAsItsNumber) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = -130; i <= 1300; ++i) values.push_back(i);
  for (const std::int64_t more : {1999, 2000, 12'345, 100'000, 100'100, 999'999, -999'999})
    values.push_back(more);
  for (const std::int64_t value : values) {
    for (const auto& form : spoken_number(value, "en")) {
      std::string text;
      for (const auto& word : form) text += word + " ";
      const auto words = split_words(text, "en");
      const auto found = numbers_at(words, 0, "en");
      ASSERT_FALSE(found.empty()) << text;
      EXPECT_EQ(found.front().value, value) << text;
      EXPECT_EQ(found.front().end, words.size()) << text;
    }
  }
}

TEST(Numbers, DigitsAreTheUsualForm) {
  EXPECT_EQ(said("0 7 13 20 42 100 110 1000"),
            "zero seven thirteen twenty forty two one hundred one hundred ten one thousand");
}

TEST(Numbers, OffersShorterReadingsToo) {
  const auto found = numbers_at(split_words("twenty five", "en"), 0, "en");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].value, 25);
  EXPECT_EQ(found[1].value, 20);
  EXPECT_EQ(found[1].end, 1U);
}

TEST(Numbers, DoesNotReadWhatIsNone) {
  for (const char* text : {"a", "and five", "volume", "hundreds", "minus", "3.5"}) {
    EXPECT_TRUE(numbers_at(split_words(text, "en"), 0, "en").empty()) << text;
  }
  EXPECT_TRUE(numbers_at({}, 0, "en").empty());
}

TEST(Numbers, AcceptsHundredAlone) {
  EXPECT_EQ(numbers_at(split_words("hundred", "en"), 0, "en").front().value, 100);
  EXPECT_EQ(numbers_at(split_words("a hundred and five", "en"), 0, "en").front().value, 105);
}

}  // namespace
}  // namespace parley::providers::intents
