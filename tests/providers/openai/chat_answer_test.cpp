#include "providers/openai/chat_answer.hpp"

#include <gtest/gtest.h>

namespace parley::providers::openai {
namespace {

using nlohmann::json;

/// What came of an answer, in words.
struct Got {
  std::string text;
  std::vector<std::string> calls;
  std::optional<engine::Usage> usage;
  std::optional<Error> error;
};

Got read(const std::vector<std::string>& chunks) {
  ChatAnswer answer("call_7_");
  Got got;
  const auto drain = [&] {
    while (auto event = answer.next()) {
      if (const auto* text = std::get_if<engine::TextDelta>(&*event)) {
        EXPECT_FALSE(text->text.empty());
        EXPECT_NO_THROW((void)json(text->text).dump()) << "whole characters";
        got.text += text->text;
      } else if (const auto* call = std::get_if<engine::ToolCall>(&*event)) {
        got.calls.push_back(call->id + " " + call->name + " " +
                            (call->malformed ? "malformed " + *call->malformed : call->arguments.dump()));
      } else if (const auto* usage = std::get_if<engine::Usage>(&*event)) {
        got.usage = *usage;
      }
    }
  };
  for (const auto& chunk : chunks) {
    const auto taken = answer.take(chunk);
    drain();
    if (!taken) {
      got.error = taken.error();
      return got;
    }
  }
  const auto finished = answer.finish();
  drain();
  if (!finished) got.error = finished.error();
  return got;
}

std::string delta(const json& delta, const char* finish = nullptr) {
  return json({{"choices",
                {{{"index", 0}, {"delta", delta}, {"finish_reason", finish ? json(finish) : json()}}}}})
      .dump();
}
std::string text(const std::string& content) {
  return delta({{"content", content}});
}
std::string call(const json& fragment) {
  return delta({{"tool_calls", {fragment}}});
}

TEST(ChatAnswer, JoinsText) {
  const auto got = read({delta({{"role", "assistant"}, {"content", nullptr}}), text("Hel"), text(""),
                         text("lo."), delta(json::object(), "stop"),
                         R"({"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3}})"});
  EXPECT_FALSE(got.error);
  EXPECT_EQ(got.text, "Hello.");
  ASSERT_TRUE(got.usage);
  EXPECT_EQ(got.usage->prompt_tokens, 12);
  EXPECT_EQ(got.usage->completion_tokens, 3);
}

TEST(ChatAnswer, TakesAWholeAnswer) {
  const auto got = read({R"({"choices":[{"message":{"role":"assistant","content":"Hi.","tool_calls":[
      {"id":"a","type":"function","function":{"name":"lamp","arguments":"{\"on\":true}"}}]},"finish_reason":"stop"}],
      "usage":{"prompt_tokens":1,"completion_tokens":2}})"});
  EXPECT_EQ(got.text, "Hi.");
  EXPECT_EQ(got.calls, std::vector<std::string>{R"(a lamp {"on":true})"});
  EXPECT_TRUE(got.usage);
}

TEST(ChatAnswer, NeverSpeaksThoughts) {
  const auto got = read(
      {delta({{"reasoning_content", "secret"}}), delta({{"reasoning", "secret"}}), text("<thi"),
       text("nk>secret</th"), text("ink>\n\nHello."),
       delta({{"content",
               {{{"type", "thinking"}, {"thinking", "secret"}}, {{"type", "text"}, {"text", " You."}}}}})});
  EXPECT_EQ(got.text, "Hello. You.");
}

