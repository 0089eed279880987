#include "parley/config/node.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace parley::config {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

Node parse(std::string_view text) {
  return Node::parse(text, "c.yaml");
}

/// The complaint that `work` throws, or "no complaint".
std::string complaint(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, Errc::configuration);
    return failure.what();
  }
  return "no complaint";
}

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(Node, ReadsEveryKindOfValue) {
  const auto node = parse(R"(
flag: true
count: 42
hex: 0x1F
ratio: 1.5e2
name: "two words"
mode: fast
wait: 1.5s
size: 64KB
plain_size: 77
words: [a, "b c", 3]
word: alone
nothing:
tilde: ~
)");
  EXPECT_TRUE(node.get("flag", false));
  EXPECT_EQ(node.get("count", 1, 0, 100), 42);
  EXPECT_EQ(node.get("hex", std::size_t{0}, 0, 100), 31U);
  EXPECT_DOUBLE_EQ(node.get("ratio", 0.0, 0.0, 1000.0), 150);
  EXPECT_DOUBLE_EQ(node.get("count", 0.0, 0.0, 1000.0), 42);
  EXPECT_EQ(node.get("name", "x"), "two words");
  EXPECT_EQ(node.get("count", "x"), "42");
  EXPECT_EQ(node.get_choice("mode", "slow", {"slow", "fast"}), "fast");
  EXPECT_EQ(node.get("wait", 1ms, 0ms, 1h), 1500ms);
  EXPECT_EQ(node.get_bytes("size", 1, 0, 1 << 20), 65536U);
  EXPECT_EQ(node.get_bytes("plain_size", 1, 0, 1 << 20), 77U);
  EXPECT_THAT(node.get_strings("words", {}), ElementsAre("a", "b c", "3"));
  EXPECT_THAT(node.get_strings("word", {}), ElementsAre("alone"));
  EXPECT_EQ(node.require("name"), "two words");
  EXPECT_FALSE(node.has("nothing"));
  EXPECT_FALSE(node.child("tilde"));
  EXPECT_EQ(node.get("nothing", 7, 0, 9), 7);
  EXPECT_NO_THROW(node.finish());
}

TEST(Node, FallsBackWhereAKeyIsAbsent) {
  const auto node = parse("{}");
  EXPECT_TRUE(node.get("a", true));
  EXPECT_EQ(node.get("a", std::uint16_t{8000}, 1, 65535), 8000);
  EXPECT_EQ(node.get("a", -0.5, -1, 1), -0.5);
  EXPECT_EQ(node.get("a", "text"), "text");
  EXPECT_EQ(node.get("a", std::string("text")), "text");
  EXPECT_EQ(node.get_choice("a", "x", {"x", "y"}), "x");
  EXPECT_EQ(node.get("a", Millis(5), 0ms, 9ms), 5ms);
  EXPECT_EQ(node.get_bytes("a", 5, 0, 9), 5U);
  EXPECT_THAT(node.get_strings("a", {"p", "q"}), ElementsAre("p", "q"));
  EXPECT_TRUE(node.items("a").empty());
  EXPECT_FALSE(node.has("a"));
}

struct Duration {
  const char* text;
  Millis value;
};

TEST(Node, ReadsDurations) {
  for (const auto& [text, value] :
       {Duration{"250ms", 250ms}, Duration{"0s", 0ms}, Duration{"1.5s", 1500ms}, Duration{"0.25s", 250ms},
        Duration{"2m", 2min}, Duration{"1h", 1h}, Duration{"7d", 168h}, Duration{"\"10s\"", 10s}}) {
    EXPECT_EQ(parse("t: " + std::string(text)).get("t", 1ms, 0ms, Millis::max()), value) << text;
  }
}

struct Wrong {
  const char* yaml;
  std::function<void(const Node&)> read;
  const char* expected;  ///< the end of the complaint
};

