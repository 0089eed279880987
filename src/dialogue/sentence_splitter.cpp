#include "parley/dialogue/sentence_splitter.hpp"

#include <algorithm>
#include <utility>

#include "dialogue/abbreviations.hpp"
#include "dialogue/characters.hpp"
#include "dialogue/utf8.hpp"

namespace parley::dialogue {
namespace {

// Lengths in letters.
/// Below this a clause is not worth a request of its own.
constexpr std::size_t kMinClause = 12;
/// A piece is cut between words from here on …
constexpr std::size_t kLong = 180;
/// … and anywhere from here on.
constexpr std::size_t kTooLong = 300;
constexpr std::size_t kWideWeight = 3;
/// Of one mark in a row.
constexpr std::size_t kMaxRun = 3;

std::size_t weight_of(char32_t c) {
  return is_wide(c) ? kWideWeight : 1;
}

}  // namespace

class SentenceSplitter::Reader {
 public:
  void push(std::string_view delta) {
    utf8_.push(delta, [this](char32_t c) { read(is_blank(c) ? U' ' : is_line_break(c) ? U'\n' : c); });
  }
  void finish() {
    utf8_.reset();
    cut(piece_.size());
  }
  std::optional<std::string> next() {
    if (pieces_.empty()) return std::nullopt;
    auto piece = std::move(pieces_.front());
    pieces_.pop_front();
    return piece;
  }

 private:
  /// A mark at the end of the piece that what follows decides about.
  enum class Mark { none, stop, dot, ellipsis, clause, blank_after };

  void read(char32_t c) {
    if (c == kNoCharacter) return;
    if (c == '\n') {
      cut(piece_.size());
      after_cut_ = false;
      open_ = 0;
      in_quotes_ = false;
      low_quote_ = false;
      return;
    }
    if (after_cut_ && belongs_to_last(c)) return;
    if (mark_ != Mark::none && decides(c)) return;
    if (c == ' ') return add_blank();
    add(c);
    judge(c);
    limit(c);
  }

  /// Whether `c` is a left-over of the piece before.
  bool belongs_to_last(char32_t c) {
    if (c == ' ') {
      blank_after_cut_ = true;
      return true;
    }
    if (!blank_after_cut_) {
      if (is_stop(c) || is_ellipsis(c) || is_clause_mark(c) || closes(c)) return true;
      if (c == '"' && in_quotes_) {
        in_quotes_ = false;
        return true;
      }
    }
    after_cut_ = false;
    return false;
  }

  /// German quotes end with what begins others.
  bool closes(char32_t c) const { return is_closing(c) || (c == U'“' && low_quote_); }

  void add_blank() {
    if (piece_.empty() || piece_.back() == ' ') return;
    if (is_clause_mark(piece_.back())) last_clause_ = piece_.size();
    last_blank_ = piece_.size();
    piece_ += U' ';
  }

  void add(char32_t c) {
    piece_ += c;
    weight_ += weight_of(c);
    says_something_ = says_something_ || is_speakable(c);
    if (c == '"') in_quotes_ = !in_quotes_;
    if (closes(c)) {
      open_ -= std::min<std::size_t>(open_, 1);
      low_quote_ = low_quote_ && c != U'“';
    } else if (is_opening(c)) {
      ++open_;
      low_quote_ = low_quote_ || c == U'„';
    }
  }

  char32_t before_last() const { return piece_.size() < 2 ? U' ' : piece_[piece_.size() - 2]; }

  /// `c` was added: does it end the piece, or might it?
  void judge(char32_t c) {
    if (!says_something_) return;
    closed_ = false;
    const auto before = before_last();
    const bool after_word = before != ' ' && !is_digit(before);
    const bool quoted = open_ > 0 || in_quotes_;
    if (is_ellipsis(c) || (c == '.' && (before == '.' || is_ellipsis(before)))) {
      mark_ = Mark::ellipsis;
    } else if (c == '.' || c == U'．') {
      if (!quoted && before != ' ' && !is_speakable(before)) return cut(piece_.size());
      full_stop_ = full_stop_after(std::u32string_view(piece_).substr(0, piece_.size() - 1));
      mark_ = Mark::dot;
    } else if (is_stop(c)) {
      wide_ = c > 0x7F;
      if (!quoted && (after_word || wide_)) return cut(piece_.size());
      mark_ = Mark::stop;
    } else if (is_clause_mark(c)) {
      const bool wide = is_wide(c) || c == U'、' || c == U'،' || c == U'؛';
      if (wide && after_word) last_clause_ = piece_.size();
      if (!first_ || weight_ - weight_of(c) < kMinClause) return;
      const bool decided = wide || c == ',' || c == ';';
      if (decided && after_word) return cut(piece_.size());
      mark_ = Mark::clause;
    }
  }

