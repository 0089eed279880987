#include "providers/intents/grammar.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "parley/core/hex.hpp"
#include "providers/intents/numbers.hpp"

namespace parley::providers::intents {
namespace {

std::string alternatives(const std::vector<std::string>& options) {
  std::string out;
  for (const std::string& option : options) out += (out.empty() ? "" : " | ") + option;
  return options.size() > 1 ? "(" + out + ")" : out;
}

/// Word sequences as a tree of their beginnings, which keeps grammars of numbers small.
struct Tree {
  std::string word;
  bool end = false;
  std::vector<Tree> next;

  void add(const std::vector<std::string>& words, std::size_t at = 0) {
    if (at == words.size()) {
      end = true;
      return;
    }
    auto found =
        std::find_if(next.begin(), next.end(), [&](const Tree& branch) { return branch.word == words[at]; });
    if (found == next.end()) found = next.insert(next.end(), Tree{.word = words[at]});
    found->add(words, at + 1);
  }

  /// Words with the same continuation share it: `(twenty | thirty) [(one | two)]`.
  std::string jsgf() const {
    std::vector<std::pair<std::string, std::vector<std::string>>> groups;
    for (const Tree& branch : next) {
      std::string rest;
      if (!branch.next.empty()) rest = branch.end ? " [" + branch.jsgf() + "]" : " " + branch.jsgf();
      auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == rest; });
      if (group == groups.end()) group = groups.insert(groups.end(), {std::move(rest), {}});
      group->second.push_back(branch.word);
    }
    std::vector<std::string> options;
    for (const auto& [rest, words] : groups) options.push_back(alternatives(words) + rest);
    return alternatives(options);
  }
};

class Writer {
 public:
  Writer(const Catalog& catalog, const std::vector<bool>& allowed, bool asks)
      : catalog_(catalog), allowed_(allowed), asks_(asks) {}

  engine::SpeechGrammar run() {
    std::vector<std::string> utterances;
    bool asks = asks_;
    for (std::size_t frame = 0; frame < catalog_.frames.size(); ++frame) {
      std::vector<std::string> sentences;
      for (std::size_t i = 0; i < catalog_.intents.size(); ++i) {
        if (!allowed_[i]) continue;
        asks = asks || catalog_.intents[i].confirm;
        for (const Sentence& sentence : catalog_.intents[i].sentences) {
          if (sentence.frame != frame) continue;
          if (!can_say(sentence.part)) continue;
          if (std::string piece = write(sentence.part); !piece.empty()) sentences.push_back(std::move(piece));
        }
      }
      if (!sentences.empty()) utterances.push_back(framed(catalog_.frames[frame], frame, sentences));
    }
    if (asks) {
      for (const Part* answer : {&catalog_.yes, &catalog_.no}) {
        if (can_say(*answer)) utterances.push_back(write(*answer));
      }
    }
    if (utterances.empty()) return {};

    engine::SpeechGrammar out;
    out.jsgf = "#JSGF V1.0;\ngrammar parley;\npublic <utterance> = " + alternatives(utterances) + ";\n";
    for (const auto& [name, body] : rules_) {
      out.jsgf += "<" + name + "> = " + body + ";\n";
    }
    out.words.assign(words_.begin(), words_.end());
    std::string identity = out.jsgf;
    for (const std::string& word : out.words) {
      const auto found = catalog_.pronunciations.find(word);
      if (found == catalog_.pronunciations.end()) continue;
      out.pronunciations.insert(*found);
      for (const std::string& phones : found->second) identity += word + " " + phones + "\n";
    }
    out.id = sha256_hex(identity);
    return out;
  }

 private:
  std::string framed(const Frame& frame, std::size_t number, const std::vector<std::string>& sentences) {
    std::string body;
    for (const std::string& sentence : sentences) body += (body.empty() ? "\n    " : "\n  | ") + sentence;
    const std::string name = "sentences_" + std::to_string(number);
    rules_[name] = body;
    std::string out = "<" + name + ">";
    if (frame.before) out = write(*frame.before) + " " + out;
    if (frame.after) out += " " + write(*frame.after);
    return out;
  }

