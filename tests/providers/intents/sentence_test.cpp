#include "providers/intents/sentence.hpp"

#include <gtest/gtest.h>

namespace parley::providers::intents {
namespace {

/// A tree in a canonical notation: `a b`, `(a|b)`, `[a]`, `(a;b)`, `{list:slot}`, `<rule>`.
std::string show(const Part& part) {
  std::string out;
  const auto all = [&](const char* separator) {
    for (const Part& inner : part.parts) {
      out += (out.empty() ? "" : separator) + show(inner);
    }
    return out;
  };
  switch (part.kind) {
    case Part::Kind::word:
      return part.text;
    case Part::Kind::sequence:
      return all(" ");
    case Part::Kind::choice:
      return "(" + all("|") + ")";
    case Part::Kind::permutation:
      return "(" + all(";") + ")";
    case Part::Kind::optional:
      return "[" + all("") + "]";
    case Part::Kind::list:
      return "{" + part.text + ":" + part.slot + "}";
    case Part::Kind::rule:
      return "<" + part.text + ">";
  }
  return out;
}

TEST(Sentence, ParsesTheUsualSyntax) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"Turn on the Lamp!", "turn on the lamp"},
      {"[please] stop", "[please] stop"},
      {"(turn|switch) on", "(turn|switch) on"},
      {"red | green light", "(red|green light)"},
      {"volume {level} [percent]", "volume {level:level} [percent]"},
      {"{level:volume}%", "{level:volume} percent"},
      {"<polite> (a;[b c];{d})", "<polite> (a;[b c];{d:d})"},
      {"((a))", "a"},
      {"[[a] b]", "[[a] b]"},
      {"(a|(b|c) d)", "(a|(b|c) d)"},
      {"set to 50", "set to fifty"},
      {"what's (up|new)?", "what's (up|new)"},
      {"[a|b] c", "[(a|b)] c"},
      {"{a}{b}", "{a:a} {b:b}"},
  };
  for (const auto& [text, expected] : cases) {
    const auto part = parse_sentence(text, "en");
    ASSERT_TRUE(part) << text << ": " << part.error().message;
    EXPECT_EQ(show(*part), expected) << text;
  }
}

TEST(Sentence, BracketsThatTouchAWordBelongToIt) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"the light[s] on", "the (lights|light) on"},
      {"turn(s|ed) off", "(turns|turned) off"},
      {"[un]mute", "(unmute|mute)"},
      {"tur[n]ed", "(turned|tured)"},
      {"turn on[ the] lamp", "turn on [the] lamp"},
      {"(red|blue) lamp", "(red|blue) lamp"},
      {"(red|blue)ish", "(redish|blueish)"},
      {"(small|big)[ {lamp}]", "(small|big) [{lamp:lamp}]"},
      {"[good]bye[bye]", "(goodbyebye|goodbye|byebye|bye)"},
      {"[a][b] c", "[(ab|a|b)] c"},
  };
  for (const auto& [text, expected] : cases) {
    const auto part = parse_sentence(text, "en");
    ASSERT_TRUE(part) << text << ": " << part.error().message;
    EXPECT_EQ(show(*part), expected) << text;
  }
}

TEST(Sentence, RefusesWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "column 1: there is nothing here to say"},
      {" , ", "column 1: there is nothing here to say"},
      {"turn (on|) it", "column 10: there is nothing here to say"},
      {"turn (|on)", "column 7: there is nothing here to say"},
      {"a []", "column 4: there is nothing here to say"},
      {"a [?]", "column 4: there is nothing here to say"},
      {"turn [on", "column 6: `[` is never closed"},
      {"turn (on", "column 6: `(` is never closed"},
      {"(a [b) c]", "column 6: unexpected `)`"},
      {"turn on]", "column 8: unexpected `]`"},
      {"turn on)", "column 8: unexpected `)`"},
      {"turn {on", "column 6: `{` is never closed"},
      {"turn <on", "column 6: `<` is never closed"},
      {"turn on}", "column 8: unexpected `}`"},
      {"turn on>", "column 8: unexpected `>`"},
      {"turn {o n}", "column 6: a list is written {name} or {name:slot}"},
      {"turn {}", "column 6: a list is written"},
      {"turn {a:}", "column 6: a list is written"},
      {"turn {1a}", "column 6: a list is written"},
      {"turn <>", "column 6: a rule is written <name>"},
      {"a ; b", "column 3: `;` stands in parentheses only"},
      {"[a;b]", "column 3: `;` stands in parentheses only"},
      {"(a|b;c)", "column 5: `|` and `;` need parentheses between them"},
      {"(a;b;c;d;e;f)", "column 2: more than five parts in any order"},
      {"a \\[ b", "column 3: unexpected `\\`"},
      {std::string(40, '(') + "a" + std::string(40, ')'), "nested too deeply"},
      {std::string(5000, 'a'), "a sentence this long"},
      {"a[b][c][d][e][f][g][h]", "too many spellings"},
  };
  for (const auto& [text, expected] : cases) {
    const auto part = parse_sentence(text, "en");
    ASSERT_FALSE(part) << text;
    EXPECT_EQ(part.error().code, Errc::configuration);
    EXPECT_NE(part.error().message.find(expected), std::string::npos) << text << ": " << part.error().message;
  }
}

TEST(Sentence, SurvivesAnyBytes) {
  const std::string alphabet = "ab [](){}<>|;:\\%'\xC3\xA4";
  std::uint32_t state = 12345;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (int k = 0; k < 24; ++k) {
      state = state * 1664525U + 1013904223U;
      text.push_back(alphabet[(state >> 16U) % alphabet.size()]);
    }
    const auto part = parse_sentence(text, "en");
    if (part) EXPECT_FALSE(show(*part).empty()) << text;
  }
}

}  // namespace
}  // namespace parley::providers::intents
