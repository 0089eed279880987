#include "dialogue/speakable.hpp"

#include <gtest/gtest.h>

#include <random>

namespace parley::dialogue {
namespace {

std::string read(std::string_view text, std::size_t delta) {
  Speakable reader;
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += delta) out += reader.push(text.substr(at, delta));
  return out + reader.finish();
}

struct Case {
  std::string_view text;
  std::string_view spoken;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.text;
}

class SpeakableTest : public testing::TestWithParam<Case> {};

TEST_P(SpeakableTest, ReadsTheSameHoweverTheTextArrives) {
  const auto& [text, spoken] = GetParam();
  EXPECT_EQ(read(text, 1000), spoken);
  EXPECT_EQ(read(text, 1), spoken);
  EXPECT_EQ(read(text, 5), spoken);
}

INSTANTIATE_TEST_SUITE_P(
    Emphasis, SpeakableTest,
    testing::Values(Case{"This is **very** good.", "This is very good."},
                    Case{"This is *very* good.", "This is very good."},
                    Case{"***Both*** and __this__ and ~~that~~.", "Both and this and that."},
                    Case{"*Never* do that.", "Never do that."},
                    Case{"**Note:** it rains.", "Note: it rains."},
                    Case{"Set snake_case_name now.", "Set snake_case_name now."},
                    Case{"2 * 3 is 6, 2*3 too.", "2 * 3 is 6, 2*3 too."},
                    Case{"About ~5 km.", "About ~5 km."}, Case{"Это *очень* важно.", "Это очень важно."},
                    Case{"这**非常**重要。", "这非常重要。"}, Case{"An *unclosed mark.", "An unclosed mark."},
                    Case{"A \\*star\\* and a \\ slash.", "A *star* and a \\ slash."}));

INSTANTIATE_TEST_SUITE_P(
    Blocks, SpeakableTest,
    testing::Values(Case{"# Title\nText.", "Title\nText."},
                    Case{"#1 is first, C# too.", "#1 is first, C# too."},
                    Case{"- Milk\n- Eggs\n* Tea\n+ Jam\n• Salt", "Milk\nEggs\nTea\nJam\nSalt"},
                    Case{"- [ ] Call\n- [x] Write", "Call\nWrite"},
                    Case{"1. First\n2) Next", "1. First\n2) Next"},
                    Case{"> A quote.\n\n---\n\nEnd.", "A quote.\nEnd."}, Case{"-5 degrees", "-5 degrees"},
                    Case{"* *milk*: two liters", "milk: two liters"}, Case{"***\nDone.", "Done."},
                    Case{"| Day | Sky |\n|---|:-:|\n| Mon | sunny |", "Day, Sky\nMon, sunny"},
                    Case{"| -5 | 3 |", "-5, 3"}, Case{"a\r\n\r\nb", "a\nb"},
                    Case{"Title\n===\nText", "Title\nText"}, Case{"— Привет!", "Привет!"}));

INSTANTIATE_TEST_SUITE_P(Code, SpeakableTest,
                         testing::Values(Case{"Press `Enter` now.", "Press Enter now."},
                                         Case{"Run `x = f(1);` now.", "Run now."},
                                         Case{"So:\n```python\nprint('a')\n\n# b\n```\nDone.", "So:\nDone."},
                                         Case{"Look: ```a = 1``` there.", "Look: \nthere."},
                                         Case{"~~~\ncode\n~~~\nDone.", "Done."},
                                         Case{"```\nnever closed", ""},
                                         Case{"````\n```\nx\n```\n````\nDone.", "Done."},
                                         Case{"One ` alone.", "One alone."}, Case{"A ``b ` c`` d.", "A d."}));

INSTANTIATE_TEST_SUITE_P(
    Addresses, SpeakableTest,
    testing::Values(
        Case{"See [the page](https://a.example/x_(y)?q=1) now.", "See the page now."},
        Case{"![A cat](cat.png) sleeps.", "A cat sleeps."}, Case{"Wow! [Go](http://a.example).", "Wow! Go."},
        Case{"See https://a.example/b.html?c=1,2.", "See."},
        Case{"At www.example.com, HTTP://X.Y and http too.", "At, and http too."},
        Case{"(see https://a.example/b_(c)).", "(see)."}, Case{"It rains (https://a.example).", "It rains."},
        Case{"<https://a.example> ok", "ok"},
        Case{"Write to <me@a.example> or me@a.example.", "Write to me@a.example or me@a.example."},
        Case{"请看https://a.example/b。谢谢。", "请看。谢谢。"}, Case{"See example.com.", "See example.com."},
        Case{"It rains [1][2]. True [^3] 【4:0†source】.", "It rains. True."},
        Case{"Mail mail hall why frost", "Mail mail hall why frost"}));

INSTANTIATE_TEST_SUITE_P(
    Directions, SpeakableTest,
    testing::Values(Case{"*smiles* Hello!", "Hello!"}, Case{"*leans back slowly* Well.", "Well."},
                    Case{"Sure *winks* of course.", "Sure of course."}, Case{"Fine. *claps hands*", "Fine. "},
                    Case{"(laughs) Yes (about five).", "Yes (about five)."},
                    Case{"[pause] Go. (Sighs deeply.)", "Go. "},
                    Case{"(pause the film) ok", "(pause the film) ok"},
                    Case{"*lächelt* Guten Tag.", "Guten Tag."},
                    Case{"*улыбается* Привет. (смеётся)", "Привет. "}, Case{"(cười) Xin chào!", "Xin chào!"},
                    Case{"（笑）你好。*微笑*好（三个）。", "你好。好（三个）。"},
                    Case{"*never* do this", "never do this"}, Case{"_sighs_ Ok.", "Ok."},
                    Case{"((a) b)", "((a) b)"}, Case{"f() x", "f x"}));

INSTANTIATE_TEST_SUITE_P(Tags, SpeakableTest,
                         testing::Values(Case{"<happy> Hi.", "Hi."}, Case{"[emotion: sad] Oh.", "Oh."},
                                         Case{"[your name] ok", "your name ok"},
                                         Case{"A<br>B <b class=\"x\">C</b>.", "A\nB C."},
                                         Case{"<think>No, <b>I</b> must.</think>\nYes.", "Yes."},
                                         Case{"<think>for ever", ""},
                                         Case{"3 < 5 and 5 > 3, i <3 u", "3 < 5 and 5 > 3, i <3 u"},
                                         Case{"if a <b and c> d", "if a <b and c> d"}, Case{"a <b", "a <b"}));

INSTANTIATE_TEST_SUITE_P(
    Characters, SpeakableTest,
    testing::Values(Case{"😆 That was funny.", "That was funny."},
                    Case{"Good 👍🏽 job 👨‍👩‍👧!", "Good job!"}, Case{"❤️", ""},
                    Case{"Hello😊world, 你好😊世界", "Hello world, 你好世界"}, Case{"1️⃣ One 🇩🇪", "1 One"},
                    Case{"a\u200B\u202Eb\u2066c\u00AD\uFEFF\x01\x7F", "abc"},
                    Case{"a \t\u00A0\u3000 b", "a b"}, Case{"می\u200Cخواهم", "می\u200Cخواهم"},
                    Case{"caf\xC3", "caf"}, Case{"\xFF\xFE ok\x80.", "ok."},
                    Case{"\xED\xA0\x80\xC0\x80\xE0\x80\x80\xF4\x90\x80\x80x", "x"},
                    Case{"5° → 20 €, ™", "5° → 20 €, ™"}));

TEST(SpeakableEmotionTest, TheFaceIsWhatTheTextBeginsWith) {
  EXPECT_EQ(speakable("😆 Ha.").emotion.name, "laughing");
  EXPECT_EQ(speakable(" 🎉😔 Ha.").emotion.name, "sad") << "a party is no face";
  EXPECT_EQ(speakable("<happy>Ha.").emotion.name, "happy");
  EXPECT_EQ(speakable("[emotion: angry] Ha.").emotion.name, "angry");
  EXPECT_EQ(speakable("<emotion=cool> 😔 Ha.").emotion.name, "cool") << "the first counts";
  EXPECT_EQ(speakable("Ha 😆").emotion.name, "neutral");
  EXPECT_EQ(speakable("").emotion.name, "neutral");
  EXPECT_EQ(speakable("Two\n\n- lines\n").text, "Two lines");
}

TEST(SpeakableLatencyTest, NothingIsHeldLongerThanItsMark) {
  Speakable reader;
  EXPECT_EQ(reader.push("Hello there."), "Hello there.");
  EXPECT_EQ(reader.push(" It"), " It");
  EXPECT_EQ(reader.push(" is! "), " is! ");
  EXPECT_EQ(reader.push("(ab"), "(ab") << "no direction begins so";
  EXPECT_EQ(reader.push(") **b"), ") b");
  EXPECT_EQ(reader.push(" hto"), " hto");
  EXPECT_EQ(reader.push(" [link]("), " link");
}

TEST(SpeakableBoundTest, EndlessConstructsHoldLittle) {
  for (const std::string_view begin :
       {"",        "`", "[", "(", "<a ", "*",  "_", "https://", "](", "[a](", "\\",      "```",
        "<think>", "-", "#", "|", "((",  "**", "~", "!",        "{",  "【",   "(laughs "}) {
    for (const std::string_view again :
         {"a",  "*",  "_",    "`", "[", "(",  "<",  "-",   "#",   "|",   " ", ".",
          "笑", "😀", "\xF0", ")", "]", "![", "\\", "\n*", "\n|", "\n-", "h", "(pause "}) {
      Speakable reader;
      std::size_t out = reader.push(begin).size();
      std::size_t in = begin.size();
      for (int i = 0; i < 4000; ++i) {
        in += again.size();
        out += reader.push(again).size();
      }
      const auto rest = reader.finish().size();
      EXPECT_LE(rest, 1000U) << begin << again;
      EXPECT_LE(out + rest, in + 10) << begin << again;
    }
  }
}

TEST(SpeakablePropertyTest, AnySoupIsReadTheSameHoweverItIsCut) {
  const std::vector<std::string> words = {
      "*",  "**", "_",   "`",   "```", "[",      "](",          ")",        "(",       "<b>",      "<",
      "|",  "\n", "\n-", "\n#", " ",   "smiles", "https://a.b", "www.",     ".",       "!",        "é",
      "笑", "😊", "\\",  "~~",  "1",   "a",      "<think>",     "</think>", "(laughs", "\xF0\x9F", "!["};
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const auto length = random() % 30;
    for (std::size_t i = 0; i < length; ++i) text += words[random() % words.size()];
    const auto whole = read(text, 1000);
    Speakable reader;
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const auto size = 1 + random() % 7;
      out += reader.push(std::string_view(text).substr(at, size));
      at += size;
    }
    out += reader.finish();
    ASSERT_EQ(out, whole) << text;
    ASSERT_EQ(read(text, 1), whole) << text;
    for (const char c : whole) ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n') << text;
  }
}

}  // namespace
}  // namespace parley::dialogue
