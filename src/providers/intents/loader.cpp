#include "providers/intents/loader.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "providers/intents/action_loader.hpp"
#include "providers/intents/analysis.hpp"
#include "providers/intents/numbers.hpp"
#include "providers/intents/words.hpp"

namespace parley::providers::intents {
namespace {

using config::Node;

constexpr std::int64_t kMaxNumber = 999'999;
constexpr std::int64_t kMaxRange =
    1001;  ///< values that a range may have: all of them are spelled for recognisers

constexpr std::string_view kYes =
    "yes|yeah|yep|yup|sure|ok|okay|correct|right|please do|do it|go ahead|of course|that's right|yes please|"
    "(yes|yeah) (do it|go ahead|i do|sure)";
constexpr std::string_view kNo =
    "no|nope|no thanks|no thank you|don't|do not|no don't|cancel|never mind|stop";

struct DefaultReply {
  std::string_view key;
  ReplyText Replies::*text;
  std::string_view otherwise;
};
constexpr std::array<DefaultReply, 8> kReplies{{
    {"unavailable", &Replies::unavailable, "I can't do that on this device."},
    {"failed", &Replies::failed, "That didn't work[: {error}]."},
    {"invalid", &Replies::invalid, "I can't set that."},
    {"out_of_range", &Replies::out_of_range, "I can only do that from {from} to {to}."},
    {"missing", &Replies::missing, "I couldn't find that out."},
    {"done", &Replies::done, "Done."},
    {"confirm", &Replies::confirm, "Do you want me to {said}?"},
    {"declined", &Replies::declined, "Okay, I won't."},
}};

class Loader {
 public:
  explicit Loader(const std::vector<Node>& documents) : documents_(documents) {}

  Catalog run() {
    read_language();
    for (const Node& document : documents_) {
      read_frame(document);
      read_rules(document);
      read_lists(document);
      read_ignored(document);
      read_pronunciations(document);
    }
    run_checks();
    for (std::size_t i = 0; i < documents_.size(); ++i) read_intents(documents_[i], i);
    read_replies();
    read_answers();
    return std::move(catalog_);
  }

 private:
  void read_language() {
    const Node* first = nullptr;
    for (const Node& document : documents_) {
      if (!document.has("language")) continue;
      const std::string language = document.require("language");
      if (first != nullptr && language != catalog_.language) {
        document.fail("language", "expected `" + catalog_.language + "`, as in " + first->path());
      }
      first = &document;
      catalog_.language = language;
    }
  }

  Part sentence(const Node& place, std::string_view text) const {
    auto part = parse_sentence(text, catalog_.language);
    if (!part) place.fail(part.error().message);
    return *std::move(part);
  }
  Part sentence(const Node& place) const {
    if (!place.is_scalar()) place.fail("expected a sentence");
    return sentence(place, place.text());
  }
  /// A sentence, or a sequence of them.
  Part sentences(const Node& place) const {
    if (!place.is_sequence()) return sentence(place);
    Part choice{.kind = Part::Kind::choice};
    for (const Node& element : place.elements()) choice.parts.push_back(sentence(element));
    if (choice.parts.empty()) place.fail("expected at least one sentence");
    return choice;
  }

  void read_frame(const Node& document) {
    Frame frame;
    if (const auto before = document.child("before")) {
      frame.before = sentences(*before);
      checks_.push_back({.place = *before, .part = *frame.before, .without_slots = true});
    }
    if (const auto after = document.child("after")) {
      frame.after = sentences(*after);
      checks_.push_back({.place = *after, .part = *frame.after, .without_slots = true});
    }
    catalog_.frames.push_back(std::move(frame));
  }

  void read_rules(const Node& document) {
    const auto rules = document.child("rules");
    if (!rules) return;
    for (const auto& [name, node] : rules->entries()) {
      if (!is_name(name)) node.fail("expected a name of letters, digits and `_`");
      Part part = sentences(node);
      checks_.push_back({.place = node, .part = part});
      catalog_.rules.emplace(name, std::move(part));
    }
  }

  void read_lists(const Node& document) {
    const auto lists = document.child("lists");
    if (!lists) return;
    for (const auto& [name, node] : lists->entries()) {
      if (!is_name(name)) node.fail("expected a name of letters, digits and `_`");
      if (is_reserved(name)) node.fail("`" + name + "` means something else in replies");
      catalog_.lists.emplace(name, list(node));
    }
  }