  /// What `c` says about the mark before it. Whether nothing is left to do with it.
  bool decides(char32_t c) {
    if (extends_mark(c)) return true;
    const auto mark = std::exchange(mark_, Mark::none);
    if (mark == Mark::blank_after) {
      if (c == ' ') {
        mark_ = mark;
        return true;
      }
      if (!is_lower(c) && !is_digit(c)) {
        cut(piece_.size());
        blank_after_cut_ = true;
      }
      return after_cut_ && belongs_to_last(c);
    }
    if (c == ' ') return blank_decides(mark);
    bool ends = is_wide(c) && !is_digit(c);
    if (mark == Mark::stop) ends = ends || wide_;
    if (mark == Mark::dot) ends = ends && full_stop_ != FullStop::never;
    if (mark == Mark::ellipsis) ends = ends && first_ && weight_ >= kMinClause;
    if (ends) cut(piece_.size());
    return after_cut_ && belongs_to_last(c);
  }

  bool blank_decides(Mark mark) {
    const bool asks =
        closed_ || mark == Mark::ellipsis || (mark == Mark::dot && full_stop_ == FullStop::depends);
    if (mark == Mark::dot && full_stop_ == FullStop::never) return false;
    if (!asks) {
      cut(piece_.size());
      blank_after_cut_ = true;
      return true;
    }
    add_blank();
    mark_ = Mark::blank_after;
    return true;
  }

  bool extends_mark(char32_t c) {
    if (mark_ == Mark::blank_after || mark_ == Mark::clause) return false;
    const bool closing = closes(c) || (c == '"' && in_quotes_);
    const bool stop = is_stop(c) || is_ellipsis(c);
    if (!closing && !stop) return false;
    if (closing) {
      closed_ = true;
    } else if (c == '.' || is_ellipsis(c)) {
      if (mark_ == Mark::dot) mark_ = Mark::ellipsis;
    } else {
      wide_ = c > 0x7F;
      mark_ = Mark::stop;
    }
    if (!piece_.ends_with(std::u32string(kMaxRun, c)) && weight_ < kTooLong) add(c);
    return true;
  }

  /// Cuts what grew too long without a mark.
  void limit(char32_t c) {
    if (weight_ > 2 * kTooLong) return cut(piece_.size());
    if (weight_ < kLong || mark_ != Mark::none || is_combining(c)) return;
    if (last_clause_ > piece_.size() / 3) return cut(last_clause_);
    if (is_wide(c) && is_wide(before_last())) return cut(piece_.size());
    if (last_blank_ > 0) return cut(last_blank_);
    if (weight_ >= kTooLong) cut(piece_.size() - 1);
  }

  /// The first `end` characters are a piece; what follows them is read again.
  void cut(std::size_t end) {
    auto rest = piece_.substr(end);
    piece_.resize(end);
    while (!piece_.empty() && piece_.back() == ' ') piece_.pop_back();
    if (says_something_ && !piece_.empty()) {
      std::string text;
      for (const auto c : piece_) append_utf8(text, c);
      pieces_.push_back(std::move(text));
      first_ = false;
    }
    piece_.clear();
    weight_ = 0;
    last_blank_ = 0;
    last_clause_ = 0;
    says_something_ = false;
    mark_ = Mark::none;
    after_cut_ = rest.empty();
    blank_after_cut_ = false;
    if (rest.empty()) return;
    open_ = 0;
    if (std::ranges::count(rest, U'"') % 2 == 1) in_quotes_ = !in_quotes_;
    for (const auto c : rest) read(c);
  }

  Utf8Reader utf8_;
  std::deque<std::string> pieces_;
  std::u32string piece_;
  std::size_t weight_ = 0;       ///< its length
  std::size_t open_ = 0;         ///< quotes and brackets that are open
  std::size_t last_blank_ = 0;   ///< where one is; 0: none
  std::size_t last_clause_ = 0;  ///< where one ends; 0: none
  bool says_something_ = false;
  bool in_quotes_ = false;  ///< between ASCII quotes
  bool low_quote_ = false;  ///< between „ and “
  Mark mark_ = Mark::none;
  FullStop full_stop_ = FullStop::ends;
  bool closed_ = false;  ///< a quote or bracket ended after the mark
  bool wide_ = false;    ///< the stop is no ASCII one: nothing can go on with it
  bool first_ = true;
  bool after_cut_ = false;
  bool blank_after_cut_ = false;
};

SentenceSplitter::SentenceSplitter() : reader_(std::make_unique<Reader>()) {
}
SentenceSplitter::~SentenceSplitter() = default;
SentenceSplitter::SentenceSplitter(SentenceSplitter&&) noexcept = default;
SentenceSplitter& SentenceSplitter::operator=(SentenceSplitter&&) noexcept = default;

void SentenceSplitter::push(std::string_view delta) {
  reader_->push(delta);
}
void SentenceSplitter::finish() {
  reader_->finish();
}
std::optional<std::string> SentenceSplitter::next() {
  return reader_->next();
}

}  // namespace parley::dialogue
