#include "providers/intents/expression.hpp"

#include <gtest/gtest.h>

#include "providers/intents/reply_text.hpp"

namespace parley::providers::intents {
namespace {

using nlohmann::json;

const json kScope = json::parse(R"({
  "level": 40, "half": 0.5, "name": "lamp", "on": true, "off": false, "nothing": null, "third": 0.333333,
  "color": {"r": 255, "name": "red"},
  "results": [{"audio_speaker": {"volume": 70}, "list": [1, 2]}, "plain words", true]
})");

/// "missing" where there is no value.
json value_of(const std::string& text) {
  const auto expression = Expression::parse(text);
  EXPECT_TRUE(expression) << text << ": " << expression.error().message;
  if (!expression) return "invalid";
  return expression->evaluate(kScope).value_or("missing");
}

TEST(Expression, Evaluates) {
  const std::vector<std::pair<std::string, json>> cases{
      {"level", 40},
      {" level + 2 ", 42},
      {"level - 2 * 3", 34},
      {"(level - 2) * 3", 114},
      {"10 - 3 - 2", 5},
      {"-level", -40},
      {"2 * -3", -6},
      {"--3", 3},
      {"half * 3", 1.5},
      {"round(half * 3)", 2},
      {"round(2)", 2},
      {"min(3, level, 5)", 3},
      {"max(3, level)", 40},
      {"clamp(level + 100, 0, 100)", 100},
      {"clamp(level - 100, 0, 100)", 0},
      {"clamp(level, 0, 100)", 40},
      {"color.r", 255},
      {"results.0.audio_speaker.volume", 70},
      {"results.0.audio_speaker.volume + default(amount, 10)", 80},
      {"results.0.list.1", 2},
      {"results.1", "plain words"},
      {"default(missing, 'x')", "x"},
      {"default(level, 'x')", 40},
      {"if(on, 'yes', 'no')", "yes"},
      {"if(off, 'yes', 'no')", "no"},
      {"if(off, 'yes')", ""},
      {"if(results.2, 1, 2)", 1},
      {"join(name, missing, level, name)", "lamp, 40 and lamp"},
      {"join(missing, name)", "lamp"},
      {"say(results.1)", "plain words"},
      {"'a } b'", "a } b"},
      {"2.5", 2.5},
      {"name", "lamp"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(value_of(text), expected) << text;
}

TEST(Expression, MissingIsMissing) {
  for (const char* text : {"gone",
                           "gone + 1",
                           "1 + gone",
                           "nothing",
                           "color.g",
                           "level.x",
                           "results.3",
                           "results.x",
                           "results.0.list.2",
                           "results.-1",
                           "results.01x",
                           "name + 1",
                           "on + 1",
                           "min(level, gone)",
                           "clamp(name, 0, 1)",
                           "round(name)",
                           "if(gone, 1, 2)",
                           "join(gone)",
                           "default(gone, gone)",
                           "say(results.0)",
                           "say(gone)",
                           "9223372036854775807 + 1",
                           "9223372036854775807 * 2"}) {
    const auto expression = Expression::parse(text);
    if (!expression) continue;
    EXPECT_EQ(expression->evaluate(kScope), std::nullopt) << text;
  }
  EXPECT_EQ(value_of("results.0.nowhere"), "missing");
}

TEST(Expression, RefusesWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "something is missing"},
      {"1 +", "something is missing"},
      {"level level", "unexpected `l`"},
      {"(level", "`(` is never closed"},
      {"min(", "something is missing"},
      {"min(1", "`(` is never closed"},
      {"minimum(1)", "there is no function `minimum`"},
      {"clamp(1, 2)", "`clamp` does not take 2 values"},
      {"round(1, 2)", "`round` does not take 2 values"},
      {"'open", "never closed"},
      {"1.2.3", "is not a number"},
      {"a..b", "a path is written a.b.c"},
      {"a.", "a path is written a.b.c"},
      {"level / 2", "unexpected `/`"},
      {"$x", "unexpected `$`"},
      {std::string(100, '(') + "1" + std::string(100, ')'), "nested too deeply"},
      {std::string(100, '-') + "1", "nested too deeply"},
  };
  for (const auto& [text, expected] : cases) {
    const auto expression = Expression::parse(text);
    ASSERT_FALSE(expression) << text;
    EXPECT_NE(expression.error().message.find(expected), std::string::npos) << expression.error().message;
  }
}

TEST(ReplyText, Renders) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"Done.", "Done."},
      {"Volume {level} percent.", "Volume 40 percent."},
      {"{name}: {if(on, 'on', 'off')}", "lamp: on"},
      {"One[ {size}] {name}", "One lamp"},
      {"One[ {color.name}] {name}", "One red lamp"},
      {"a[ b {gone}[ c {level}]] d", "a d"},
      {"a[ b {level}[ c {gone}]] d", "a b 40 d"},
      {"{{level}} [[x]]", "{level} [x]"},
      {"{'}'}!", "}!"},
      {"{third} {half}", "0.3 0.5"},
      {"{half + half}", "1"},
      {"{on}", "true"},
  };
  for (const auto& [text, expected] : cases) {
    const auto parsed = ReplyText::parse(text);
    ASSERT_TRUE(parsed) << text << parsed.error().message;
    EXPECT_EQ(parsed->render(kScope), expected) << text;
  }
}