  List list(const Node& node) {
    if (node.is_sequence()) return values(node, node.elements());
    if (!node.is_map()) node.fail("expected `values`, `range` or `wildcard`");
    const int kinds = int{node.has("values")} + int{node.has("range")} + int{node.has("wildcard")};
    if (kinds != 1) node.fail("expected one of `values`, `range` and `wildcard`");
    if (const auto range = node.child("range")) return range_list(*range);
    if (node.has("values")) return values(node, node.items("values"));
    if (!node.get("wildcard", false)) node.fail("wildcard", "expected true");
    return {.kind = List::Kind::wildcard};
  }

  List range_list(const Node& range) const {
    List out{.kind = List::Kind::range};
    if (!range.has("from") || !range.has("to")) range.fail("expected `from` and `to`");
    out.from = range.get("from", 0, -kMaxNumber, kMaxNumber);
    out.to = range.get("to", 0, -kMaxNumber, kMaxNumber);
    out.step = range.get("step", 1, 1, kMaxNumber);
    if (out.from > out.to) range.fail("to", "expected a number that is not below `from`");
    if ((out.to - out.from) / out.step >= kMaxRange) range.fail("expected a range of at most 1001 numbers");
    return out;
  }

  List values(const Node& list, const std::vector<Node>& elements) {
    List out;
    for (const Node& element : elements) {
      if (element.is_scalar()) {
        const std::string text = element.text();
        const bool plain = text.find_first_of("[](){}<>|") == std::string::npos;
        out.values.push_back({.said = sentence(element)});
        if (plain) out.values.back().out = text;
      } else {
        const auto in = element.child("in");
        if (!in) element.fail("expected `in`: what is said");
        out.values.push_back({.said = sentences(*in)});
        if (const auto value = element.child("out")) out.values.back().out = value->json();
      }
      checks_.push_back(
          {.place = element, .part = out.values.back().said, .without_slots = true, .not_silent = true});
    }
    if (out.values.empty()) list.fail("expected at least one value");
    return out;
  }

  void read_ignored(const Node& document) {
    for (const std::string& text : document.get_strings("ignore", {})) {
      const auto words = split_words(text, catalog_.language);
      if (words.size() != 1) document.fail("ignore", "expected single words, not `" + text + "`");
      catalog_.ignored.insert(words.front().key);
    }
  }

  void read_pronunciations(const Node& document) {
    const auto all = document.child("pronunciations");
    if (!all) return;
    for (const auto& [word, node] : all->entries()) {
      const auto words = split_words(word, catalog_.language);
      if (words.size() != 1) node.fail("expected one word");
      std::vector<std::string> forms;
      if (node.is_sequence()) {
        for (const Node& element : node.elements()) forms.push_back(phones(element));
      } else {
        forms.push_back(phones(node));
      }
      if (forms.empty()) node.fail("expected phones, as in `HH AH L OW`");
      catalog_.pronunciations.emplace(words.front().text, std::move(forms));
    }
  }