TEST(ChatAnswer, JoinsFragmentsOfCalls) {
  struct Case {
    const char* name;
    std::vector<json> fragments;
    std::vector<std::string> calls;
  };
  const auto part = [](json function, json rest = json::object()) {
    rest["function"] = std::move(function);
    return rest;
  };
  const std::vector<Case> cases{
      {"as documented, interleaved",
       {part({{"name", "a"}, {"arguments", ""}}, {{"index", 0}, {"id", "x"}}),
        part({{"name", "b"}, {"arguments", "{\"n\""}}, {{"index", 1}, {"id", "y"}}),
        part({{"arguments", "{\"m\":"}}, {{"index", 0}}), part({{"arguments", ":2}"}}, {{"index", 1}}),
        part({{"arguments", "1}"}}, {{"index", 0}})},
       {R"(x a {"m":1})", R"(y b {"n":2})"}},
      {"ids and names in every fragment",
       {part({{"name", "a"}, {"arguments", "{"}}, {{"index", 0}, {"id", "x"}}),
        part({{"name", "a"}, {"arguments", "}"}}, {{"index", 0}, {"id", "x"}})},
       {"x a {}"}},
      {"empty names and ids after the first",
       {part({{"name", "a"}, {"arguments", "{"}}, {{"index", 0}, {"id", "x"}}),
        part({{"name", ""}, {"arguments", "}"}}, {{"index", 0}, {"id", ""}})},
       {"x a {}"}},
      {"another id in each fragment",
       {part({{"name", "a"}, {"arguments", "{"}}, {{"index", 0}, {"id", "x"}}),
        part({{"arguments", "}"}}, {{"index", 0}, {"id", "z"}})},
       {"x a {}"}},
      {"whole calls that all have index 0",
       {part({{"name", "a"}, {"arguments", "{}"}}, {{"index", 0}, {"id", "x"}}),
        part({{"name", "a"}, {"arguments", "{\"n\":1}"}}, {{"index", 0}, {"id", "y"}})},
       {"x a {}", R"(y a {"n":1})"}},
      {"whole calls with index 0 and without ids",
       {part({{"name", "a"}, {"arguments", "{}"}}, {{"index", 0}, {"id", ""}}),
        part({{"name", "b"}, {"arguments", "{}"}}, {{"index", 0}})},
       {"call_7_0 a {}", "call_7_1 b {}"}},
      {"by id alone",
       {part({{"name", "a"}, {"arguments", "{"}}, {{"id", "x"}}),
        part({{"name", "b"}, {"arguments", "{"}}, {{"id", "y"}}), part({{"arguments", "}"}}, {{"id", "x"}}),
        part({{"arguments", "}"}}, {{"id", "y"}})},
       {"x a {}", "y b {}"}},
      {"with nothing but names",
       {part({{"name", "a"}, {"arguments", "{\"n\":"}}), part({{"arguments", "1}"}}),
        part({{"name", "b"}, {"arguments", "{}"}})},
       {R"(call_7_0 a {"n":1})", "call_7_1 b {}"}},
      {"arguments as an object",
       {part({{"name", "a"}, {"arguments", {{"n", 1}}}})},
       {R"(call_7_0 a {"n":1})"}},
      {"arguments wrapped twice",
       {part({{"name", "a"}, {"arguments", R"("{\"n\":1}")"}})},
       {R"(call_7_0 a {"n":1})"}},
      {"no arguments",
       {part({{"name", "a"}}), part({{"name", "b"}, {"arguments", nullptr}}, {{"id", "x"}}),
        part({{"name", "c"}, {"arguments", "null"}}, {{"id", "y"}})},
       {"call_7_0 a {}", "x b {}", "y c {}"}},
      {"the same id twice",
       {part({{"name", "a"}, {"arguments", "{}"}}, {{"index", 0}, {"id", "x"}}),
        part({{"name", "a"}, {"arguments", "{}"}}, {{"index", 1}, {"id", "x"}})},
       {"x a {}", "call_7_1 a {}"}},
      {"malformed arguments",
       {part({{"name", "a"}, {"arguments", "{\"n\":"}}, {{"index", 0}, {"id", "x"}}),
        part({{"name", "b"}, {"arguments", "[1]"}}, {{"index", 1}, {"id", "y"}})},
       {"x a malformed {\"n\":", "y b malformed [1]"}},
      {"no name", {part({{"arguments", "{}"}}, {{"id", "x"}})}, {"x unnamed {}"}},
      {"no function at all", {json{{"id", "x"}, {"index", 0}}}, {"x unnamed {}"}},
  };
  for (const auto& [name, fragments, calls] : cases) {
    std::vector<std::string> chunks;
    for (const auto& fragment : fragments) chunks.push_back(call(fragment));
    EXPECT_EQ(read(chunks).calls, calls) << name << ", without a finish_reason";
    chunks.push_back(delta(json::object(), "tool_calls"));
    EXPECT_EQ(read(chunks).calls, calls) << name;
    EXPECT_EQ(read({delta({{"tool_calls", fragments}}, "tool_calls")}).calls, calls)
        << name << ", in one piece";
  }
}

TEST(ChatAnswer, GivesCallsWithTheFinishReasonAndOnce) {
  ChatAnswer answer("p");
  ASSERT_TRUE(answer.take(call({{"id", "x"}, {"function", {{"name", "a"}}}})));
  EXPECT_FALSE(answer.next());
  ASSERT_TRUE(answer.take(delta(json::object(), "tool_calls")));
  EXPECT_TRUE(answer.next());
  ASSERT_TRUE(answer.take(delta(json::object(), "tool_calls")));
  ASSERT_TRUE(answer.finish());
  EXPECT_FALSE(answer.next());
}

TEST(ChatAnswer, JoinsCharactersThatServersCut) {
  const auto cut = [](const std::string& bytes) {
    return R"({"choices":[{"delta":{"content":")" + bytes + R"("}}]})";
  };
  EXPECT_EQ(read({cut("a\xF0\x9F"), cut("\x98\x80z")}).text, "a\xF0\x9F\x98\x80z");
  EXPECT_EQ(read({cut("\xE4"), cut("\xBD"), cut("\xA0"), cut("\xE4\xBD\xA0")}).text,
            "\xE4\xBD\xA0\xE4\xBD\xA0");
  EXPECT_EQ(read({cut("a\xE4")}).text, "a\xEF\xBF\xBD") << "the rest never came";
}

TEST(ChatAnswer, IgnoresOtherChoices) {
  EXPECT_EQ(
      read({R"({"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"yes"}}]})"})
          .text,
      "yes");
}

TEST(ChatAnswer, TellsErrors) {
  struct Case {
    std::string chunk;
    Errc code;
    bool retryable;
  };
  const std::vector<Case> cases{
      {R"({"error":{"message":"busy","type":"server_error"}})", Errc::unavailable, true},
      {R"({"error":{"message":"busy","code":"rate_limit_exceeded"}})", Errc::overloaded, true},
      {R"({"error":{"message":"busy","code":429}})", Errc::overloaded, true},
      {R"({"error":{"message":"busy","code":401}})", Errc::unauthorized, false},
      {R"({"error":{"message":"busy","type":"invalid_request_error"}})", Errc::invalid_input, false},
      {R"({"error":"busy"})", Errc::unavailable, true},
      {R"({"error":{"message":"busy"},"choices":[{"delta":{"content":"x"}}]})", Errc::unavailable, true},
  };
  for (const auto& [chunk, code, retryable] : cases) {
    const auto got = read({text("Hel"), chunk});
    EXPECT_EQ(got.text, "Hel");
    ASSERT_TRUE(got.error) << chunk;
    EXPECT_EQ(got.error->code, code) << chunk;
    EXPECT_EQ(got.error->retryable, retryable) << chunk;
    EXPECT_NE(got.error->message.find("busy"), std::string::npos) << got.error->message;
  }
}

TEST(ChatAnswer, RefusesWhatIsNoAnswer) {
  for (const std::string chunk :
       {"", "nonsense", "{", "[]", "3", "null", R"({"choices":3})", R"({"choices":[3]})",
        R"({"choices":[{"delta":3}]})", R"({"choices":[{"delta":{"content":3}}]})",
        R"({"choices":[{"delta":{"tool_calls":{}}}]})", R"({"choices":[{"delta":{"tool_calls":[3]}}]})"}) {
    const auto got = read({chunk});
    ASSERT_TRUE(got.error) << chunk;
    EXPECT_EQ(got.error->code, Errc::invalid_input) << chunk;
  }
  for (const auto& chunks : std::vector<std::vector<std::string>>{{}, {"{}"}, {R"({"choices":[]})"}}) {
    const auto got = read(chunks);
    ASSERT_TRUE(got.error);
    EXPECT_EQ(got.error->code, Errc::unavailable);
  }
  EXPECT_FALSE(read({delta(json::object(), "stop")}).error) << "to say nothing is an answer";
  EXPECT_TRUE(read({delta(json::object(), "content_filter")}).error);
  EXPECT_TRUE(read({text("a"), delta(json::object(), "error")}).error);
}

TEST(ChatAnswer, BoundsEverything) {
  const std::string much(10'000, 'x');
  EXPECT_EQ(read(std::vector<std::string>(100, text(much))).error->code, Errc::limit);
  EXPECT_EQ(read(std::vector<std::string>(100, call({{"index", 0}, {"function", {{"arguments", much}}}})))
                .error->code,
            Errc::limit);
  std::vector<std::string> calls;
  for (int i = 0; i < 1000; ++i) calls.push_back(call({{"index", i}, {"function", {{"name", "a"}}}}));
  EXPECT_EQ(read(calls).error->code, Errc::limit);
}

TEST(ChatAnswer, SurvivesOddNumbers) {
  const auto got = read({R"({"usage":{"prompt_tokens":-5,"completion_tokens":1e300}})", R"({"usage":3})",
                         R"({"usage":{"prompt_tokens":99999999999999,"completion_tokens":"x"}})", text("x"),
                         call({{"index", "0"}, {"function", {{"name", 3}, {"arguments", true}}}})});
  EXPECT_FALSE(got.error);
  EXPECT_EQ(got.calls, std::vector<std::string>{"call_7_0 unnamed malformed true"});
  EXPECT_EQ(got.usage->prompt_tokens, 1'000'000'000);
}

}  // namespace
}  // namespace parley::providers::openai