TEST(Node, ComplainsAboutWrongValues) {
  const auto flag = [](const Node& n) { n.get("k", true); };
  const auto count = [](const Node& n) { n.get("k", 1, 1, 10); };
  const auto number = [](const Node& n) { n.get("k", 0.5, 0.0, 1.0); };
  const auto text = [](const Node& n) { n.get("k", "x"); };
  const auto wait = [](const Node& n) { n.get("k", 1s, 100ms, 1h); };
  const auto size = [](const Node& n) { n.get_bytes("k", 1024, 512, 4096); };
  const auto choice = [](const Node& n) { n.get_choice("k", "low", {"low", "mid", "high"}); };
  const auto strings = [](const Node& n) { n.get_strings("k", {}); };
  const auto required = [](const Node& n) { n.require("k"); };
  const auto items = [](const Node& n) { n.items("k"); };
  const auto inside = [](const Node& n) { n.child("k")->get("x", 1, 0, 2); };
  const std::string wait_range = "expected a duration with its unit (ms, s, m, h or d), 100ms to 1h";
  const Wrong table[] = {
      {"k: yes", flag, "this is \"yes\"; expected true or false"},
      {"k: 1", flag, "expected true or false"},
      {"k: [true]", flag, "this is a list; expected true or false"},
      {"k: ten", count, "this is \"ten\"; expected a whole number, 1 to 10"},
      {"k: 0", count, "expected a whole number, 1 to 10"},
      {"k: 11", count, "expected a whole number, 1 to 10"},
      {"k: 1.0", count, "expected a whole number, 1 to 10"},
      {"k: 5x", count, "expected a whole number, 1 to 10"},
      {"k: +-5", count, "expected a whole number, 1 to 10"},
      {"k: 99999999999999999999", count, "expected a whole number, 1 to 10"},
      {"k: {a: 1}", count, "this is a map; expected a whole number, 1 to 10"},
      {"k: ''", count, "this is \"\"; expected a whole number, 1 to 10"},
      {"k: 1.5", number, "expected a number, 0 to 1"},
      {"k: .nan", number, "expected a number, 0 to 1"},
      {"k: inf", number, "expected a number, 0 to 1"},
      {"k: 1e999", number, "expected a number, 0 to 1"},
      {"k: -0.1", number, "expected a number, 0 to 1"},
      {"k: [a]", text, "this is a list; expected text"},
      {"k: {a: b}", text, "this is a map; expected text"},
      {"k: 250", wait, wait_range.c_str()},
      {"k: 0", wait, wait_range.c_str()},
      {"k: 50ms", wait, wait_range.c_str()},
      {"k: 2h", wait, wait_range.c_str()},
      {"k: -1s", wait, wait_range.c_str()},
      {"k: 1 s", wait, wait_range.c_str()},
      {"k: 1sec", wait, wait_range.c_str()},
      {"k: 1S", wait, wait_range.c_str()},
      {"k: 0.0005s", wait, wait_range.c_str()},
      {"k: 1.5.5s", wait, wait_range.c_str()},
      {"k: .s", wait, wait_range.c_str()},
      {"k: ms", wait, wait_range.c_str()},
      {"k: 99999999999999999999999d", wait, wait_range.c_str()},
      {"k: 1KB5", size, "expected a size such as 512B, 64KB or 4MB, 512B to 4KB"},
      {"k: 5KB", size, "512B to 4KB"},
      {"k: 100", size, "512B to 4KB"},
      {"k: -1", size, "512B to 4KB"},
      {"k: 1kb", size, "512B to 4KB"},
      {"k: 1.0005KB", size, "512B to 4KB"},
      {"k: 9999999999999999999GB", size, "512B to 4KB"},
      {"k: hihg", choice, "this is \"hihg\"; expected low, mid or high"},
      {"k: High", choice, "expected low, mid or high"},
      {"k: {a: b}", strings, "this is a map; expected text or a list of texts"},
      {"k: [a, [b]]", strings, "c.yaml:1: k[1]: this is a list; expected text"},
      {"j: 1", required, "c.yaml:1: k: this key is missing; expected text"},
      {"k: ''", required, "expected text that is not empty"},
      {"k:", required, "this key is missing; expected text"},
      {"k: x", items, "this is \"x\"; expected a list"},
      {"k: 5", inside, "c.yaml:1: k: this is \"5\"; expected a map of settings"},
      {"k: {x: 9}", inside, "c.yaml:1: k.x: this is \"9\"; expected a whole number, 0 to 2"},
      {"k: \"\\x1b[0m\"", flag, "this is \"?[0m\"; expected true or false"},
      {"k: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", flag,
       "this is \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…\"; expected true or false"},
  };
  for (const auto& wrong : table) {
    const auto node = parse(wrong.yaml);
    const auto said = complaint([&] { wrong.read(node); });
    EXPECT_THAT(said, EndsWith(wrong.expected)) << wrong.yaml;
    EXPECT_THAT(said, StartsWith("c.yaml:1: k")) << wrong.yaml;
  }
}

