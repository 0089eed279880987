#include "parley/dialogue/sentence_splitter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parley::dialogue {
namespace {

using Pieces = std::vector<std::string>;

Pieces split(std::string_view text, std::size_t delta) {
  SentenceSplitter splitter;
  Pieces pieces;
  const auto drain = [&] {
    while (auto piece = splitter.next()) pieces.push_back(std::move(*piece));
  };
  for (std::size_t at = 0; at < text.size(); at += delta) {
    splitter.push(text.substr(at, delta));
    drain();
  }
  splitter.finish();
  drain();
  return pieces;
}

struct Case {
  std::string_view text;
  Pieces pieces;
};

class SentenceSplitterTest : public testing::TestWithParam<Case> {};

TEST_P(SentenceSplitterTest, SplitsTheSameHoweverTheTextArrives) {
  const auto& [text, pieces] = GetParam();
  EXPECT_EQ(split(text, 1), pieces);
  EXPECT_EQ(split(text, 3), pieces);
  EXPECT_EQ(split(text, 1000), pieces);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, SentenceSplitterTest,
    testing::Values(Case{"The lamp is on.", {"The lamp is on."}},
                    Case{"Good morning to you, it is nine. What now?",
                         {"Good morning to you,", "it is nine.", "What now?"}},
                    Case{"Well, yes. It is 3.5 degrees, at 10:30.",
                         {"Well, yes.", "It is 3.5 degrees, at 10:30."}},
                    Case{"Dr. Smith lives in the U.S. today. Really?! Yes.",
                         {"Dr. Smith lives in the U.S. today.", "Really?!", "Yes."}},
                    Case{"See example.com. It helps.", {"See example.com.", "It helps."}},
                    Case{"He said \"stop.\" Then he left.", {"He said \"stop.\"", "Then he left."}},
                    Case{"今天天气很好。我们出去吧！好吗？", {"今天天气很好。", "我们出去吧！", "好吗？"}},
                    Case{"Привет! Сегодня 3,5 градуса. Всё.", {"Привет!", "Сегодня 3,5 градуса.", "Всё."}},
                    Case{"Xin chào! Đèn đã bật.", {"Xin chào!", "Đèn đã bật."}},
                    Case{"no marks at all", {"no marks at all"}},
                    Case{"one line\nanother line", {"one line", "another line"}}, Case{"", {}},
                    Case{"   \n ", {}}, Case{"...", {"..."}}));

TEST(SentenceSplitterTest, ATextWithoutMarksIsStillSpoken) {
  std::string text;
  for (int i = 0; i < 120; ++i) text += "word ";
  const auto pieces = split(text, 7);
  ASSERT_GT(pieces.size(), 1U);
  for (const auto& piece : pieces) EXPECT_LE(piece.size(), 310U);
}

TEST(SentenceSplitterTest, BrokenUtf8DoesNotHang) {
  EXPECT_EQ(split("caf\xC3", 1).size(), 1U);
  EXPECT_EQ(split("\xFF\xFE ok.", 1).size(), 1U);
}

}  // namespace
}  // namespace parley::dialogue
