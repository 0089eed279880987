#include <algorithm>
#include <array>

#include "dialogue/characters.hpp"
#include "dialogue/speakable.hpp"
#include "dialogue/stage_directions.hpp"

namespace parley::dialogue {
namespace {

constexpr std::size_t kMaxBracket = 200;
constexpr std::size_t kMaxParen = 60;
constexpr std::size_t kMaxTag = 120;
constexpr std::size_t kMaxTarget = 2000;
constexpr std::size_t kMaxTail = 8;

constexpr std::array<std::u32string_view, 5> kSchemes = {U"https://", U"http://", U"www.", U"ftp://",
                                                         U"mailto:"};
constexpr std::array<std::string_view, 4> kThoughts = {"think", "thinking", "thought", "reasoning"};
constexpr std::array<std::string_view, 12> kLines = {"br", "p",  "div", "li", "tr", "h1",
                                                     "h2", "h3", "h4",  "ul", "ol", "table"};

bool is_footnote(std::u32string_view text) {
  return text.starts_with(U'^') || text.find(U'†') != std::u32string_view::npos ||
         std::ranges::all_of(text,
                             [](char32_t c) { return is_digit(c) || c == ',' || c == ' ' || c == '-'; });
}

bool is_check_box(std::u32string_view text) {
  return text == U"x" || text == U"X";
}

std::string ascii_lower(std::u32string_view text) {
  std::string out;
  for (const auto c : text) out += c < 0x80 ? static_cast<char>(to_lower(c)) : '?';
  return out;
}

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

bool Speakable::face(const std::u32string& tag) {
  const auto asked = emotion_of_tag(ascii_lower(tag));
  if (asked && !emotion_ && !spoken_) emotion_ = asked;
  return asked.has_value();
}

void Speakable::on_bang(char32_t c) {
  release();
  previous_ = '!';
  if (c != '[') emit('!');
  step(c);
}

void Speakable::on_bracket(char32_t c) {
  const char32_t closer = opener_ == '[' ? U']' : U'】';
  if (c == closer) {
    mode_ = Mode::after_bracket;
  } else if (c == '\n' || c == opener_ || held_.size() >= kMaxBracket) {
    replay(release());
    step(c);
  } else {
    held_ += c;
  }
}

void Speakable::on_after_bracket(char32_t c) {
  if (c != '(' || opener_ != '[') {
    end_bracket();
    return step(c);
  }
  // A link: its text at once, its address never.
  replay(release());
  settle();
  hold(Mode::target, c);
  run_ = 0;
  depth_ = 1;
}

void Speakable::end_bracket() {
  const auto opener = opener_;
  const auto content = release();
  if (content.empty() || is_footnote(content) || is_check_box(content) || face(content) ||
      is_stage_direction(content)) {
    return cut();
  }
  if (opener != '[') emit(opener);
  replay(content);
  settle();
  if (opener != '[') emit(U'】');
}

void Speakable::on_target(char32_t c) {
  if (c == '(') ++depth_;
  if (c == ')') --depth_;
  if (depth_ > 0 && c != '\n' && ++run_ < kMaxTarget) return;
  release();
  cut_ = true;
  if (c != ')') step(c);
}

void Speakable::on_paren(char32_t c) {
  const auto opener = opener_;
  const bool closed = c == ')' || c == U'）';
  if (closed && is_stage_direction(held_)) {
    release();
    return cut();
  }
  if (!closed && c != '\n' && held_.size() < kMaxParen) {
    held_ += c;
    if (may_become_stage_direction(held_)) return;
    // The last character has to be read again: it may open something.
    held_.pop_back();
  }
  open_paren(opener);
  replay(release());
  step(c);
}

void Speakable::on_tag(char32_t c) {
  if (c == '>' && !held_.empty()) return end_tag();
  const bool begins = is_ascii_letter(c) || c == '/' || c == '!';
  if ((held_.empty() && !begins) || c == '\n' || c == '<' || held_.size() >= kMaxTag) {
    emit('<');
    replay(release());
    return step(c);
  }
  held_ += c;
}

void Speakable::end_tag() {
  const auto content = release();
  const auto text = ascii_lower(content);
  const bool closing = text.front() == '/';
  const auto begin = closing ? 1U : 0U;
  const auto end =
      std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_!", begin), text.size());
  const auto name = text.substr(begin, end - begin);
  const auto rest = std::string_view(text).substr(end);
  if (text.find("://") != std::string::npos || text.starts_with("mailto:")) return cut();
  if (text.find('@') != std::string::npos && text.find(' ') == std::string::npos) return replay(content);
  if (contains(kThoughts, name) && !closing) {
    mode_ = Mode::thought;
    return;
  }
  if (contains(kLines, name)) return end_line();
  const bool has_attributes = rest.starts_with(' ') && rest.find('=') != std::string_view::npos;
  if (face(content) || rest.empty() || rest == "/" || rest == " /" || has_attributes) return cut();
  emit('<');
  replay(content);
  settle();
  emit('>');
}

void Speakable::on_thought(char32_t c) {
  held_ += to_lower(c);
  if (c != '>') {
    if (held_.size() > kMaxTag) held_.erase(0, held_.size() - 16);
    return;
  }
  for (const auto name : kThoughts) {
    if (ascii_lower(held_).ends_with("</" + std::string(name) + ">")) return end_line();
  }
  held_.clear();
}

void Speakable::on_scheme(char32_t c) {
  const auto letter = to_lower(c);
  const auto known = std::ranges::find_if(kSchemes, [&](auto scheme) {
    // The held characters are the begin of one already, but for their case.
    return held_.size() < scheme.size() && scheme[held_.size()] == letter &&
           std::ranges::equal(held_, scheme.substr(0, held_.size()), {}, to_lower);
  });
  if (known != kSchemes.end()) {
    held_ += c;
    if (held_.size() < known->size()) return;
    hold(Mode::link, c);
    depth_ = 0;
    return;
  }
  const auto word = release();
  previous_ = word.back();
  for (const auto one : word) emit(one);
  step(c);
}

void Speakable::on_link(char32_t c) {
  constexpr std::u32string_view kEnds = U" \n<>\"“”»|`[]{}\\^*";
  if (c == '(') ++depth_;
  if (kEnds.find(c) != std::u32string_view::npos || is_wide(c) || is_ellipsis(c) ||
      (c == ')' && depth_ == 0)) {
    end_link();
    return step(c);
  }
  if (c == ')') --depth_;
  // What ends a sentence belongs to the address only if that goes on.
  if (std::u32string_view(U".,!?;:'").find(c) == std::u32string_view::npos) {
    held_.clear();
  } else if (held_.size() < kMaxTail) {
    held_ += c;
  }
}

void Speakable::end_link() {
  const auto tail = release();
  cut();
  previous_ = '/';
  replay(tail);
}

void Speakable::on_escape(char32_t c) {
  release();
  if (!is_ascii_punctuation(c)) {
    if (c != '\n') emit('\\');
    return step(c);
  }
  previous_ = c;
  emit(c);
}

}  // namespace parley::dialogue