TEST(Node, SaysWhereItIs) {
  const auto node = parse("a:\n  # a comment\n  b:\n    - x: 1\n    - x: wrong\n");
  const auto elements = node.child("a")->items("b");
  ASSERT_EQ(elements.size(), 2U);
  EXPECT_EQ(node.child("a")->line(), 1);
  EXPECT_EQ(elements[1].path(), "a.b[1]");
  EXPECT_EQ(elements[1].line(), 5);
  EXPECT_EQ(complaint([&] { elements[1].get("x", 1, 0, 2); }),
            "c.yaml:5: a.b[1].x: this is \"wrong\"; expected a whole number, 0 to 2");
  EXPECT_EQ(complaint([&] { elements[0].fail("no"); }), "c.yaml:4: a.b[0]: no");
  EXPECT_EQ(complaint([&] { elements[0].fail("x", "no"); }), "c.yaml:4: a.b[0].x: no");
  EXPECT_EQ(complaint([&] { node.fail("z", "no"); }), "c.yaml:1: z: no");
  EXPECT_EQ(complaint([&] { node.fail("no"); }), "c.yaml:1: no");
  EXPECT_EQ(Node::parse("a: 1", "/etc/parley/p.yaml").directory(), "/etc/parley");
  EXPECT_EQ(node.directory(), ".");
}

struct BadDocument {
  std::string text;
  const char* expected;
};

