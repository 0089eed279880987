#include "providers/intents/matcher.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "support.hpp"

namespace parley::providers::intents {
namespace {

using nlohmann::json;
using test::everything;

/// "intent {slots}", or "" where nothing matches.
std::string read(const Catalog& catalog, const Matcher& matcher, std::string_view text) {
  const auto reading = matcher.read(text, everything(catalog));
  if (!reading) return "";
  std::string out = catalog.intents[reading->intent].name;
  for (const auto& [name, value] : reading->slots.items()) {
    out += " " + name + "=" + (value.is_object() ? value.at("name").dump() : value.dump());
  }
  if (reading->out_of_range) out += " (out of range)";
  return out;
}

TEST(Matcher, UnderstandsTheBuiltInSentences) {
  const Catalog catalog = test::builtin_catalog();
  const Matcher matcher(catalog);
  const std::vector<std::pair<std::string, std::string>> cases{
      {"Set the volume to 50%.", "volume_set level=50"},
      {"set the volume to fifty percent", "volume_set level=50"},
      {"Could you please set your volume level to twenty-five?", "volume_set level=25"},
      {"Volume 100", "volume_set level=100"},
      {"volume to a hundred percent", "volume_set level=100"},
      {"turn it down to zero", "volume_set level=0"},
      {"uh set the um volume to hmm 5", "volume_set level=5"},
      {"set the volume to 150", "volume_set level=150 (out of range)"},
      {"set the volume to minus five", "volume_set level=-5 (out of range)"},
      {"Louder!", "volume_up"},
      {"a bit louder please", "volume_up"},
      {"Turn it up.", "volume_up"},
      {"turn it up by 20", "volume_up amount=20"},
      {"Increase the volume by twenty percent.", "volume_up amount=20"},
      {"I can\xE2\x80\x99t hear you", "volume_up"},
      {"quieter", "volume_down"},
      {"turn the volume down a little", "volume_down"},
      {"You're too loud.", "volume_down"},
      {"Set the volume to maximum", "volume_maximum"},
      {"full volume", "volume_maximum"},
      {"mute", "mute"},
      {"Turn off the sound.", "mute"},
      {"Unmute, please.", "unmute"},
      {"What's the volume?", "volume_get"},
      {"whats the volume", "volume_get"},
      {"set the screen brightness to thirty", "brightness_set level=30"},
      {"dim the display to 10 percent", "brightness_set level=10"},
      {"make the screen brighter", "brightness_up"},
      {"brighter", "brightness_up"},
      {"dim the screen a bit", "brightness_down"},
      {"What is the brightness?", "brightness_get"},
      {"switch to dark mode", "theme_set theme=\"dark\""},
      {"Change the theme to light", "theme_set theme=\"light\""},
      {"night mode", "theme_set theme=\"dark\""},
      {"turn on the light", "lamp_on"},
      {"Turn the lamp on.", "lamp_on"},
      {"lights off", "lamp_off"},
      {"switch off the lamp please", "lamp_off"},
      {"Is the lamp on?", "lamp_state"},
      {"is the light on or off", "lamp_state"},
      {"make the light red", "light_color color=\"red\""},
      {"set the lights to warm white", "light_color color=\"warm white\""},
      {"turn it violet", "light_color color=\"purple\""},
      {"How much battery do you have left?", "battery"},
      {"what's your battery level", "battery"},
      {"are you charging", "battery"},
      {"what network are you on", "network"},
      {"what is your status", "status"},
      {"how are you", "status"},
      {"What do you see?", "look"},
      {"what's this", "look"},
      {"take a picture", "photo"},
      {"take a photo and tell me what color the Cup is", "photo question=\"what color the Cup is\""},
      {"take a picture and tell me what you see", "photo"},
      {"What time is it?", "time"},
      {"tell me the time", "time"},
      {"what day is it today", "date"},
      {"what's today's date", "date"},
      {"help", "help"},
      {"What can you do?", "help"},
      {"stop", "stop"},
      {"thank you very much", "thanks"},
      {"Good morning!", "hello"},
      {"Goodbye.", "goodbye"},
      {"bye bye", "goodbye"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(read(catalog, matcher, text), expected) << text;
}

TEST(Matcher, NeverGuesses) {
  const Catalog catalog = test::builtin_catalog();
  const Matcher matcher(catalog);
  for (const char* text : {"",
                           "   ",
                           "...",
                           "um",
                           "please",
                           "the",
                           "volume",
                           "set the volume",
                           "set the volume to",
                           "set the volume to loud",
                           "set the volume to fifty apples",
                           "set the volume to 3.5",
                           "set the volume to 50 60",
                           "fifty",
                           "turn it",
                           "turn up",
                           "turn on the",
                           "turn on the radio",
                           "turn on the lamp in the kitchen",
                           "don't turn on the lamp",
                           "make the light",
                           "make the light beautiful",
                           "red",
                           "what time",
                           "what time is it in Tokyo",
                           "what is the time of departure",
                           "what is the capital of France",
                           "play some music",
                           "stop the train",
                           "goodbye cruel world",
                           "is the lamp",
                           "is the door on",
                           "how are you able to do that",
                           "take a photo and",
                           "take a photo and tell me",
                           "unmute the lamp",
                           "the volume is nice",
                           "i can hear you",
                           "light off on",
                           "brighter than the sun",
                           "yes",
                           "no"}) {
    EXPECT_EQ(read(catalog, matcher, text), "") << text;
  }
  std::string long_text;
  for (int i = 0; i < 65; ++i) long_text += "um louder ";
  EXPECT_EQ(read(catalog, matcher, long_text), "");
  EXPECT_EQ(read(catalog, matcher, "take a photo and tell me " + long_text), "");
}

constexpr std::string_view kRanking = R"(
lists:
  level: {range: {from: 0, to: 10}}
  big: {range: {from: 0, to: 1000}}
  tens: {range: {from: 0, to: 50, step: 10}}
  drink: [mocha, iced mocha, iced]
  rest: {wildcard: true}
intents:
  any: {sentences: "set {rest}", reply: x}
  list: {sentences: "make [a] {drink}", reply: x}
  small: {sentences: "set {level}", reply: x}
  large: {sentences: "set {big}", reply: x}
  word: {sentences: "make a mocha", reply: x}
  again: {sentences: "make a mocha", reply: x}
  two: {sentences: "mix {drink} [{drink:other}]", reply: x}
  step: {sentences: "go {tens}", reply: x}
  tail: {sentences: "say {rest} loud", reply: x}
)";

TEST(Matcher, TheMostSpecificReadingCounts) {
  const Catalog catalog = test::catalog_of(kRanking);
  const Matcher matcher(catalog);
  const std::vector<std::pair<std::string, std::string>> cases{
      {"set 5", "small level=5"},
      {"set 500", "large big=500"},       // in range beats what comes first
      {"set 5000", "any rest=\"5000\""},  // and so does a wildcard
      {"set something Else!", "any rest=\"something Else\""},
      {"make a mocha", "word"},  // more words of its own
      {"make mocha", "list drink=\"mocha\""},
      {"make an mocha", ""},
      {"make a iced mocha", "list drink=\"iced mocha\""},
      {"mix iced mocha", "two drink=\"iced mocha\""},  // the longest value first
      {"mix iced mocha mocha", "two drink=\"iced mocha\" other=\"mocha\""},
      {"mix iced iced mocha", "two drink=\"iced\" other=\"iced mocha\""},
      {"go twenty", "step tens=20"},
      {"go 25", "step tens=25 (out of range)"},
      {"say it out loud", "tail rest=\"it out\""},
      {"say loud loud", "tail rest=\"loud\""},
      {"say loud", ""},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(read(catalog, matcher, text), expected) << text;
}

TEST(Matcher, SkipsIntentsThatAreNotAllowed) {
  const Catalog catalog = test::catalog_of(kRanking);
  const Matcher matcher(catalog);
  auto allowed = everything(catalog);
  allowed[4] = false;
  EXPECT_EQ(catalog.intents[matcher.read("make a mocha", allowed)->intent].name, "again");
  allowed[5] = false;
  EXPECT_EQ(catalog.intents[matcher.read("make a mocha", allowed)->intent].name, "list");
  EXPECT_FALSE(matcher.read("make a mocha", std::vector<bool>(catalog.intents.size(), false)));
}

TEST(Matcher, CountsWildcardWords) {
  const Catalog catalog = test::catalog_of(kRanking);
  const Matcher matcher(catalog);
  EXPECT_EQ(matcher.read("set one small thing", everything(catalog))->guessed, 3U);
  EXPECT_EQ(matcher.read("make a mocha", everything(catalog))->guessed, 0U);
}

TEST(Matcher, KnowsYesAndNo) {
  const Catalog catalog = test::builtin_catalog();
  const Matcher matcher(catalog);
  for (const char* text : {"Yes.", "yes please", "Okay!", "go ahead", "do it", "that's right", "um yes"}) {
    EXPECT_EQ(matcher.answer(text), Answer::yes) << text;
  }
  for (const char* text : {"No.", "no thanks", "don't do that", "Cancel!", "never mind"}) {
    EXPECT_EQ(matcher.answer(text), Answer::no) << text;
  }
  for (const char* text : {"", "yes no", "not yet", "please", "louder", "yesterday"}) {
    EXPECT_EQ(matcher.answer(text), Answer::neither) << text;
  }
}

TEST(Matcher, NestedOptionalsDoNotBlowUp) {
  std::string sentence = "go";
  for (int i = 0; i < 12; ++i) sentence += " [[a] [a|a] [(a|[a] b)]]";
  const Catalog catalog =
      test::catalog_of("lists: {rest: {wildcard: true}}\nintents: {one: {sentences: ['" + sentence +
                       " end', 'go {rest:a} {rest:b} {rest:c} {rest:d} end'], reply: x}}");
  const Matcher matcher(catalog);
  std::string text = "go";
  for (int i = 0; i < 60; ++i) text += " a";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(matcher.read(text + " stop", everything(catalog)));
  EXPECT_TRUE(matcher.read(text + " end", everything(catalog)));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500));
}

TEST(Matcher, IsFast) {
  const Catalog catalog = test::builtin_catalog();
  const Matcher matcher(catalog);
  const auto allowed = everything(catalog);
  const std::vector<std::string> texts{"could you please set the volume to twenty five percent",
                                       "turn on the lamp", "what is the capital of france",
                                       "make the light warm white please"};
  constexpr int kRounds = 200;
  std::size_t understood = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kRounds; ++i) {
    for (const auto& text : texts) understood += matcher.read(text, allowed).has_value() ? 1U : 0U;
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  const double each = took.count() / (kRounds * static_cast<double>(texts.size()));
  RecordProperty("microseconds", std::to_string(each));
  std::printf("%.1f microseconds a sentence\n", each);
  EXPECT_EQ(understood, 3U * kRounds);
  EXPECT_LT(each, 5000);  // unoptimised and under sanitizers
}

}  // namespace
}  // namespace parley::providers::intents