TEST(ReplyText, MissingOutsideOfBracketsIsMissing) {
  for (const char* text : {"{gone}", "a {nothing}", "{color}", "{results.0}", "x[y]{gone}"}) {
    EXPECT_EQ(ReplyText::parse(text)->render(kScope), std::nullopt) << text;
  }
}

TEST(ReplyText, RefusesWhatIsWrong) {
  for (const char* text : {"{level", "level}", "[a", "a]", "[a {level]", "{1 +}", "{'}"}) {
    EXPECT_FALSE(ReplyText::parse(text)) << text;
  }
  std::string deep;
  for (int i = 0; i < 20; ++i) deep += "[a";
  EXPECT_FALSE(ReplyText::parse(deep + std::string(20, ']')));
}

TEST(ArgumentValue, KeepsTypes) {
  const std::vector<std::pair<json, json>> cases{
      {"{level}", 40},
      {"{color.r}", 255},
      {"{on}", true},
      {"{level}%", "40%"},
      {"a{level}b{name}c", "a40blampc"},
      {"plain [x]", "plain [x]"},
      {"{{x}}", "{x}"},
      {5, 5},
      {nullptr, nullptr},
      {true, true},
      {"", ""},
      {json{{"a", "{level}"}, {"b", json::array({"{on}", 1})}},
       json{{"a", 40}, {"b", json::array({true, 1})}}},
      {json::object(), json::object()},
      {json::array(), json::array()},
  };
  for (const auto& [text, expected] : cases) {
    const auto value = ArgumentValue::parse(text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(value->evaluate(kScope), expected) << text;
  }
  EXPECT_EQ(ArgumentValue::parse("{gone}")->evaluate(kScope), std::nullopt);
  EXPECT_EQ(ArgumentValue::parse("x {gone}")->evaluate(kScope), std::nullopt);
  EXPECT_EQ(ArgumentValue::parse(json{{"a", "{gone}"}})->evaluate(kScope), std::nullopt);
  for (const char* text : {"{", "}", "{1 +}", "{level"}) EXPECT_FALSE(ArgumentValue::parse(text)) << text;
}

TEST(Speakable, NeverSpeaksCode) {
  EXPECT_EQ(speakable("A red  cup.\n", 100), "A red cup.");
  EXPECT_EQ(speakable(json{{"success", true}, {"response", "A cup."}}, 100), "A cup.");
  EXPECT_EQ(speakable(json{{"message", "No film."}}, 100), "No film.");
  EXPECT_EQ(speakable(42, 100), "42");
  EXPECT_EQ(speakable("\u042f\u0431", 100), "\u042f\u0431");
  EXPECT_EQ(speakable("\U0001F44D \u2705 !", 100), std::nullopt);
  for (const char* text : {"", "  ", "{\"a\": 1}", "see http://x.y", "<html>", "a[0]", "C:\\x"}) {
    EXPECT_EQ(speakable(text, 100), std::nullopt) << text;
  }
  for (const json& value :
       {json(nullptr), json(true), json::array({1}), json::object(), json{{"response", 5}}}) {
    EXPECT_EQ(speakable(value, 100), std::nullopt) << value;
  }
}

TEST(Speakable, StopsAtASentence) {
  EXPECT_EQ(speakable("One. Two is long.", 10), "One.");
  EXPECT_EQ(speakable("no end in sight here", 10), std::nullopt);
  EXPECT_EQ(speakable("\xE4\xBD\xA0\xE3\x80\x82\xE5\xA5\xBD\xE5\xA5\xBD\xE5\xA5\xBD", 10),
            "\xE4\xBD\xA0\xE3\x80\x82");
}

}  // namespace
}  // namespace parley::providers::intents
