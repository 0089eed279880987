#include "providers/intents/numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

// Whole numbers as English says them.
namespace parley::providers::intents {
namespace {

using Form = std::vector<std::string>;
using Forms = std::vector<Form>;

constexpr std::array<std::string_view, 20> kUnits{"zero",    "one",     "two",       "three",    "four",
                                                  "five",    "six",     "seven",     "eight",    "nine",
                                                  "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                                  "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<std::string_view, 10> kTens{"",      "",      "twenty",  "thirty", "forty",
                                                 "fifty", "sixty", "seventy", "eighty", "ninety"};

Form below_hundred(std::int64_t value) {
  const auto n = static_cast<std::size_t>(value);
  if (n < kUnits.size()) return {std::string(kUnits[n])};
  Form out{std::string(kTens[n / 10])};
  if (n % 10 != 0) out.emplace_back(kUnits[n % 10]);
  return out;
}

/// Every head alone, or with every tail, with and without "and" between them.
Forms combine(const Forms& heads, const Forms& tails, bool with_and) {
  if (tails.empty()) return heads;
  Forms out;
  for (const bool join_with_and : {false, true}) {
    if (join_with_and && !with_and) continue;
    for (const Form& head : heads) {
      for (const Form& tail : tails) {
        Form form = head;
        if (join_with_and) form.emplace_back("and");
        form.insert(form.end(), tail.begin(), tail.end());
        out.push_back(std::move(form));
      }
    }
  }
  return out;
}

Forms below_thousand(std::int64_t value) {
  if (value < 100) return {below_hundred(value)};
  Forms heads{{std::string(kUnits[static_cast<std::size_t>(value / 100)]), "hundred"}};
  if (value / 100 == 1) heads.push_back({"a", "hundred"});
  const std::int64_t rest = value % 100;
  return combine(heads, rest == 0 ? Forms{} : Forms{below_hundred(rest)}, true);
}

Forms below_million(std::int64_t value) {
  if (value < 1000) return below_thousand(value);
  Forms heads;
  for (Form form : below_thousand(value / 1000)) {
    form.emplace_back("thousand");
    heads.push_back(std::move(form));
  }
  if (value / 1000 == 1) heads.push_back({"a", "thousand"});
  const std::int64_t rest = value % 1000;
  return combine(heads, rest == 0 ? Forms{} : below_thousand(rest), rest < 100);
}

template <std::size_t N>
std::int64_t index_of(const std::array<std::string_view, N>& table, std::string_view word) {
  const auto found = std::find(table.begin(), table.end(), word);
  return found == table.end() || word.empty() ? -1 : found - table.begin();
}

/// Reads numbers from words; every method appends each reading that begins at `at`.
class Reader {
 public:
  explicit Reader(const std::vector<Word>& words) : words_(words) {}

  using Readings = std::vector<SpokenNumber>;

  void below_million(std::size_t at, Readings& out) const {
    Readings heads;
    below_thousand(at, heads);
    out.insert(out.end(), heads.begin(), heads.end());
    if (is(at, "a") && is(at + 1, "thousand")) heads.push_back({.value = 1, .end = at + 1});
    for (const SpokenNumber& head : heads) {
      if (head.value < 1 || !is(head.end, "thousand")) continue;
      tails(head.value * 1000, head.end + 1, out, &Reader::below_thousand);
    }
  }

 private:
  bool is(std::size_t at, std::string_view word) const {
    return at < words_.size() && words_[at].key == word;
  }
  std::string_view word(std::size_t at) const {
    return at < words_.size() ? std::string_view(words_[at].key) : std::string_view();
  }

  void below_hundred(std::size_t at, Readings& out) const {
    if (const auto unit = index_of(kUnits, word(at)); unit >= 0)
      out.push_back({.value = unit, .end = at + 1});
    if (const auto ten = index_of(kTens, word(at)); ten >= 0) {
      out.push_back({.value = ten * 10, .end = at + 1});
      const auto unit = index_of(kUnits, word(at + 1));
      if (unit >= 1 && unit <= 9) out.push_back({.value = ten * 10 + unit, .end = at + 2});
    }
  }

  void below_thousand(std::size_t at, Readings& out) const {
    below_hundred(at, out);
    const auto unit = index_of(kUnits, word(at));
    if (is(at, "hundred")) {
      tails(100, at + 1, out, &Reader::below_hundred);
    } else if (is(at + 1, "hundred") && (is(at, "a") || (unit >= 1 && unit <= 9))) {
      tails(100 * std::max<std::int64_t>(unit, 1), at + 2, out, &Reader::below_hundred);
    }
  }

  void tails(std::int64_t head, std::size_t at, Readings& out,
             void (Reader::*tail)(std::size_t, Readings&) const) const {
    out.push_back({.value = head, .end = at});
    Readings rest;
    (this->*tail)(at, rest);
    if (is(at, "and")) (this->*tail)(at + 1, rest);
    for (const SpokenNumber& number : rest) {
      if (number.value > 0) out.push_back({.value = head + number.value, .end = number.end});
    }
  }

  const std::vector<Word>& words_;
};

}  // namespace

bool speaks_numbers(std::string_view language) {
  return language == "en" || language.starts_with("en-") || language.starts_with("en_");
}

std::vector<std::vector<std::string>> spoken_number(std::int64_t value, std::string_view language) {
  if (!speaks_numbers(language)) return {{std::to_string(value)}};
  Forms forms = below_million(value < 0 ? -value : value);
  if (value < 0) {
    for (Form& form : forms) form.insert(form.begin(), "minus");
  }
  return forms;
}

std::vector<SpokenNumber> numbers_at(const std::vector<Word>& words, std::size_t begin,
                                     std::string_view language) {
  std::vector<SpokenNumber> out;
  if (begin >= words.size()) return out;
  if (!speaks_numbers(language)) {
    const std::string& text = words[begin].key;
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && stop == text.data() + text.size())
      out.push_back({.value = value, .end = begin + 1});
    return out;
  }
  const bool negative = words[begin].key == "minus";
  Reader(words).below_million(negative ? begin + 1 : begin, out);
  if (negative) {
    for (SpokenNumber& number : out) number.value = -number.value;
  }
  std::sort(out.begin(), out.end(), [](const SpokenNumber& a, const SpokenNumber& b) {
    return std::tie(b.end, a.value) < std::tie(a.end, b.value);
  });
  const auto same = [](const SpokenNumber& a, const SpokenNumber& b) {
    return a.end == b.end && a.value == b.value;
  };
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
  return out;
}

}  // namespace parley::providers::intents
