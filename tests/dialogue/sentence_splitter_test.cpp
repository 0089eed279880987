#include "parley/dialogue/sentence_splitter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "dialogue/speakable.hpp"

namespace parley::dialogue {
namespace {

using Pieces = std::vector<std::string>;
using testing::ElementsAre;
using testing::IsEmpty;

void drain(SentenceSplitter& splitter, Pieces& pieces) {
  while (auto piece = splitter.next()) pieces.push_back(std::move(*piece));
}

/// In deltas of the sizes that `size` gives.
template <class Size>
Pieces split(std::string_view text, Size size) {
  SentenceSplitter splitter;
  Pieces pieces;
  for (std::size_t at = 0; at < text.size();) {
    const auto delta = text.substr(at, size());
    splitter.push(delta);
    drain(splitter, pieces);
    at += delta.size();
  }
  splitter.finish();
  drain(splitter, pieces);
  return pieces;
}
Pieces split(std::string_view text) {
  return split(text, [] { return std::size_t{100000}; });
}

struct Case {
  std::string_view text;
  Pieces pieces;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.text;
}

class SentenceSplitterTest : public testing::TestWithParam<Case> {};

TEST_P(SentenceSplitterTest, SplitsTheSameHoweverTheTextArrives) {
  const auto& [text, pieces] = GetParam();
  EXPECT_EQ(split(text), pieces);
  if (!HasFailure()) EXPECT_EQ(split(text, [] { return 1U; }), pieces);
  std::mt19937 random(1);
  for (int i = 0; i < 20 && !HasFailure(); ++i)
    EXPECT_EQ(split(text, [&] { return 1 + random() % 9; }), pieces);
}

INSTANTIATE_TEST_SUITE_P(
    English, SentenceSplitterTest,
    testing::Values(
        Case{"The lamp is on.", {"The lamp is on."}},
        Case{"Good morning to you, it is nine. What now?",
             {"Good morning to you,", "it is nine.", "What now?"}},
        Case{"Well, yes. It is 3.5 degrees, at 10:30.", {"Well, yes.", "It is 3.5 degrees, at 10:30."}},
        Case{"It costs 1,000,000.50 dollars, or 12. Then more.",
             {"It costs 1,000,000.50 dollars,", "or 12.", "Then more."}},
        Case{"Dr. Smith lives in the U.S. today. Really?! Yes.",
             {"Dr. Smith lives in the U.S. today.", "Really?", "Yes."}},
        Case{"Come at 5 p.m. Then eat, e.g. bread, etc. and so on.",
             {"Come at 5 p.m.", "Then eat, e.g. bread, etc. and so on."}},
        Case{"J. R. R. Tolkien and I. Nobody else.", {"J. R. R. Tolkien and I.", "Nobody else."}},
        Case{"See example.com. It helps.", {"See example.com.", "It helps."}},
        Case{"Write me@a.example or v1.2.3. Node.js is fine.",
             {"Write me@a.example or v1.2.3.", "Node.js is fine."}},
        Case{"He said \"stop.\" Then he left. \"Go! Now!\" \"Why?\"",
             {"He said \"stop.\"", "Then he left.", "\"Go!", "Now!\"", "\"Why?\""}},
        Case{"Yes (really!) and no. (Maybe.) Ok", {"Yes (really!) and no.", "(Maybe.)", "Ok"}},
        Case{"Well... maybe… not. Hm... So be it…", {"Well... maybe… not.", "Hm...", "So be it…"}},
        Case{"1. Eggs\n2. Milk\nNo. 5 is alive. No. Never.",
             {"1. Eggs", "2. Milk", "No. 5 is alive.", "No.", "Never."}},
        Case{"Here is a long answer: it is — well — so.", {"Here is a long answer:", "it is — well — so."}},
        Case{"Meet at 10:30 or 11:45, not later; thanks.", {"Meet at 10:30 or 11:45,", "not later; thanks."}},
        Case{"That is 50%. More (much more). Fine", {"That is 50%.", "More (much more).", "Fine"}}));

INSTANTIATE_TEST_SUITE_P(German, SentenceSplitterTest,
                         testing::Values(Case{"Am 3. Oktober, z. B. um 10.30 Uhr. Gut.",
                                              {"Am 3. Oktober, z. B. um 10.30 Uhr.", "Gut."}},
                                         Case{"Das sind 1.000,5 Euro bzw. Dollar usw. und so.",
                                              {"Das sind 1.000,5 Euro bzw. Dollar usw. und so."}},
                                         Case{"Er rief: „Halt!“ Dann ging er. „Gut.“ Ja.",
                                              {"Er rief: „Halt!“", "Dann ging er.", "„Gut.“", "Ja."}},
                                         Case{"Prof. Dr. Müller kommt d.h. bald. Schön!",
                                              {"Prof. Dr. Müller kommt d.h. bald.", "Schön!"}},
                                         Case{"Ich habe 12. Danach keine.",
                                              {"Ich habe 12.", "Danach keine."}}));

INSTANTIATE_TEST_SUITE_P(Spanish, SentenceSplitterTest,
                         testing::Values(Case{"¡Hola! ¿Qué tal? El Sr. López está bien.",
                                              {"¡Hola!", "¿Qué tal?", "El Sr. López está bien."}},
                                         Case{"Son 3,5 grados; mañana más.",
                                              {"Son 3,5 grados;", "mañana más."}},
                                         Case{"Comment ça va ? Bien !", {"Comment ça va ?", "Bien !"}}));

INSTANTIATE_TEST_SUITE_P(
    Russian, SentenceSplitterTest,
    testing::Values(Case{"Привет! Сегодня 3,5 градуса. Всё.", {"Привет!", "Сегодня 3,5 градуса.", "Всё."}},
                    Case{"Это т.е. А. С. Пушкин и т. д. вот. Это я. Да.",
                         {"Это т.е. А. С. Пушкин и т. д. вот.", "Это я.", "Да."}},
                    Case{"Конечно, сейчас включу. Он сказал: «Стой!» Потом ушёл.",
                         {"Конечно, сейчас включу.", "Он сказал: «Стой!»", "Потом ушёл."}},
                    Case{"В 2024 году, на ул. Ленина, было 5 млн. рублей…",
                         {"В 2024 году, на ул. Ленина,", "было 5 млн. рублей…"}},
                    Case{"Я думаю, что сегодня, наверное, да.", {"Я думаю, что сегодня,", "наверное, да."}}));

INSTANTIATE_TEST_SUITE_P(Vietnamese, SentenceSplitterTest,
                         testing::Values(Case{"Xin chào! Đèn đã bật. Vâng ạ. Tốt.",
                                              {"Xin chào!", "Đèn đã bật.", "Vâng ạ.", "Tốt."}},
                                         Case{"Tôi ở TP.HCM, gần TP. Hồ Chí Minh. PGS. TS. Nguyễn đến.",
                                              {"Tôi ở TP.HCM, gần TP. Hồ Chí Minh.", "PGS. TS. Nguyễn đến."}},
                                         Case{"Giá là 1.000.000 đồng, khoảng 3,5 nghìn.",
                                              {"Giá là 1.000.000 đồng,", "khoảng 3,5 nghìn."}}));

INSTANTIATE_TEST_SUITE_P(Chinese, SentenceSplitterTest,
                         testing::Values(Case{"今天天气很好。我们出去吧！好吗？",
                                              {"今天天气很好。", "我们出去吧！", "好吗？"}},
                                         Case{"你好，今天天气很好，我们走，好吗？！是。",
                                              {"你好，今天天气很好，", "我们走，好吗？", "是。"}},
                                         Case{"他说：“好。”然后走了。“走吧！我们走。”",
                                              {"他说：“好。”", "然后走了。", "“走吧！", "我们走。”"}},
                                         Case{"圆周率是3.14，时间是10:30，价格1,000元；好。",
                                              {"圆周率是3.14，", "时间是10:30，价格1,000元；好。"}},
                                         Case{"我想……还是算了。好...吗？", {"我想……还是算了。", "好...吗？"}},
                                         Case{"用Node.js写，版本1.2.3。", {"用Node.js写，", "版本1.2.3。"}},
                                         Case{"OK.好的. 走", {"OK.", "好的.", "走"}},
                                         Case{"苹果、香蕉、梨、都有", {"苹果、香蕉、", "梨、都有"}}));

INSTANTIATE_TEST_SUITE_P(
    Others, SentenceSplitterTest,
    testing::Values(Case{"「そうです。」と言った。行こう！", {"「そうです。」", "と言った。", "行こう！"}},
                    Case{"今日は晴れです、明日は雨です。", {"今日は晴れです、", "明日は雨です。"}},
                    Case{"안녕하세요. 오늘은 맑아요. 네!", {"안녕하세요.", "오늘은 맑아요.", "네!"}},
                    Case{"नमस्ते। ठीक है।", {"नमस्ते।", "ठीक है।"}},
                    Case{"مرحبا! كيف الحال؟ جيد.", {"مرحبا!", "كيف الحال؟", "جيد."}},
                    Case{"no marks at all", {"no marks at all"}},
                    Case{"one line\nanother line", {"one line", "another line"}}, Case{"", {}},
                    Case{"   \n ", {}}, Case{"...", {}}, Case{"?! - \n \" \n.", {}}, Case{"$5.", {"$5."}},
                    Case{"caf\xC3", {"caf"}}, Case{"\xFF\xFE ok.", {"ok."}}));

/// The pieces that are there before anything follows.
Pieces at_once(std::string_view text) {
  SentenceSplitter splitter;
  Pieces pieces;
  splitter.push(text);
  drain(splitter, pieces);
  return pieces;
}

TEST(SentenceSplitterLatencyTest, APieceIsThereWithTheCharacterThatDecides) {
  EXPECT_THAT(at_once("Good morning to you,"), ElementsAre("Good morning to you,"));
  EXPECT_THAT(at_once("Really?"), ElementsAre("Really?"));
  EXPECT_THAT(at_once("你好。"), ElementsAre("你好。"));
  EXPECT_THAT(at_once("今天热，"), IsEmpty()) << "too short for a clause";
  EXPECT_THAT(at_once("今天天气，"), ElementsAre("今天天气，"));
  EXPECT_THAT(at_once("A line\n"), ElementsAre("A line"));
  EXPECT_THAT(at_once("It is there."), IsEmpty()) << "there.com?";
  EXPECT_THAT(at_once("It is there. "), ElementsAre("It is there."));
  EXPECT_THAT(at_once("It is on. "), IsEmpty()) << "an abbreviation?";
  EXPECT_THAT(at_once("It is on. T"), ElementsAre("It is on."));
  EXPECT_THAT(at_once("It is (there). T"), ElementsAre("It is (there)."));
  EXPECT_THAT(at_once("“你好。"), IsEmpty()) << "the quote may end here";
  EXPECT_THAT(at_once("“你好。我"), ElementsAre("“你好。"));
  EXPECT_THAT(at_once("It costs 100,"), IsEmpty());
  EXPECT_THAT(at_once("It costs around 100, "), ElementsAre("It costs around 100,"));
}

TEST(SentenceSplitterBoundTest, ATextWithoutMarksIsCutBetweenWords) {
  std::string text;
  for (int i = 0; i < 1200; ++i) text += "word ";
  const auto pieces = at_once(text);
  ASSERT_GT(pieces.size(), 20U);
  for (const auto& piece : pieces) {
    EXPECT_LE(piece.size(), 240U);
    EXPECT_TRUE(piece.starts_with("word") && piece.ends_with("word")) << piece;
  }
}

TEST(SentenceSplitterBoundTest, ALongSentenceIsCutAtItsLastClause) {
  std::string text = "Yes. ";
  for (int i = 0; i < 20; ++i) text += "a few words of it, ";
  const auto pieces = at_once(text);
  ASSERT_GT(pieces.size(), 1U);
  for (const auto& piece : pieces) EXPECT_TRUE(piece == "Yes." || piece.ends_with("it,")) << piece;
}

TEST(SentenceSplitterBoundTest, ChineseIsCutAnywhere) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "字";
  const auto pieces = split(text, [] { return 2U; });
  ASSERT_EQ(pieces.size(), 5U);
  EXPECT_EQ(pieces[0].size(), 180U) << "60 characters of three bytes";
}

TEST(SentenceSplitterBoundTest, NothingMakesAPieceLong) {
  for (const std::string_view again :
       {"a", "é", "e\u0301", "字", ".",    "!", "。",  ")",  "\"",  "a.",  "1.", "1,",  "(",   "…",
        " ", "“", "e.g. ",   "1 ", "\xF0", ",", "a, ", ")]", "\".", ". a", "—",  "de-", "Mr. "}) {
    SentenceSplitter splitter;
    Pieces pieces;
    splitter.push("A");
    for (int i = 0; i < 5000; ++i) splitter.push(again);
    splitter.finish();
    drain(splitter, pieces);
    for (const auto& piece : pieces) EXPECT_LE(piece.size(), 2000U) << again;
  }
}

TEST(SentenceSplitterPropertyTest, AnyTextGivesTheSamePiecesHoweverItIsCut) {
  const std::vector<std::string> words = {"Dr",
                                          ".",
                                          ". ",
                                          " ",
                                          "a",
                                          "Word",
                                          "word",
                                          ",",
                                          ", ",
                                          "3",
                                          "…",
                                          "...",
                                          "!",
                                          "?",
                                          "\"",
                                          "“",
                                          "”",
                                          "。",
                                          "，",
                                          "字",
                                          "天气",
                                          "\n",
                                          "(",
                                          ")",
                                          "—",
                                          ":",
                                          "i.e",
                                          "é",
                                          "💡",
                                          "\xE5",
                                          "*a*",
                                          "- ",
                                          "[b]",
                                          "`",
                                          "https://x.y/z",
                                          "Ü",
                                          "am",
                                          "я",
                                          "TP",
                                          "e\u0301",
                                          "longer words "};
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const auto length = random() % 60;
    for (std::size_t i = 0; i < length; ++i) text += words[random() % words.size()];
    const auto whole = split(text);
    ASSERT_EQ(split(text, [] { return 1U; }), whole) << text;
    ASSERT_EQ(split(text, [&] { return 1 + random() % 8; }), whole) << text;
    for (const auto& piece : whole) {
      ASSERT_FALSE(piece.empty()) << text;
      ASSERT_NE(piece.front(), ' ') << text;
      ASSERT_NE(piece.back(), ' ') << text;
      ASSERT_EQ(piece.find('\n'), std::string::npos) << text;
    }
  }
}

