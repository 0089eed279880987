#include "providers/intents/grammar.hpp"

#include <gtest/gtest.h>
#include <sphinxbase/err.h>
#include <sphinxbase/jsgf.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "support.hpp"

namespace parley::providers::intents {
namespace {

using test::everything;

/// A grammar as pocketsphinx has it.
class Network {
 public:
  explicit Network(const std::string& jsgf) {
    err_set_logfp(nullptr);
    grammar_ = jsgf_parse_string(jsgf.c_str(), nullptr);
    if (grammar_ == nullptr) return;
    log_ = logmath_init(1.0001, 0, 0);
    jsgf_rule_t* rule = jsgf_get_public_rule(grammar_);
    if (rule != nullptr) network_ = jsgf_build_fsg(grammar_, rule, log_, 1.0F);
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  Network(Network&&) = delete;
  Network& operator=(Network&&) = delete;
  ~Network() {
    if (network_ != nullptr) fsg_model_free(network_);
    if (log_ != nullptr) logmath_free(log_);
    if (grammar_ != nullptr) jsgf_grammar_free(grammar_);
  }

  bool good() const { return network_ != nullptr; }

  bool accepts(const std::vector<std::string>& words) const {
    std::set<int> states = closure({fsg_model_start_state(network_)});
    for (const std::string& word : words) {
      std::set<int> next;
      for (const int state : states) {
        for (fsg_arciter_t* arc = fsg_model_arcs(network_, state); arc != nullptr;
             arc = fsg_arciter_next(arc)) {
          const fsg_link_t* link = fsg_arciter_get(arc);
          if (fsg_link_wid(link) >= 0 && word == fsg_model_word_str(network_, fsg_link_wid(link))) {
            next.insert(fsg_link_to_state(link));
          }
        }
      }
      states = closure(next);
    }
    return states.contains(fsg_model_final_state(network_));
  }

  /// A random way through it.
  std::string walk(std::mt19937& random) const {
    std::string out;
    int state = fsg_model_start_state(network_);
    while (state != fsg_model_final_state(network_)) {
      std::vector<const fsg_link_t*> links;
      for (fsg_arciter_t* arc = fsg_model_arcs(network_, state); arc != nullptr;
           arc = fsg_arciter_next(arc)) {
        links.push_back(fsg_arciter_get(arc));
      }
      if (links.empty()) return out + " (stuck)";
      const fsg_link_t* link = links[std::uniform_int_distribution<std::size_t>(0, links.size() - 1)(random)];
      if (fsg_link_wid(link) >= 0)
        out += (out.empty() ? "" : " ") + std::string(fsg_model_word_str(network_, fsg_link_wid(link)));
      state = fsg_link_to_state(link);
    }
    return out;
  }

 private:
  std::set<int> closure(std::set<int> states) const {
    std::vector<int> open(states.begin(), states.end());
    while (!open.empty()) {
      const int state = open.back();
      open.pop_back();
      for (fsg_arciter_t* arc = fsg_model_arcs(network_, state); arc != nullptr;
           arc = fsg_arciter_next(arc)) {
        const fsg_link_t* link = fsg_arciter_get(arc);
        if (fsg_link_wid(link) < 0 && states.insert(fsg_link_to_state(link)).second)
          open.push_back(fsg_link_to_state(link));
      }
    }
    return states;
  }

  jsgf_t* grammar_ = nullptr;
  logmath_t* log_ = nullptr;
  fsg_model_t* network_ = nullptr;
};

/// Whatever the templates allow is in the grammar, and means its own intent; whatever the grammar allows is
/// understood.
void check_both_ways(const Catalog& catalog) {
  const Matcher matcher(catalog);
  const auto grammar = make_grammar(catalog, everything(catalog));
  const Network network(grammar.jsgf);
  ASSERT_TRUE(network.good()) << grammar.jsgf;
  const std::set<std::string> words(grammar.words.begin(), grammar.words.end());
  EXPECT_EQ(words.size(), grammar.words.size());
  EXPECT_TRUE(std::is_sorted(grammar.words.begin(), grammar.words.end()));

  test::Sampler sampler(catalog);
  for (std::size_t i = 0; i < catalog.intents.size(); ++i) {
    for (const Sentence& sentence : catalog.intents[i].sentences) {
      for (int n = 0; n < 60; ++n) {
        const test::Sample sample = sampler.sentence(sentence);
        const auto reading = matcher.read(sample.text(), everything(catalog));
        ASSERT_TRUE(reading) << sample.text();
        EXPECT_EQ(catalog.intents[reading->intent].name, catalog.intents[i].name) << sample.text();
        EXPECT_EQ(reading->slots, sample.slots) << sample.text();
        if (reading->guessed > 0) continue;
        EXPECT_TRUE(network.accepts(sample.words)) << sample.text();
        for (const std::string& word : sample.words) EXPECT_TRUE(words.contains(word)) << word;
      }
    }
  }
  std::mt19937 random(7);
  for (int n = 0; n < 4000; ++n) {
    const std::string text = network.walk(random);
    const bool understood =
        matcher.read(text, everything(catalog)) || matcher.answer(text) != Answer::neither;
    EXPECT_TRUE(understood) << text;
  }
}

TEST(Grammar, OfTheBuiltInIntentsIsWhatIsUnderstood) {
  check_both_ways(test::builtin_catalog());
}

TEST(Grammar, OfTheCoffeeMachineIsWhatIsUnderstood) {
  check_both_ways(test::coffee_catalog());
}

TEST(Grammar, OfEveryConstructIsWhatIsUnderstood) {
  check_both_ways(test::catalog_of(R"yaml(
before: "[hey|ok] [[dear] friend]"
rules:
  polite: "[please]"
  nested: "<polite> [[very] much]"
lists:
  tens: {range: {from: -20, to: 120, step: 10}}
  many: {range: {from: 990, to: 1210}}
  color: ["[dark] (red|blue)", {in: [green, "light green"], out: 3}]
  rest: {wildcard: true}
intents:
  all: {sentences: "go (a;[b];[c] d) <nested>", reply: x}
  free: {sentences: "take ([a];[b];[{color}]) now", reply: x}
  optional: {sentences: "light[s] [{tens}] [off]", reply: x}
  count: {sentences: "count to {many}", reply: x, confirm: true}
  what: {sentences: ["what [{rest}]", "tell me (more|{rest}) soon"], reply: x}
)yaml"));
}

TEST(Grammar, HoldsNoWildcards) {
  const Catalog catalog = test::catalog_of(R"yaml(
lists: {rest: {wildcard: true}}
intents:
  one: {sentences: ["ask {rest}", "ask [about {rest}] now", "say (hello|{rest})", "go (a;{rest})", "go (b;[{rest}])"], reply: x}
)yaml");
  const auto grammar = make_grammar(catalog, everything(catalog));
  EXPECT_EQ(grammar.words, (std::vector<std::string>{"ask", "b", "go", "hello", "now", "say"}))
      << grammar.jsgf;
  const Network network(grammar.jsgf);
  ASSERT_TRUE(network.good()) << grammar.jsgf;
  EXPECT_TRUE(network.accepts({"ask", "now"}));
  EXPECT_FALSE(network.accepts({"ask"}));
  EXPECT_TRUE(network.accepts({"say", "hello"}));
  EXPECT_TRUE(network.accepts({"go", "b"}));
}

TEST(Grammar, HoldsOnlyWhatIsInForce) {
  const Catalog catalog = test::builtin_catalog();
  std::vector<bool> allowed(catalog.intents.size(), false);
  EXPECT_TRUE(make_grammar(catalog, allowed).jsgf.empty());
  for (std::size_t i = 0; i < allowed.size(); ++i) allowed[i] = catalog.intents[i].name == "lamp_on";
  const auto grammar = make_grammar(catalog, allowed);
  const Network network(grammar.jsgf);
  ASSERT_TRUE(network.good());
  EXPECT_TRUE(network.accepts({"turn", "on", "the", "lamp"}));
  EXPECT_FALSE(network.accepts({"turn", "off", "the", "lamp"}));
  EXPECT_FALSE(network.accepts({"yes"}));
  EXPECT_EQ(grammar.jsgf.find("volume"), std::string::npos);
  EXPECT_TRUE(grammar.pronunciations.empty());
}

TEST(Grammar, HoldsYesAndNoWhereSomethingAsks) {
  const Catalog catalog = test::catalog_of("intents: {one: {sentences: reset, reply: x, confirm: true}}");
  const Network network(make_grammar(catalog, {true}).jsgf);
  EXPECT_TRUE(network.accepts({"yes"}));
  EXPECT_TRUE(network.accepts({"never", "mind"}));
}

TEST(Grammar, EqualGrammarsHaveEqualIds) {
  const Catalog catalog = test::builtin_catalog();
  const auto one = make_grammar(catalog, everything(catalog));
  EXPECT_EQ(one.id, make_grammar(test::builtin_catalog(), everything(catalog)).id);
  EXPECT_EQ(one.pronunciations.at("unmute"), std::vector<std::string>{"AH N M Y UW T"});
  auto fewer = everything(catalog);
  fewer[0] = false;
  EXPECT_NE(one.id, make_grammar(catalog, fewer).id);
  const char* yaml = "intents: {one: {sentences: zig, reply: x}}\npronunciations: {zig: ";
  EXPECT_NE(make_grammar(test::catalog_of(yaml + std::string("Z IH G}")), {true}).id,
            make_grammar(test::catalog_of(yaml + std::string("Z AY G}")), {true}).id);
}

TEST(Grammar, OtherLanguagesGoWithoutRanges) {
  const Catalog catalog = test::catalog_of(
      "language: de\nlists: {zahl: {range: {from: 0, to: 9}}}\n"
      "intents: {one: {sentences: ['licht an', 'licht auf {zahl}'], reply: x}}");
  const auto grammar = make_grammar(catalog, {true});
  EXPECT_EQ(grammar.words, (std::vector<std::string>{"an", "licht"}));
  EXPECT_TRUE(Matcher(catalog).read("Licht auf 5.", {true}));
}

TEST(Grammar, TheDictionaryHasEveryWord) {
  const std::filesystem::path file = "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no dictionary here";
  std::set<std::string> known;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) known.insert(line.substr(0, line.find(' ')));
  for (const Catalog& catalog : {test::builtin_catalog(), test::coffee_catalog()}) {
    for (const std::string& word : make_grammar(catalog, everything(catalog)).words) {
      EXPECT_TRUE(known.contains(word) || catalog.pronunciations.contains(word)) << word;
    }
    for (const auto& [word, phones] : catalog.pronunciations) EXPECT_FALSE(known.contains(word)) << word;
  }
}

}  // namespace
}  // namespace parley::providers::intents