  /// Wildcards cannot be said, nor numbers in some languages.
  bool can_say(const Part& part) const {
    const auto inner = [this](const Part& one) { return can_say(one); };
    switch (part.kind) {
      case Part::Kind::word:
      case Part::Kind::optional:
        return true;
      case Part::Kind::rule:
        return can_say(catalog_.rules.at(part.text));
      case Part::Kind::choice:
        return std::any_of(part.parts.begin(), part.parts.end(), inner);
      case Part::Kind::sequence:
      case Part::Kind::permutation:
        return std::all_of(part.parts.begin(), part.parts.end(), inner);
      case Part::Kind::list:
        break;
    }
    const List& list = catalog_.lists.at(part.text);
    if (list.kind == List::Kind::range) return speaks_numbers(catalog_.language);
    return list.kind == List::Kind::values &&
           std::any_of(list.values.begin(), list.values.end(),
                       [&](const auto& value) { return can_say(value.said); });
  }

  /// JSGF for what can be said; empty where that is nothing (`[{anything}]`), which no alternative may be.
  std::string write(const Part& part) {
    switch (part.kind) {
      case Part::Kind::word:
        words_.insert(part.text);
        return part.text;
      case Part::Kind::list:
        return reference("list_" + part.text, [&] { return list(catalog_.lists.at(part.text)); });
      case Part::Kind::rule:
        return reference("rule_" + part.text, [&] { return write(catalog_.rules.at(part.text)); });
      case Part::Kind::optional: {
        const std::string inner = can_say(part.parts.front()) ? write(part.parts.front()) : "";
        return inner.empty() ? "" : "[" + inner + "]";
      }
      case Part::Kind::choice: {
        std::vector<std::string> options;
        bool nothing = false;
        for (const Part& option : part.parts) {
          if (!can_say(option)) continue;
          std::string piece = write(option);
          nothing = nothing || piece.empty();
          if (!piece.empty()) options.push_back(std::move(piece));
        }
        if (options.empty()) return "";
        return nothing ? "[" + alternatives(options) + "]" : alternatives(options);
      }
      case Part::Kind::permutation:
        return permutation(part);
      case Part::Kind::sequence:
        break;
    }
    std::string out;
    for (const Part& inner : part.parts) {
      const std::string piece = write(inner);
      if (!out.empty() && !piece.empty()) out += " ";
      out += piece;
    }
    return out;
  }

  /// The name of a rule whose body is made the first time; empty where that is.
  template <class Body>
  std::string reference(const std::string& name, Body body) {
    if (!rules_.contains(name) && !empty_.contains(name)) {
      std::string made = body();
      if (made.empty()) {
        empty_.insert(name);
      } else {
        rules_[name] = std::move(made);
      }
    }
    return empty_.contains(name) ? "" : "<" + name + ">";
  }

  std::string list(const List& list) {
    if (list.kind == List::Kind::range) {
      Tree tree;
      for (std::int64_t value = list.from; value <= list.to; value += list.step) {
        for (const auto& form : spoken_number(value, catalog_.language)) {
          words_.insert(form.begin(), form.end());
          tree.add(form);
        }
      }
      return tree.jsgf();
    }
    std::vector<std::string> options;
    for (const ListValue& value : list.values) {
      if (can_say(value.said)) options.push_back(write(value.said));
    }
    return alternatives(options);
  }

  /// Parts in any order: one of those that remain, then the others. What is optional may be left for the end,
  /// where nothing says it.
  std::string permutation(const Part& part) {
    std::vector<std::string> pieces;
    unsigned required = 0;
    for (const Part& inner : part.parts) {
      const bool optional = inner.kind == Part::Kind::optional;
      if (!can_say(optional ? inner.parts.front() : inner)) continue;
      std::string piece = write(optional ? inner.parts.front() : inner);
      if (piece.empty()) continue;
      if (!optional) required |= 1U << pieces.size();
      pieces.push_back(std::move(piece));
    }
    return remaining(pieces, required, (1U << pieces.size()) - 1);
  }

  static std::string remaining(const std::vector<std::string>& pieces, unsigned required, unsigned left) {
    if (left == 0) return "";
    std::vector<std::string> options;
    for (unsigned i = 0; i < pieces.size(); ++i) {
      if ((left >> i & 1U) == 0) continue;
      const std::string rest = remaining(pieces, required, left & ~(1U << i));
      options.push_back(pieces[i] + (rest.empty() ? "" : " ") + rest);
    }
    const std::string all = alternatives(options);
    return (left & required) == 0 ? "[" + all + "]" : all;
  }

  const Catalog& catalog_;
  const std::vector<bool>& allowed_;
  bool asks_;
  std::map<std::string, std::string> rules_;
  std::set<std::string> empty_;  ///< rules with nothing to say
  std::set<std::string> words_;
};

}  // namespace

engine::SpeechGrammar make_grammar(const Catalog& catalog, const std::vector<bool>& allowed, bool asks) {
  return Writer(catalog, allowed, asks).run();
}

}  // namespace parley::providers::intents
