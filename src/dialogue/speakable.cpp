// What is read, emphasis and code within a line; speakable_brackets.cpp has brackets, tags and addresses,
// speakable_blocks.cpp what takes whole lines, and the output.
#include "dialogue/speakable.hpp"

#include <algorithm>
#include <utility>

#include "dialogue/characters.hpp"
#include "dialogue/stage_directions.hpp"

namespace parley::dialogue {
namespace {

constexpr std::size_t kMaxSpan = 80;
constexpr std::size_t kMaxCode = 200;
constexpr std::size_t kMaxPlainCode = 40;

bool is_word(char32_t c) {
  return is_ascii_letter(c) || is_digit(c) || is_lower(c) || is_upper(c);
}

/// Words that can be said as they stand.
bool is_plain(std::u32string_view code) {
  return !code.empty() && code.size() <= kMaxPlainCode && !is_digit(code.front()) &&
         is_speakable(code.front()) && std::ranges::all_of(code, [](char32_t c) {
           return is_word(c) || c == ' ' || c == '-' || c == '\'' || (c >= 0x80 && is_speakable(c));
         });
}

}  // namespace

void Speakable::read(char32_t c) {
  if (is_emoji(c)) return picture(c);
  if (is_invisible(c)) {
    // Between Arabic or Indic letters a joiner is spelling.
    if (is_joiner(c) && mode_ == Mode::text && last_out_ >= 0x600 && last_out_ <= 0xDFF) put(c);
    return;
  }
  step(is_blank(c) ? U' ' : is_line_break(c) ? U'\n' : c);
}

void Speakable::step(char32_t c) {
  switch (mode_) {
    case Mode::line_start:
      return on_line_start(c);
    case Mode::row_start:
      return on_row_start(c);
    case Mode::text:
      return on_text(c);
    case Mode::marks:
      return on_marks(c);
    case Mode::span:
      return on_span(c);
    case Mode::after_span:
      return on_after_span(c);
    case Mode::code:
      return on_code(c);
    case Mode::fence:
      return on_fence(c);
    case Mode::bang:
      return on_bang(c);
    case Mode::bracket:
      return on_bracket(c);
    case Mode::after_bracket:
      return on_after_bracket(c);
    case Mode::target:
      return on_target(c);
    case Mode::paren:
      return on_paren(c);
    case Mode::tag:
      return on_tag(c);
    case Mode::thought:
      return on_thought(c);
    case Mode::scheme:
      return on_scheme(c);
    case Mode::link:
      return on_link(c);
    case Mode::escape:
      return on_escape(c);
  }
}

void Speakable::hold(Mode mode, char32_t opener) {
  mode_ = mode;
  opener_ = opener;
  held_.clear();
}

/// What was held, to be read as text.
std::u32string Speakable::release() {
  mode_ = Mode::text;
  previous_ = ' ';
  return std::exchange(held_, {});
}

void Speakable::replay(const std::u32string& text) {
  for (const auto c : text) step(c);
}

void Speakable::picture(char32_t c) {
  if (mode_ == Mode::scheme || mode_ == Mode::link) step(' ');
  if (mode_ == Mode::thought || mode_ == Mode::fence) return;
  if (!emotion_ && !spoken_) emotion_ = emotion_of_emoji(c);
  cut();
}

void Speakable::on_text(char32_t c) {
  const auto previous = std::exchange(previous_, c);
  switch (c) {
    case '\n':
      return end_line();
    case '*':
    case '_':
    case '~':
    case '`':
      hold(Mode::marks, c);
      before_ = previous;
      run_ = 1;
      return;
    case '[':
    case U'【':
      return hold(Mode::bracket, c);
    case ']':
      return;
    case '(':
    case U'（':
      return hold(Mode::paren, c);
    case '<':
      return hold(Mode::tag, c);
    case '\\':
      return hold(Mode::escape, c);
    case '|':
      if (in_row_ || previous == ' ') {
        cell_ = !at_line_begin();
        return;
      }
      return emit(c);
    case '!':
      // After a word it is an exclamation, and nothing has to be waited for.
      if (previous == ' ' || previous == '\n') return hold(Mode::bang, c);
      return emit(c);
    default:
      break;
  }
  const auto letter = to_lower(c);
  if ((letter == 'h' || letter == 'w' || letter == 'f' || letter == 'm') && !is_word(previous)) {
    hold(Mode::scheme, c);
    held_ += c;
    return;
  }
  emit(c);
}

void Speakable::on_marks(char32_t c) {
  if (c == opener_) {
    ++run_;
    return;
  }
  const bool line_begin = before_ == '\n';
  if (run_ >= 3 && (opener_ == '`' || (opener_ == '~' && line_begin))) {
    const auto mark = opener_;
    end_line();
    hold(Mode::fence, mark);
    line_clean_ = false;
    first_line_ = true;
    closing_ = 0;
  } else if (opener_ == '`') {
    hold(Mode::code, opener_);
    closing_ = 0;
  } else if (opener_ == '~') {
    mode_ = Mode::text;
    previous_ = '~';
    if (run_ == 1) emit('~');
  } else {
    return on_emphasis(c);
  }
  step(c);
}

void Speakable::on_emphasis(char32_t c) {
  const bool blank_after = c == ' ' || c == '\n';
  mode_ = Mode::text;
  previous_ = before_ == '\n' ? '\n' : opener_;
  if (before_ == '\n' && run_ == 1 && opener_ == '*' && c == ' ') {
    in_item_ = true;
    mode_ = Mode::line_start;
    return;
  }
  const bool within_word = is_word(before_) && is_word(c);
  const bool product = opener_ == '*' && (is_digit(before_) || (before_ == ' ' && blank_after && run_ == 1));
  if ((opener_ == '_' && within_word) || (product && (blank_after ? before_ == ' ' : is_digit(c)))) {
    for (std::size_t i = 0; i < std::min<std::size_t>(run_, 3); ++i) emit(opener_);
  } else if (run_ == 1 && !is_word(before_) && !blank_after) {
    hold(Mode::span, opener_);
  }
  step(c);
}

void Speakable::on_span(char32_t c) {
  const bool lower_begin = !held_.empty() && at_sentence_begin() && is_lower(held_.front());
  if (c == opener_ && !held_.empty()) {
    if (is_stage_direction(held_)) {
      release();
      cut();
    } else if (lower_begin) {
      mode_ = Mode::after_span;
      blank_seen_ = false;
    } else {
      replay(release());
      settle();
    }
    return;
  }
  const bool ended = c == '\n' || held_.size() >= kMaxSpan;
  if (!ended) {
    held_ += c;
    if ((at_sentence_begin() && is_lower(held_.front())) || may_become_stage_direction(held_)) return;
    return replay(release());
  }
  replay(release());
  step(c);
}

void Speakable::on_after_span(char32_t c) {
  if (c == ' ') {
    blank_seen_ = true;
    return;
  }
  if (c == '\n' || (blank_seen_ && !is_lower(c))) {
    release();
    cut();
  } else {
    replay(release());
    settle();
    if (blank_seen_) step(' ');
  }
  step(c);
}

void Speakable::on_code(char32_t c) {
  if (c == '`') {
    if (++closing_ < run_) return;
    const auto code = release();
    previous_ = '`';
    if (!is_plain(code)) return cut();
    std::ranges::for_each(code, [this](char32_t one) { emit(one); });
    return;
  }
  held_.append(std::exchange(closing_, 0), U'`');
  if (c != '\n' && held_.size() < kMaxCode) {
    held_ += c;
    return;
  }
  replay(release());
  step(c);
}

}  // namespace parley::dialogue
