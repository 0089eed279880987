#include "providers/intents/words.hpp"

#include <algorithm>
#include <utility>

#include "providers/intents/numbers.hpp"

namespace parley::providers::intents {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 1;  ///< bytes
};

/// A malformed byte counts as a space.
CodePoint decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return {.value = lead, .length = 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + length > text.size()) return {.value = U' ', .length = 1};
  char32_t value = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80) return {.value = U' ', .length = 1};
    value = value << 6U | (byte(at + i) & 0x3fU);
  }
  return {.value = value, .length = length};
}

void append(std::string& out, char32_t c) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0U | c >> 6U);
    put(0x80U | (c & 0x3fU));
  } else if (c < 0x10000) {
    put(0xe0U | c >> 12U);
    put(0x80U | (c >> 6U & 0x3fU));
    put(0x80U | (c & 0x3fU));
  } else {
    put(0xf0U | c >> 18U);
    put(0x80U | (c >> 12U & 0x3fU));
    put(0x80U | (c >> 6U & 0x3fU));
    put(0x80U | (c & 0x3fU));
  }
}

/// Latin, Greek and Cyrillic; other scripts have no case or are left as they are.
char32_t lower(char32_t c) {
  const auto in = [c](char32_t from, char32_t to) { return c >= from && c <= to; };
  if (in(U'A', U'Z') || (in(0xc0, 0xde) && c != 0xd7) || in(0x391, 0x3a9) || in(0x410, 0x42f))
    return c + 0x20;
  if (in(0x400, 0x40f)) return c + 0x50;
  if (in(0x100, 0x137) || in(0x14a, 0x177)) return c | 1U;
  if (in(0x139, 0x148) || in(0x179, 0x17e)) return (c & 1U) != 0 ? c + 1 : c;
  return c;
}

bool is_digit(char32_t c) {
  return c >= U'0' && c <= U'9';
}
bool is_apostrophe(char32_t c) {
  return c == U'\'' || c == 0x2019 || c == 0x2bc;
}

bool is_letter(char32_t c) {
  if (c < 0x80) return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
  const auto in = [c](char32_t from, char32_t to) { return c >= from && c <= to; };
  const bool mark = in(0x80, 0xbf) || c == 0xd7 || c == 0xf7 || in(0x2000, 0x2bff) || in(0x3000, 0x303f) ||
                    in(0xfe00, 0xfe6f) || in(0xff00, 0xff20) || in(0xff3b, 0xff40) || in(0xff5b, 0xff65) ||
                    c >= 0x1f000;
  return !mark || c == 0xaa || c == 0xb5 || c == 0xba;
}

bool is_ideograph(char32_t c) {
  return (c >= 0x3040 && c <= 0x30ff) || (c >= 0x3400 && c <= 0x9fff);
}

constexpr std::size_t kMaxNumberDigits = 6;

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Collects the words of one text.
class Splitter {
 public:
  Splitter(std::string_view text, std::string_view language)
      : text_(text), language_(language), english_(speaks_numbers(language)) {}

  std::vector<Word> run() {
    for (std::size_t at = 0; at < text_.size();) {
      const CodePoint c = decode(text_, at);
      take(c.value, at, at + c.length);
      at += c.length;
    }
    flush();
    return std::move(words_);
  }

 private:
  void take(char32_t c, std::size_t begin, std::size_t end) {
    const char32_t next = end < text_.size() ? decode(text_, end).value : U' ';
    const bool after_digit = !current_.empty() && is_digit(static_cast<unsigned char>(current_.back()));
    if (is_ideograph(c)) {
      flush();
      put(c, begin, end);
      flush();
    } else if (is_letter(c) || is_digit(c)) {
      put(lower(c), begin, end);
    } else if (is_apostrophe(c) && !current_.empty() && is_letter(next)) {
      put(U'\'', begin, end);
    } else if (c == U'.' && after_digit && is_digit(next)) {
      put(c, begin, end);
    } else if (c == U',' && after_digit && groups_thousands(end)) {
      end_ = end;
    } else {
      const bool alone = current_.empty() && (begin == 0 || text_[begin - 1] == ' ');
      flush();
      if ((c == U'-' || c == 0x2212) && alone && is_digit(next)) {
        if (english_) {
          add("minus", begin, end);
        } else {
          put(U'-', begin, end);
        }
      } else if (c == U'%') {
        add(english_ ? "percent" : "%", begin, end);
      } else if (c == U'&' && english_) {
        add("and", begin, end);
      } else if (c == 0xb0 && english_) {
        add("degrees", begin, end);
      }
    }
  }

  /// "1,000": exactly three digits follow.
  bool groups_thousands(std::size_t at) const {
    const std::string_view rest = text_.substr(at);
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    return digits == 3;
  }

  void put(char32_t c, std::size_t begin, std::size_t end) {
    if (current_.empty()) begin_ = begin;
    append(current_, c);
    end_ = end;
  }

  void flush() {
    if (current_.empty()) return;
    const std::string word = std::exchange(current_, {});
    if (english_ && all_digits(word) && word.size() <= kMaxNumberDigits) {
      const auto forms = spoken_number(std::stoll(word), language_);
      for (const std::string& part : forms.front()) add(part, begin_, end_);
    } else {
      add(word, begin_, end_);
    }
  }

  void add(std::string word, std::size_t begin, std::size_t end) {
    std::string key = word;
    std::erase(key, '\'');
    words_.push_back({.text = std::move(word), .key = std::move(key), .begin = begin, .end = end});
  }

  std::string_view text_;
  std::string_view language_;
  bool english_;
  std::vector<Word> words_;
  std::string current_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace

std::vector<Word> split_words(std::string_view text, std::string_view language) {
  return Splitter(text, language).run();
}

std::string join(const std::vector<Word>& words, std::size_t begin, std::size_t end) {
  std::string out;
  for (std::size_t i = begin; i < end; ++i) {
    if (!out.empty()) out.push_back(' ');
    out += words[i].text;
  }
  return out;
}

}  // namespace parley::providers::intents