TEST(Node, RefusesBrokenDocuments) {
  const BadDocument table[] = {
      {"", "c.yaml:1: there is nothing in this file; expected a map of settings"},
      {"# only a comment\n", "c.yaml:1: there is nothing in this file"},
      {"---\n", "c.yaml:1: there is nothing in this file"},
      {"just text", "c.yaml:1: this is \"just text\"; expected a map of settings"},
      {"- a\n- b\n", "c.yaml:1: this is a list; expected a map of settings"},
      {"a: 1\nb: [1, 2\nc: 3\n", "this is not valid YAML"},
      {"a: 1\n b: 2\n", "c.yaml:2: this is not valid YAML"},
      {"a:\n\t- 1\n", "c.yaml:2: this is not valid YAML"},
      {"a: \"open\n", "this is not valid YAML"},
      {"a: \"open\nb: 1\n", "this is not valid YAML"},
      {"a: 'open\nb: 1", "this is not valid YAML"},
      {"a: *nobody\n", "c.yaml:1: this is not valid YAML"},
      {"a: 1\nb: 2\na: 3\n", "c.yaml:3: the key \"a\" is already there in line 1; expected each key once"},
      {"a: {b: 1, b: 2}\n", "c.yaml:1: the key \"b\" is already there in line 1"},
      {"a: 1\n---\nb: 2\n", "a second document begins here; expected only one"},
      {"? [a, b]\n: 1\n", "a map or a list cannot be a key"},
      {"? {a: b}\n: 1\n", "a map or a list cannot be a key"},
      {": 1\n", "a key is missing here"},
      {"a: &x 1\n*x : 2\n", "c.yaml:2: an alias cannot be a key"},
      {"a: &x [1, *x]\n", "c.yaml:1: this alias refers to what it is itself a part of"},
      {"a: b\nc: \xff\xfe\n", "c.yaml:2: the file is not UTF-8 text"},
      {"a: \xc0\xaf\n", "not UTF-8"},
      {"a: \xed\xa0\x80\n", "not UTF-8"},
      {"a: \xf5\x80\x80\x80\n", "not UTF-8"},
      {"a: \xe2\x82", "not UTF-8"},
      {std::string("a: 1\nb: \0 2\n", 12), "c.yaml:2: there is a control character here"},
      {"a: 1\x04\nb: 2\n", "c.yaml:1: there is a control character here"},
      {std::string("\xff\xfe") + std::string("a\0:\0", 4), "c.yaml:1: the file is not UTF-8 text"},
      {"a: " + std::string(65, '[') + std::string(65, ']'), "nested too deeply; expected at most 64 levels"},
      {std::string(100'000, '['), "c.yaml:1: "},
      {"a: " + std::string(100'000, '{'), "c.yaml:1: "},
  };
  for (const auto& bad : table) {
    EXPECT_THAT(complaint([&] { parse(bad.text); }), HasSubstr(bad.expected)) << bad.text.substr(0, 60);
  }
}

TEST(Node, TakesWhatYamlAllows) {
  const auto node = parse(
      "\xef\xbb\xbf"
      "base: &base {x: 1, y: [1, 2]}\nother: *base\n\"quoted key\": ünïcode\nlong: |\n  one\n  two\nfold: "
      ">-\n"
      "  three\n  four\r\n");
  EXPECT_EQ(node.child("other")->get("x", 0, 0, 5), 1);
  EXPECT_EQ(node.child("other")->path(), "other");
  EXPECT_EQ(node.get("quoted key", ""), "ünïcode");
  EXPECT_EQ(node.get("long", ""), "one\ntwo\n");
  EXPECT_EQ(node.get("fold", ""), "three four");
  // What was read through one alias is not read through the other.
  EXPECT_THAT(complaint([&] { node.finish(); }), HasSubstr("base"));
}

TEST(Node, RefusesFilesThatCannotBeRead) {
  const auto directory = std::filesystem::path(testing::TempDir()) / "parley-node-test";
  std::filesystem::create_directories(directory);
  const auto file = directory / "c.yaml";
  const auto write = [&](const std::string& text) { std::ofstream(file, std::ios::binary) << text; };

  EXPECT_EQ(complaint([&] { Node::load(directory / "none.yaml"); }),
            (directory / "none.yaml").string() + ": there is no such file; expected a configuration in YAML");
  EXPECT_EQ(complaint([&] { Node::load(directory); }),
            directory.string() + ": this is a directory; expected a file of YAML");
  write("");
  EXPECT_EQ(complaint([&] { Node::load(file); }),
            file.string() + ":1: there is nothing in this file; expected a map of settings");
  write("a: 1\n" + std::string(1024 * 1024, '#'));
  EXPECT_EQ(complaint([&] { Node::load(file); }),
            file.string() + ": the file is too large; expected at most 1MB");
  write("a: 1\n");
  EXPECT_EQ(Node::load(file).get("a", 0, 0, 9), 1);
  EXPECT_EQ(Node::load(file).directory(), directory);
  EXPECT_THAT(complaint([&] { Node::load(file / "below"); }), HasSubstr("below: "));
  if (geteuid() != 0) {
    std::filesystem::permissions(file, std::filesystem::perms::none);
    EXPECT_EQ(complaint([&] { Node::load(file); }),
              file.string() + ": the file cannot be read; expected one that this user may read");
  }
  std::filesystem::remove_all(directory);
}

TEST(Node, ReplacesVariables) {
  const Variable set("PARLEY_TEST_SET", "42");
  const Variable blank("PARLEY_TEST_BLANK", "");
  unsetenv("PARLEY_TEST_UNSET");
  const std::pair<const char*, const char*> good[] = {
      {"${PARLEY_TEST_SET}", "42"},
      {"<${PARLEY_TEST_SET}-${PARLEY_TEST_SET}>", "<42-42>"},
      {"'${PARLEY_TEST_SET}'", "42"},
      {"${PARLEY_TEST_UNSET:-7}", "7"},
      {"${PARLEY_TEST_UNSET:-}", ""},
      {"${PARLEY_TEST_BLANK:-7}", "7"},
      {"${PARLEY_TEST_BLANK}", ""},
      {"${PARLEY_TEST_SET:-7}", "42"},
      {"${PARLEY_TEST_UNSET:-http://h:1/a-b}", "http://h:1/a-b"},
      {"$${PARLEY_TEST_SET}", "${PARLEY_TEST_SET}"},
      {"$5 and $$ and }", "$5 and $$ and }"},
  };
  for (const auto& [text, expected] : good) {
    const auto node = parse("k: " + std::string(text));
    EXPECT_EQ(node.get("k", "?"), expected) << text;
    EXPECT_EQ(node.child("k")->has_variables(), std::string_view(text).find("${") != std::string_view::npos);
  }
  const std::pair<const char*, const char*> bad[] = {
      {"${PARLEY_TEST_UNSET}", "PARLEY_TEST_UNSET is not set"},
      {"a${", "expected ${NAME}"},
      {"${}", "expected ${NAME}"},
      {"${A-B}", "expected ${NAME}"},
      {"${1A}", "expected ${NAME}"},
      {"${A:-${B}}", "expected ${NAME}"},
      {"${:-x}", "expected ${NAME}"},
  };
  for (const auto& [text, expected] : bad) {
    const auto node = parse("\nk: '" + std::string(text) + "'");
    const auto said = complaint([&] { node.get("k", "?"); });
    EXPECT_THAT(said, StartsWith("c.yaml:2: k: ")) << text;
    EXPECT_THAT(said, HasSubstr(expected)) << text;
    EXPECT_EQ(complaint([&] { node.json(); }).find("no complaint"), std::string::npos) << text;
  }
  EXPECT_EQ(parse("k: ${PARLEY_TEST_SET}").get("k", 0, 0, 100), 42);
}

TEST(Node, ComplainsAboutUnknownKeys) {
  const auto node = parse("server:\n  port: 1\n  threds: 2\nother: 3\n");
  const auto server = node.child("server");
  server->get("port", 0, 0, 9);
  server->get("threads", 0, 0, 9);
  node.get("other", 0, 0, 9);
  EXPECT_EQ(complaint([&] { node.finish(); }),
            "c.yaml:3: server.threds: this key is not known here; did you mean threads?");
  // A copy, or the same child again, has the same record.
  const Node copy = *server;
  copy.get("threds", 0, 0, 9);
  node.child("server")->get("port", 0, 0, 9);
  EXPECT_NO_THROW(node.finish());

  const auto far = parse("xyz: 1\nuvw: 2\n");
  far.has("alpha");
  far.has("beta");
  EXPECT_EQ(complaint([&] { far.finish(); }),
            "c.yaml:1: xyz: this key is not known here, nor is uvw (line 2); expected alpha or beta");
  EXPECT_EQ(complaint([&] { parse("a: 1").finish(); }),
            "c.yaml:1: a: this key is not known here; expected nothing here");
}

TEST(Node, FinishGoesIntoListsButNotWhereItIsDeferred) {
  const auto node = parse("list:\n  - {a: 1, b: 2}\nmap: {one: {a: 1, c: 3}}\n");
  for (const auto& item : node.items("list")) item.get("a", 0, 0, 9);
  const auto entries = node.child("map")->entries();
  ASSERT_EQ(entries.size(), 1U);
  entries[0].second.get("a", 0, 0, 9);
  entries[0].second.defer();
  EXPECT_THAT(complaint([&] { node.finish(); }), StartsWith("c.yaml:2: list[0].b: "));
  node.items("list")[0].has("b");
  EXPECT_NO_THROW(node.finish());
  EXPECT_THAT(complaint([&] { entries[0].second.finish(); }), StartsWith("c.yaml:3: map.one.c: "));
}

TEST(Node, ListsAbsentKeys) {
  const auto node = parse("a: {b: 1}\n");
  node.child("a")->get("b", 0, 0, 9);
  node.child("a")->get("c", 0, 0, 9);
  node.has("d");
  EXPECT_THAT(node.absent_keys(), ElementsAre("d", "a.c"));
}

TEST(Node, BecomesJson) {
  const Variable set("PARLEY_TEST_SET", "0.5");
  const auto node = parse(R"(
plain: [1, -2, +3, 0x10, 0o17, 1.5, 1e3, .5, true, False, null, ~, , yes, 1_000, 0777, .inf, 2024-01-01, a b]
quoted: ["1", 'true', "null", "", "${PARLEY_TEST_SET}"]
variable: ${PARLEY_TEST_SET}
map: {b: {c: []}, "1": {}}
empty:
)");
  EXPECT_EQ(node.json(), nlohmann::json::parse(R"({
    "plain": [1, -2, 3, 16, 15, 1.5, 1000.0, 0.5, true, false, null, null, null, "yes", "1_000", 777, ".inf",
              "2024-01-01", "a b"],
    "quoted": ["1", "true", "null", "", "0.5"],
    "variable": 0.5,
    "map": {"b": {"c": []}, "1": {}},
    "empty": null})"));
  EXPECT_NO_THROW(node.finish());
}

TEST(Node, DoesNotWriteOutBillionsOfAliases) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const auto below = std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) text += "*a" + below + (j < 9 ? ", " : "]\n");
  }
  const auto node = parse(text);
  EXPECT_THAT(complaint([&] { node.json(); }), HasSubstr("at most 100000 values"));
}

TEST(Nearest, FindsWhatWasMeant) {
  const std::vector<std::string> names = {"threads", "thread", "port", "vad", "persona"};
  EXPECT_EQ(nearest("threds", names), "threads");
  EXPECT_EQ(nearest("thread", names), "thread");
  EXPECT_EQ(nearest("prot", names), "port");
  EXPECT_EQ(nearest("vda", names), "vad");
  EXPECT_EQ(nearest("personality", names), "");
  EXPECT_EQ(nearest("persoma", names), "persona");
  EXPECT_EQ(nearest("pt", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("abc", {}), "");
}

}  // namespace
}  // namespace parley::config