  static std::string phones(const Node& node) {
    std::string text = node.is_scalar() ? node.text() : std::string();
    const bool upper =
        std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'A' && c <= 'Z') || c == ' '; });
    if (text.empty() || !upper || text.front() == ' ' || text.back() == ' ' ||
        text.find("  ") != std::string::npos) {
      node.fail("expected phones, as in `HH AH L OW`");
    }
    return text;
  }

  void read_intents(const Node& document, std::size_t frame) {
    const auto intents = document.child("intents");
    if (!intents) return;
    for (const auto& [name, node] : intents->entries()) {
      if (!node.is_map()) node.fail("expected `sentences` and what to do");
      const bool first = seen_.insert(name).second;
      const bool enabled = node.get("enabled", true);
      if (!enabled && !node.has("sentences")) continue;
      Intent intent = read_intent(name, node, frame);  // also what is replaced must be right
      if (first && enabled) catalog_.intents.push_back(std::move(intent));
    }
  }

  Intent read_intent(const std::string& name, const Node& node, std::size_t frame) const {
    Intent intent{.name = name};
    const auto all = node.child("sentences");
    if (!all) node.fail("expected `sentences`");
    for (const Node& element : all->is_sequence() ? all->elements() : std::vector<Node>{*all}) {
      intent.sentences.push_back({.part = sentence(element), .frame = frame});
      check({.place = element, .part = intent.sentences.back().part, .not_silent = true});
    }
    if (intent.sentences.empty()) all->fail("expected at least one sentence");
    std::set<std::string> slots;
    for (const Sentence& one : intent.sentences) collect_slots(catalog_, one.part, slots);
    load_actions(node, slots, intent);
    return intent;
  }

  void read_replies() {
    for (const Node& document : documents_) {
      const auto replies = document.child("replies");
      if (!replies) continue;
      if (replies->has("not_understood")) {
        auto texts = reply_texts(*replies, "not_understood", nullptr);
        if (catalog_.replies.not_understood.empty()) catalog_.replies.not_understood = std::move(texts);
      }
      for (const DefaultReply& reply : kReplies) {
        if (!replies->has(reply.key)) continue;
        auto texts = reply_texts(*replies, reply.key, nullptr);
        if (texts.size() != 1) replies->fail(reply.key, "expected one text");
        if (given_.insert(reply.key).second) catalog_.replies.*reply.text = std::move(texts.front());
      }
    }
    for (const DefaultReply& reply : kReplies) {
      if (!given_.contains(reply.key))
        catalog_.replies.*reply.text = ReplyText::parse(reply.otherwise).value();
    }
    if (catalog_.replies.not_understood.empty()) {
      catalog_.replies.not_understood = {ReplyText::parse("Sorry, I didn't understand that.").value()};
    }
  }

  void read_answers() {
    catalog_.yes = parse_sentence(kYes, catalog_.language).value();
    catalog_.no = parse_sentence(kNo, catalog_.language).value();
    bool yes = false;
    bool no = false;
    for (const Node& document : documents_) {
      const auto answers = document.child("answers");
      if (!answers) continue;
      if (const auto node = answers->child("yes"); node && !std::exchange(yes, true))
        catalog_.yes = answer(*node);
      if (const auto node = answers->child("no"); node && !std::exchange(no, true))
        catalog_.no = answer(*node);
    }
  }

  Part answer(const Node& node) const {
    Part part = sentences(node);
    check({.place = node, .part = part, .without_slots = true, .not_silent = true});
    return part;
  }

  template <class Map>
  static void require_known(const Node& place, const char* what, const std::string& name, const Map& known) {
    if (known.contains(name)) return;
    std::vector<std::string> names;
    for (const auto& [key, value] : known) names.push_back(key);
    const std::string near = config::nearest(name, names);
    place.fail(std::string("there is no ") + what + " `" + name + "`" +
               (near.empty() ? "" : "; did you mean `" + near + "`?"));
  }

  void check_references(const Node& place, const Part& part) const {
    if (part.kind == Part::Kind::rule) require_known(place, "rule", part.text, catalog_.rules);
    if (part.kind == Part::Kind::list) require_known(place, "list", part.text, catalog_.lists);
    if (part.kind == Part::Kind::list && is_reserved(part.slot)) {
      place.fail("`" + part.slot + "` means something else in replies; name the slot: {" + part.text +
                 ":name}");
    }
    for (const Part& inner : part.parts) check_references(place, inner);
  }

  /// What is wrong with a sentence can be told when all rules and lists are known.
  struct Check {
    Node place;
    Part part;
    bool without_slots = false;
    bool not_silent = false;
  };

  void run_checks() {
    for (const Check& one : checks_) check_references(one.place, one.part);
    try {
      check_rules(catalog_.rules);
    } catch (const Failure& failure) {
      for (const Node& document : documents_) {
        if (document.has("rules")) document.fail("rules", failure.error().message);
      }
    }
    for (const Check& one : checks_) check(one);
  }

  void check(const Check& one) const {
    check_references(one.place, one.part);
    if (one.without_slots && has_slots(catalog_, one.part)) one.place.fail("there cannot be a list in this");
    if (one.not_silent && is_nullable(catalog_, one.part)) {
      one.place.fail("all of this may be left out; something must be said");
    }
  }

  const std::vector<Node>& documents_;
  Catalog catalog_;
  std::vector<Check> checks_;
  std::set<std::string> seen_;
  std::set<std::string_view> given_;
};

}  // namespace

Catalog load_catalog(const std::vector<config::Node>& documents) {
  return Loader(documents).run();
}

}  // namespace parley::providers::intents
