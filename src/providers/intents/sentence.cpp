#include "providers/intents/sentence.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "providers/intents/words.hpp"

namespace parley::providers::intents {
namespace {

constexpr std::size_t kMaxLength = 4000;
constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxPermutation = 5;
constexpr std::size_t kMaxStrings = 64;  ///< spellings of one word with brackets in it

constexpr std::string_view kSpaces = " \t\r\n";
bool is_space(char c) {
  return kSpaces.find(c) != std::string_view::npos;
}

/// A part while its neighbours may still turn out to be pieces of the same word.
struct Item {
  Part part;
  /// Every text that it can stand for, with its spaces; empty for what has lists or rules in it.
  std::vector<std::string> strings;
};

/// Whether no space can be between them.
bool touches(const Item& left, const Item& right) {
  const auto open_end = [](const std::string& s) { return !s.empty() && !is_space(s.back()); };
  const auto open_begin = [](const std::string& s) { return !s.empty() && !is_space(s.front()); };
  return std::any_of(left.strings.begin(), left.strings.end(), open_end) &&
         std::any_of(right.strings.begin(), right.strings.end(), open_begin);
}

/// All texts of two neighbours; empty when there are too many.
std::vector<std::string> concatenate(const std::vector<std::string>& left,
                                     const std::vector<std::string>& right) {
  std::vector<std::string> out;
  if (left.size() * right.size() > kMaxStrings) return out;
  for (const auto& a : left) {
    for (const auto& b : right) out.push_back(a + b);
  }
  return out;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view language) : text_(text), language_(language) {}

  Part run() {
    if (text_.size() > kMaxLength) fail("a sentence this long", 0);
    Item all = alternatives('\0');
    return std::move(all.part);
  }

