#include "providers/intents/loader.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace parley::providers::intents {
namespace {

using test::refusal_of;

/// An intents file with one intent, whose keys are given.
std::string intent(const std::string& keys) {
  return "lists: {level: {range: {from: 0, to: 9}}}\nintents:\n  one: {" + keys + "}\n";
}

TEST(Loader, ReadsEveryKey) {
  const Catalog catalog = test::catalog_of(R"(
language: en
before: "[please]"
after: ["[now]", "[soon]"]
ignore: [um]
rules:
  lamp: [lamp, light]
lists:
  level: {range: {from: 0, to: 100, step: 5}}
  color: [red, {in: [blue, navy], out: {b: 255}}]
  size: {values: ["[very] big"]}
  rest: {wildcard: true}
pronunciations:
  zigbee: Z IH G B IY
  parley: [P AA R L IY, P AA R L EY]
intents:
  one:
    sentences: "set <lamp> to {level}"
    tool: self.set
    arguments: {level: "{level}", fixed: 5}
    requires: [self.other]
    reply: ["{level}", "It is {level}."]
    reply_error: "No: {error}"
    reply_missing: "Hm."
    announce: "Wait."
    confirm: "Shall I set {level}?"
    emotion: happy
    end: true
    help: set things
  two:
    sentences: ["paint it {color}", "paint it {color:paint} {rest}"]
    any_of:
      - tool: self.paint
        arguments: {color: "{color}"}
      - steps:
          - {tool: self.a}
          - {tool: self.b, arguments: {x: "{results.0.x}"}}
        reply: "Painted."
    reply: "Done."
    confirm: true
  three: {sentences: never, reply: x, enabled: false}
replies:
  not_understood: "What?"
  done: "Ready."
answers: {yes: aye, no: [nay, "no way"]}
)");
  ASSERT_EQ(catalog.intents.size(), 2U);
  const Intent& one = catalog.intents[0];
  EXPECT_EQ(one.required, std::vector<std::string>{"self.other"});
  EXPECT_TRUE(one.confirm);
  EXPECT_TRUE(one.question.has_value());
  ASSERT_EQ(one.actions.size(), 1U);
  EXPECT_EQ(one.actions[0].steps[0].arguments.size(), 2U);
  EXPECT_EQ(one.actions[0].reply.size(), 2U);
  EXPECT_EQ(one.actions[0].emoji, "\xF0\x9F\x99\x82");
  EXPECT_TRUE(one.actions[0].end);
  const Intent& two = catalog.intents[1];
  EXPECT_FALSE(two.question.has_value());
  ASSERT_EQ(two.actions.size(), 2U);
  EXPECT_EQ(two.actions[0].reply[0].render({}), "Done.");
  EXPECT_EQ(two.actions[1].reply[0].render({}), "Painted.");
  EXPECT_EQ(two.actions[1].steps.size(), 2U);
  EXPECT_EQ(catalog.lists.at("level").step, 5);
  EXPECT_EQ(catalog.lists.at("color").values[0].out, "red");
  EXPECT_EQ(catalog.lists.at("color").values[1].out, (nlohmann::json{{"b", 255}}));
  EXPECT_EQ(catalog.lists.at("size").values[0].out, std::nullopt);
  EXPECT_EQ(catalog.pronunciations.at("parley").size(), 2U);
  EXPECT_EQ(catalog.replies.not_understood.front().render({}), "What?");
  EXPECT_EQ(catalog.replies.done.render({}), "Ready.");
  EXPECT_EQ(catalog.replies.declined.render({}), "Okay, I won't.");
  EXPECT_EQ(tools_named(catalog),
            (std::vector<std::string>{"self.a", "self.b", "self.other", "self.paint", "self.set"}));
}

TEST(Loader, RefusesWhatIsWrongAndSaysWhere) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {intent("sentences: 'turn (on', reply: x"),
       "test.yaml:3: intents.one.sentences: column 6: `(` is never closed"},
      {intent("reply: x"), "intents.one: expected `sentences`"},
      {intent("sentences: [], reply: x"), "expected at least one sentence"},
      {intent("sentences: {a: b}, reply: x"), "expected a sentence"},
      {intent("sentences: hello"), "expected `tool`, `steps` or `reply`"},
      {intent("sentences: '[hello]', reply: x"), "all of this may be left out"},
      {intent("sentences: 'to {levle}', reply: x"), "there is no list `levle`; did you mean `level`?"},
      {intent("sentences: 'to <lamp>', reply: x"), "there is no rule `lamp`"},
      {intent("sentences: 'to {level}', reply: 'at {levle}'"),
       "no sentence of this intent has a slot `levle`; did you mean `level`?"},
      {intent("sentences: 'to {level}', reply: 'at {level'"), "`{` is never closed"},
      {intent("sentences: 'to {level:time}', reply: x"), "`time` means something else"},
      {intent("sentences: hello, reply: []"), "expected a text"},
      {intent("sentences: hello, reply: x, announce: [a, b]"), "announce: expected one text"},
      {intent("sentences: hello, reply: x, emotion: hapy"),
       "there is no emotion `hapy`; did you mean `happy`?"},
      {intent("sentences: hello, reply: x, raply: y"), "intents.one.raply"},
      {intent("sentences: hello, tool: a, steps: [{tool: b}]"), "expected either `tool` or `steps`"},
      {intent("sentences: hello, steps: []"), "expected at least one tool call"},
      {intent("sentences: hello, steps: [{arguments: {}}]"), "tool"},
      {intent("sentences: hello, reply: x, arguments: {a: 1}"), "expected `tool` beside it"},
      {intent("sentences: hello, tool: a, arguments: [1]"), "expected the tool's arguments by name"},
      {intent("sentences: hello, tool: a, arguments: {b: '{1 +}'}"), "something is missing"},
      {intent("sentences: hello, tool: a, arguments: {b: '{level}'}"),
       "no sentence of this intent has a slot `level`"},
      {intent("sentences: hello, tool: a, any_of: [{tool: b}]"),
       "expected either `tool`, `steps` or `any_of`"},
      {intent("sentences: hello, any_of: []"), "expected at least one way"},
      {intent("sentences: hello, reply: x, confirm: 'really {x}?'"),
       "no sentence of this intent has a slot `x`"},
      {intent("sentences: hello, reply: x, end: maybe"), "end"},
      {"intents: {one: hello}", "expected `sentences` and what to do"},
      {"rules: {'a b': c}", "expected a name of letters"},
      {"rules: {a: '<b> x', b: '[<a>] y'}", "contains itself"},
      {"rules: {a: '<a>'}", "contains itself"},
      {"rules: {a: '<c>'}", "there is no rule `c`"},
      {"rules: {a: ''}", "there is nothing here to say"},
      {"before: 'hey {level}'\nlists: {level: [one]}", "there cannot be a list in this"},
      {"lists: {a: {range: {from: 5, to: 1}}}", "expected a number that is not below `from`"},
      {"lists: {a: {range: {from: 0}}}", "expected `from` and `to`"},
      {"lists: {a: {range: {from: 0, to: 5000}}}", "at most 1001"},
      {"lists: {a: {range: {from: 0, to: 10, step: 0}}}", "step"},
      {"lists: {a: {range: {from: 0, to: 10, stop: 1}}}", "stop"},
      {"lists: {a: {range: {from: 0, to: 1}, values: [b]}}",
       "expected one of `values`, `range` and `wildcard`"},
      {"lists: {a: {}}", "expected one of `values`, `range` and `wildcard`"},
      {"lists: {a: {wildcard: false}}", "expected true"},
      {"lists: {a: b}", "expected `values`, `range` or `wildcard`"},
      {"lists: {a: []}", "expected at least one value"},
      {"lists: {a: ['[b]']}", "all of this may be left out"},
      {"lists: {a: ['b {c}'], c: [d]}", "there cannot be a list in this"},
      {"lists: {a: [{out: 5}]}", "expected `in`: what is said"},
      {"lists: {a: [{in: b, on: 5}]}", "on"},
      {"lists: {time: [b]}", "`time` means something else in replies"},
      {"ignore: [two words]", "expected single words"},
      {"pronunciations: {word: hello}", "expected phones"},
      {"pronunciations: {two words: AH}", "expected one word"},
      {"replies: {done: [a, b]}", "expected one text"},
      {"replies: {don: a}", "don"},
      {"replies: {failed: '{why}'}", "no sentence of this intent has a slot `why`"},
      {"answers: {yes: '[yes]'}", "all of this may be left out"},
      {"sentences: [a]", "sentences"},
      {"rules: {a: '(b|c)(d|e)', x: '<a> <a> <a> <a>', y: '<x> <x> <x> <x>', z: '<y> <y> <y> <y>', q: '<z> "
       "<z> <z> <z>',"
       " w: '<q> <q> <q> <q> <q> <q> <q> <q>', k: '<w> <w> <w> <w> <w> <w>'}\nintents: {one: {sentences: "
       "<k>, reply: x}}",
       "the rule `k` is too long when the rules in it are written out"},
  };
  for (const auto& [yaml, expected] : cases) {
    const std::string message = refusal_of(yaml);
    EXPECT_NE(message.find(expected), std::string::npos) << yaml << "\n  said: " << message;
  }
}

