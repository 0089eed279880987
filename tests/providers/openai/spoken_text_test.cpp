#include "providers/openai/spoken_text.hpp"

#include <gtest/gtest.h>

namespace parley::providers::openai {
namespace {

struct Case {
  std::string text;
  std::string said;
};

TEST(ThoughtFilter, TakesThoughtsOutWhereverTheTextIsCut) {
  const std::vector<Case> cases{
      {"Hello.", "Hello."},
      {"<think>hm</think>Hello.", "Hello."},
      {"<think>\nhm\n</think>\n\nHello. ", "Hello. "},
      {"<thinking>hm <think> hm</thinking>Hello.", "Hello."},
      {"A <think>b</think> c", "A c"},
      {"<think>a</think><think>b</think>c", "c"},
      {"<think>never ends", ""},
      {"<think></think>", ""},
      {"a < b and <thin> air <think", "a < b and <thin> air <think"},
      {"<<think>x</think>y", "<y"},
      {"<think>a</thin</think>b", "b"},
      {"", ""},
  };
  for (const auto& [text, said] : cases) {
    for (std::size_t a = 0; a <= text.size(); ++a) {
      for (std::size_t b = a; b <= text.size(); ++b) {
        ThoughtFilter filter;
        auto got = filter.push(std::string_view(text).substr(0, a));
        got += filter.push(std::string_view(text).substr(a, b - a));
        got += filter.push(std::string_view(text).substr(b));
        got += filter.finish();
        EXPECT_EQ(got, said) << text << " cut at " << a << " and " << b;
      }
    }
  }
}

TEST(ThoughtFilter, HoldsNothingBackThatIsNoTag) {
  ThoughtFilter filter;
  EXPECT_EQ(filter.push("Hello"), "Hello");
  EXPECT_EQ(filter.push(" <b"), " <b");
  EXPECT_EQ(filter.push(" <th"), " ");
  EXPECT_EQ(filter.push("e"), "<the");
}

TEST(CharacterJoiner, NeverSplitsACharacter) {
  const std::string text = "a\xC3\xA9\xE4\xBD\xA0\xF0\x9F\x98\x80z";
  for (std::size_t at = 0; at <= text.size(); ++at) {
    CharacterJoiner joiner;
    const auto first = joiner.push(std::string_view(text).substr(0, at));
    CharacterJoiner whole;
    EXPECT_EQ(whole.push(first), first) << "complete characters alone, cut at " << at;
    EXPECT_EQ(first + joiner.push(std::string_view(text).substr(at)) + joiner.finish(), text);
  }
}

TEST(CharacterJoiner, ReplacesWhatIsNone) {
  const std::string bad = "\xEF\xBF\xBD";
  for (const auto& [bytes, shown] : std::vector<Case>{{"\x80", bad},
                                                      {"\xC0\xAF", bad + bad},
                                                      {"\xED\xA0\x80", bad + bad + bad},
                                                      {"\xF5x", bad + "x"},
                                                      {"\xE4\xBDx", bad + "x"},
                                                      {"\xE4\xBD", bad},
                                                      {"\xF0\x9F\x98", bad}}) {
    CharacterJoiner joiner;
    EXPECT_EQ(joiner.push(bytes) + joiner.finish(), shown);
  }
}

TEST(PrivateBytes, ComeBackAsTheyWere) {
  for (const std::string text : {"plain", "\xE4\xBD\xA0", "\xF0\x9F", "a\x98\x80z", "\xFF\x80\xC3"}) {
    const auto hidden = to_private(text);
    CharacterJoiner valid;
    EXPECT_EQ(valid.push(hidden), hidden) << "valid UTF-8";
    EXPECT_EQ(from_private(hidden), text);
  }
}

}  // namespace
}  // namespace parley::providers::openai