 private:
  [[noreturn]] void fail(std::string_view message, std::size_t at) const {
    throw Failure(
        Error(Errc::configuration, "column " + std::to_string(at + 1) + ": " + std::string(message)));
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  /// Up to `closer` (not consumed), or the end.
  Item alternatives(char closer) {
    if (++depth_ > kMaxDepth) fail("brackets nested too deeply", at_);
    const std::size_t begin = at_;
    std::vector<Item> options{sequence()};
    char separator = '\0';
    while (peek() == '|' || peek() == ';') {
      if (separator != '\0' && peek() != separator) fail("`|` and `;` need parentheses between them", at_);
      if (peek() == ';' && closer != ')') fail("`;` stands in parentheses only", at_);
      separator = peek();
      ++at_;
      options.push_back(sequence());
    }
    if (peek() != closer) fail(std::string("unexpected `") + peek() + "`", at_);
    --depth_;
    if (separator == '\0') return std::move(options.front());
    if (separator == ';' && options.size() > kMaxPermutation)
      fail("more than five parts in any order", begin);
    return merge(std::move(options), separator == ';');
  }

  static Item merge(std::vector<Item> options, bool permutation) {
    Item out{.part = {.kind = permutation ? Part::Kind::permutation : Part::Kind::choice}};
    bool literal = !permutation;
    for (Item& option : options) {
      literal = literal && !option.strings.empty();
      out.strings.insert(out.strings.end(), option.strings.begin(), option.strings.end());
      out.part.parts.push_back(std::move(option.part));
    }
    if (!literal || out.strings.size() > kMaxStrings) out.strings.clear();
    return out;
  }

  Item sequence() {
    const std::size_t begin = at_;
    std::vector<Item> items;
    for (bool more = true; more;) {
      switch (peek()) {
        case '\0':
        case '|':
        case ';':
        case ')':
        case ']':
          more = false;
          break;
        case '(':
          items.push_back(group(')'));
          break;
        case '[':
          items.push_back(optional());
          break;
        case '{':
          items.push_back(list());
          break;
        case '<':
          items.push_back(rule());
          break;
        case '}':
        case '>':
        case '\\':
          fail(std::string("unexpected `") + peek() + "`", at_);
        default:
          literal(items);
      }
    }
    Item out = finish(std::move(items), begin);
    if (out.part.kind == Part::Kind::sequence && out.part.parts.empty()) {
      fail("there is nothing here to say (what may be left out goes in `[ ]`)", begin);
    }
    return out;
  }

  /// The brackets that open here, with what is between them.
  Item group(char closer) {
    const std::size_t begin = at_;
    const char opener = text_[at_++];
    int open = 1;  // a missing bracket is complained about where it was opened, not where the text ends
    for (std::size_t i = at_; i < text_.size() && open > 0; ++i)
      open += (text_[i] == opener) - (text_[i] == closer);
    if (open > 0) fail(std::string("`") + opener + "` is never closed", begin);
    Item inner = alternatives(closer);
    ++at_;
    return inner;
  }

  Item optional() {
    Item inner = group(']');
    Item out{.part = {.kind = Part::Kind::optional}, .strings = std::move(inner.strings)};
    if (!out.strings.empty()) out.strings.emplace_back();
    out.part.parts.push_back(std::move(inner.part));
    return out;
  }

  std::string_view name_until(char closer) {
    const std::size_t begin = at_++;
    const std::size_t end = text_.find(closer, at_);
    if (end == std::string_view::npos) fail(std::string("`") + text_[begin] + "` is never closed", begin);
    const std::string_view name = text_.substr(at_, end - at_);
    at_ = end + 1;
    return name;
  }

  Item list() {
    const std::size_t begin = at_;
    const std::string_view whole = name_until('}');
    const std::size_t colon = whole.find(':');
    const std::string_view name = whole.substr(0, colon);
    const std::string_view slot = colon == std::string_view::npos ? name : whole.substr(colon + 1);
    if (!is_name(name) || !is_name(slot)) fail("a list is written {name} or {name:slot}", begin);
    return {.part = {.kind = Part::Kind::list, .text = std::string(name), .slot = std::string(slot)}};
  }

  Item rule() {
    const std::size_t begin = at_;
    const std::string_view name = name_until('>');
    if (!is_name(name)) fail("a rule is written <name>", begin);
    return {.part = {.kind = Part::Kind::rule, .text = std::string(name)}};
  }

  /// One item for each piece of the text, which keeps the spaces around it.
  void literal(std::vector<Item>& items) {
    const std::size_t end = std::min(text_.find_first_of("|;()[]{}<>\\", at_), text_.size());
    while (at_ < end) {
      std::size_t stop = std::min(text_.find_first_not_of(kSpaces, at_), end);
      stop = std::min(text_.find_first_of(kSpaces, stop), end);
      stop = std::min(text_.find_first_not_of(kSpaces, stop), end);
      std::string piece(text_.substr(at_, stop - at_));
      items.push_back({.part = words(piece), .strings = {piece}});
      at_ = stop;
    }
  }

  Part words(std::string_view text) const {
    Part out;
    for (Word& word : split_words(text, language_)) {
      out.parts.push_back({.kind = Part::Kind::word, .text = std::move(word.text)});
    }
    return out;
  }

  /// The ways to write one word, or a few.
  Part spellings(const std::vector<std::string>& strings) const {
    Part choice{.kind = Part::Kind::choice};
    bool nothing = false;
    for (auto string = strings.begin(); string != strings.end(); ++string) {
      if (std::find(strings.begin(), string, *string) != string) continue;
      Part option = words(*string);
      nothing = nothing || option.parts.empty();
      if (!option.parts.empty()) choice.parts.push_back(std::move(option));
    }
    if (!nothing) return choice;
    Part out{.kind = Part::Kind::optional};
    out.parts.push_back(std::move(choice));
    return out;
  }

  /// Joins the pieces of a word and drops what is empty.
  Item finish(std::vector<Item> items, std::size_t begin) const {
    Item out{.strings = {""}};
    for (std::size_t i = 0; i < items.size();) {
      std::vector<std::string> strings = items[i].strings;
      std::size_t next = i + 1;
      for (; next < items.size() && touches(items[next - 1], items[next]); ++next) {
        strings = concatenate(strings, items[next].strings);
        if (strings.empty()) fail("too many spellings of one word; put spaces between the brackets", begin);
      }
      Part part = next == i + 1 ? std::move(items[i].part) : spellings(strings);
      const bool plain = part.kind == Part::Kind::sequence;
      if (plain) {
        std::move(part.parts.begin(), part.parts.end(), std::back_inserter(out.part.parts));
      } else {
        out.part.parts.push_back(std::move(part));
      }
      out.strings = concatenate(out.strings, strings);
      i = next;
    }
    if (out.part.parts.size() == 1) {
      Part only = std::move(out.part.parts.front());
      out.part = std::move(only);
    }
    return out;
  }

  std::string_view text_;
  std::string_view language_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Part> parse_sentence(std::string_view text, std::string_view language) {
  try {
    return Parser(text, language).run();
  } catch (const Failure& failure) {
    return failure.error();
  }
}

bool is_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); });
}

}  // namespace parley::providers::intents