TEST(Loader, RulesThatDoubleThirtyTimesAreRefusedAtOnce) {
  std::string yaml = "rules: {r0: word";
  for (int i = 1; i < 30; ++i) {
    const auto before = "<r" + std::to_string(i - 1) + ">";
    yaml += ", r" + std::to_string(i) + ": '" + before + " " + before + "'";
  }
  yaml += "}\nintents: {one: {sentences: <r29>, reply: x}}";
  EXPECT_NE(refusal_of(yaml).find("too long"), std::string::npos);
}

TEST(Loader, TheFirstDocumentCounts) {
  const auto mine = config::Node::parse(R"(
rules: {greeting: ahoy}
intents:
  hello: {sentences: <greeting>, reply: "Ahoy!"}
  goodbye: {sentences: x, reply: x, enabled: false}
replies: {done: "Aye."}
)",
                                        "mine.yaml");
  const auto theirs = config::Node::parse(R"(
rules: {greeting: hello}
intents:
  hello: {sentences: hello, reply: "Hello!"}
  goodbye: {sentences: bye, reply: "Bye!"}
  other: {sentences: <greeting> you, reply: "Yes?"}
replies: {done: "Done.", failed: "Oh."}
)",
                                          "theirs.yaml");
  const Catalog catalog = load_catalog({mine, theirs});
  theirs.finish();
  ASSERT_EQ(catalog.intents.size(), 2U);
  EXPECT_EQ(catalog.intents[0].actions[0].reply[0].render({}), "Ahoy!");
  EXPECT_EQ(catalog.intents[1].name, "other");
  EXPECT_EQ(catalog.replies.done.render({}), "Aye.");
  EXPECT_EQ(catalog.replies.failed.render({}), "Oh.");
  const Matcher matcher(catalog);
  EXPECT_TRUE(matcher.read("ahoy you", test::everything(catalog)));
  EXPECT_FALSE(matcher.read("bye", test::everything(catalog)));
}

TEST(Loader, DocumentsAgreeOnTheLanguage) {
  const auto a = config::Node::parse("language: en", "a.yaml");
  const auto b = config::Node::parse("language: de", "b.yaml");
  try {
    load_catalog({a, b});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_NE(failure.error().message.find("b.yaml:1: language: expected `en`"), std::string::npos)
        << failure.error().message;
  }
}

}  // namespace
}  // namespace parley::providers::intents
