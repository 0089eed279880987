#include <utility>

#include "dialogue/characters.hpp"
#include "dialogue/speakable.hpp"

namespace parley::dialogue {
namespace {

constexpr std::size_t kMaxRule = 200;

}  // namespace

std::string Speakable::push(std::string_view delta) {
  reader_.push(delta, [this](char32_t c) { read(c); });
  return std::exchange(out_, {});
}

std::string Speakable::finish() {
  reader_.reset();
  settle();
  return std::exchange(out_, {});
}

void Speakable::settle() {
  // Each step leaves less than it found.
  while (mode_ != Mode::text) settle_once();
}

void Speakable::settle_once() {
  const auto opener = opener_;
  switch (mode_) {
    case Mode::marks:
      if (opener_ == '~' && run_ == 1) emit('~');
      release();
      return;
    case Mode::after_span:
    case Mode::fence:
    case Mode::thought:
    case Mode::line_start:
    case Mode::row_start:
      release();
      return cut();
    case Mode::target:
    case Mode::text:
      release();
      return;
    case Mode::bang:
    case Mode::escape:
      release();
      return emit(opener);
    case Mode::after_bracket:
      return end_bracket();
    case Mode::paren:
      open_paren(opener);
      return replay(release());
    case Mode::tag:
      emit('<');
      return replay(release());
    case Mode::scheme:
      for (const auto c : release()) emit(c);
      return;
    case Mode::link:
      return end_link();
    case Mode::span:
    case Mode::code:
    case Mode::bracket:
      return replay(release());
  }
}

void Speakable::on_line_start(char32_t c) {
  if (!held_.empty()) return on_block_mark(c);
  switch (c) {
    case ' ':
    case '>':
      return;
    case '#':
    case '-':
    case '+':
    case '=':
    case U'•':
    case U'‣':
    case U'–':
    case U'—':
      held_ += c;
      return;
    case '|':
      in_row_ = true;
      return hold(Mode::row_start, c);
    default:
      mode_ = Mode::text;
      previous_ = '\n';
      return step(c);
  }
}

/// `c` follows a run of # - + = • or a dash that began the line.
void Speakable::on_block_mark(char32_t c) {
  const auto mark = held_.front();
  if (c == mark) {
    if (held_.size() < kMaxRule) held_ += c;
    return;
  }
  const auto run = held_.size();
  const bool heading = mark == '#' && run <= 6;
  const bool item = run == 1 && mark != '#' && mark != '=';
  if (c == '\n') return end_line();
  if (c == ' ' && (heading || item || run > 1)) {
    held_.clear();
    in_item_ = item;
    return;
  }
  if (c == '|') {
    in_row_ = true;
    return hold(Mode::row_start, c);
  }
  const bool bare_item = mark > 0x7F || (mark == '-' && !is_digit(c) && c != '.' && c != ',');
  held_.clear();
  mode_ = Mode::text;
  previous_ = '\n';
  if (run == 1 && !bare_item) emit(mark);
  if (mark == '#' && run > 1) emit(mark);
  step(c);
}

void Speakable::on_row_start(char32_t c) {
  if (c == '\n') return end_line();
  if (std::u32string_view(U"-:|=+ ").find(c) != std::u32string_view::npos && held_.size() < kMaxRule) {
    held_ += c;
    return;
  }
  replay(release());
  step(c);
}

void Speakable::on_fence(char32_t c) {
  if (c == opener_) {
    ++closing_;
    return;
  }
  const auto run = std::exchange(closing_, 0);
  if (run >= run_ && (line_clean_ || first_line_)) {
    release();
    return step(c);
  }
  if (c == '\n') {
    line_clean_ = true;
    first_line_ = false;
  } else if (c != ' ' || run > 0) {
    line_clean_ = false;
  }
}

/// One character of text, with the blanks before it.
void Speakable::emit(char32_t c) {
  if (c == ' ') {
    if (at_line_begin() || last_out_ == ' ') return;
    // After a mark the splitter waits for it; elsewhere it waits for a word.
    const bool marked = is_stop(last_out_) || is_clause_mark(last_out_) || is_ellipsis(last_out_) ||
                        is_closing(last_out_) || last_out_ == '"' || last_out_ == '\'';
    if (marked && !blank_ && paren_ == 0) return put(' ');
    blank_ = true;
    return;
  }
  if (paren_ != 0 && is_closing(c)) {
    paren_ = 0;
    return cut();
  }
  const bool mark = is_stop(c) || is_clause_mark(c) || is_ellipsis(c);
  if (cell_ && !at_line_begin()) {
    if (!is_stop(last_out_) && !is_clause_mark(last_out_) && last_out_ != ' ') put(',');
    blank_ = true;
    cut_ = false;
  }
  cell_ = false;
  const bool tight = cut_ && (mark || is_closing(c) || is_wide(c) || is_wide(last_out_));
  if (blank_ && !tight && !at_line_begin() && last_out_ != ' ') put(' ');
  blank_ = false;
  cut_ = false;
  if (paren_ != 0) put(std::exchange(paren_, 0));
  put(c);
}

/// An opening bracket: said only if something stands in it.
void Speakable::open_paren(char32_t c) {
  if (paren_ != 0) {
    if (std::exchange(blank_, false) && !at_line_begin()) put(' ');
    put(paren_);
  }
  paren_ = c;
}

void Speakable::put(char32_t c) {
  append_utf8(out_, c);
  last_out_ = c;
  in_item_ = false;
  if (is_speakable(c)) {
    spoken_ = true;
    after_stop_ = false;
  } else if (is_stop(c) || is_ellipsis(c)) {
    after_stop_ = true;
  } else if (is_clause_mark(c)) {
    after_stop_ = false;
  }
}

/// Something was left out here: the words around it do not grow together.
void Speakable::cut() {
  cut_ = true;
  blank_ = blank_ || !at_line_begin();
}

void Speakable::end_line() {
  if (!at_line_begin()) put('\n');
  hold(Mode::line_start, '\n');
  previous_ = '\n';
  paren_ = 0;
  blank_ = false;
  cut_ = false;
  cell_ = false;
  in_row_ = false;
  in_item_ = false;
  after_stop_ = false;
}

Spoken speakable(std::string_view text) {
  Speakable reader;
  Spoken spoken;
  spoken.text = reader.push(text);
  spoken.text += reader.finish();
  while (!spoken.text.empty() && spoken.text.back() == '\n') spoken.text.pop_back();
  for (auto& c : spoken.text) c = c == '\n' ? ' ' : c;
  spoken.emotion = reader.emotion().value_or(Emotion{});
  return spoken;
}

}  // namespace parley::dialogue