TEST(SentenceSplitterPropertyTest, NoWordIsLost) {
  std::mt19937 random(5);
  const std::vector<std::string> marks = {" ", " ", " ", ", ", ". ", "! ", "\n", " – ", ": ", "... ", "? "};
  for (int round = 0; round < 500; ++round) {
    std::string text;
    std::string letters;
    for (int i = 0; i < 80; ++i) {
      const auto word = std::string(1 + random() % 8, static_cast<char>('a' + random() % 26));
      text += word + marks[random() % marks.size()];
      letters += word;
    }
    std::string kept;
    for (const auto& piece : split(text)) {
      for (const char c : piece) {
        if (c >= 'a' && c <= 'z') kept += c;
      }
    }
    ASSERT_EQ(kept, letters) << text;
  }
}

TEST(SpokenTextTest, MarkupAndSentencesTogether) {
  Speakable reader;
  SentenceSplitter splitter;
  Pieces pieces;
  const std::string_view reply =
      "😊 **Sure!** Here is [the forecast](https://a.example/x?y=1.5):\n\n1. *Monday*: 3.5 °C\n2. Tuesday "
      "🌧️\n\n"
      "| a | b |\n|---|---|\n```sh\nrm -rf /\n```\n*smiles* Ask `Parley` e.g. about https://a.example. Bye";
  for (const char c : reply) {
    splitter.push(reader.push(std::string_view(&c, 1)));
    drain(splitter, pieces);
  }
  splitter.push(reader.finish());
  splitter.finish();
  drain(splitter, pieces);
  EXPECT_THAT(pieces, ElementsAre("Sure!", "Here is the forecast:", "1. Monday: 3.5 °C", "2. Tuesday", "a, b",
                                  "Ask Parley e.g. about.", "Bye"));
  EXPECT_EQ(reader.emotion()->name, "happy");
}

}  // namespace
}  // namespace parley::dialogue
