#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dialogue/utf8.hpp"
#include "parley/dialogue/emotion.hpp"

namespace parley::dialogue {

/// Turns a model's text, as it streams in, into text that can be spoken and shown as a subtitle. The bytes
/// may be cut anywhere; the result is the same however they are. Pure; memory is bounded (some hundred
/// characters) however long the text is.
///
/// - Markdown: marks of headings, emphasis, lists, quotes and rules go, their text stays; a table's row is
/// its
///   cells with commas; a link or picture is its text; a fenced block of code is left out; code within a line
///   stays where it is plain words (`Enter`) and is left out otherwise (`x = f(1)`).
/// - HTML tags go; so does all between <think> and </think>.
/// - Addresses with a scheme or www are left out; bare ones (example.com) and e-mail addresses stay.
/// - Stage directions: (laughs), [pause], *smiles*. Between asterisks, what begins a sentence in lower case
/// and
///   is followed by a new one; anywhere, the words of stage_directions.hpp.
/// - Emoji, tags of emotion (<happy>, [emotion: happy]), footnote marks ([1], 【1†source】), control, bidi,
///   zero-width and private-use characters, and bytes that are no UTF-8.
/// - Blanks become one; lines end in one line feed. What cannot be decided yet is held back: never longer
/// than
///   the mark, or for a bracket its content (at most 200 characters, never beyond its line).
class Speakable {
 public:
  /// What can be said of the text so far, beyond what was returned before.
  std::string push(std::string_view delta);
  /// No text follows: what was held back.
  std::string finish();
  /// The face that the text begins with, by an emoji or a tag before the first word.
  const std::optional<Emotion>& emotion() const { return emotion_; }

 private:
  enum class Mode {
    line_start,     ///< marks of a block
    row_start,      ///< a table's row: its rule, perhaps
    text,           ///
    marks,          ///< a run of one of * _ ~ `
    span,           ///< *… or _…
    after_span,     ///< *…*, a direction if a new sentence follows
    code,           ///< `…
    fence,          ///< ```…
    bang,           ///< a ! that may belong to a picture
    bracket,        ///< […
    after_bracket,  ///< […]
    target,         ///< […](…
    paren,          ///< (…
    tag,            ///< <…
    thought,        ///< <think>…
    scheme,         ///< the begin of https://
    link,           ///< https://…
    escape,         ///< a backslash
  };

  void read(char32_t c);
  void step(char32_t c);
  void replay(const std::u32string& text);
  /// Decides about what is held back as if the text ended here.
  void settle();
  void settle_once();

  void on_line_start(char32_t c);
  void on_block_mark(char32_t c);
  void on_row_start(char32_t c);
  void on_text(char32_t c);
  void on_marks(char32_t c);
  void on_emphasis(char32_t c);
  void on_span(char32_t c);
  void on_after_span(char32_t c);
  void on_code(char32_t c);
  void on_fence(char32_t c);
  void on_bang(char32_t c);
  void on_bracket(char32_t c);
  void on_after_bracket(char32_t c);
  void on_target(char32_t c);
  void on_paren(char32_t c);
  void on_tag(char32_t c);
  void on_thought(char32_t c);
  void on_scheme(char32_t c);
  void on_link(char32_t c);
  void on_escape(char32_t c);

  void hold(Mode mode, char32_t opener);
  std::u32string release();
  void picture(char32_t c);
  void end_bracket();
  void end_tag();
  void end_link();
  bool face(const std::u32string& tag);

  void emit(char32_t c);
  void open_paren(char32_t c);
  void put(char32_t c);
  void cut();
  void end_line();
  bool at_line_begin() const { return last_out_ == 0 || last_out_ == '\n'; }
  bool at_sentence_begin() const { return !in_item_ && (at_line_begin() || after_stop_); }

  Utf8Reader reader_;
  Mode mode_ = Mode::line_start;
  std::u32string held_;       ///< what was read of the construct in hand
  char32_t opener_ = 0;       ///< what began it
  char32_t previous_ = '\n';  ///< the character before what is read in text
  char32_t before_ = '\n';    ///< … and before a run of marks
  std::size_t run_ = 0;       ///< length of the run that opened it
  std::size_t closing_ = 0;   ///< … and of one that may close it
  std::size_t depth_ = 0;     ///< brackets open in an address
  bool line_clean_ = false;   ///< fence: nothing in its line yet
  bool first_line_ = false;   ///< fence: still in the line that opened it
  bool blank_seen_ = false;   ///< after_span
  bool in_row_ = false;
  bool in_item_ = false;  ///< a list's item that has no text yet

  std::string out_;
  char32_t last_out_ = 0;
  char32_t paren_ = 0;  ///< an opening bracket that waits for content
  bool blank_ = false;  ///< a blank that waits for a word
  bool cut_ = false;    ///< something was left out since the last character
  bool cell_ = false;   ///< a cell ended
  bool after_stop_ = false;
  bool spoken_ = false;
  std::optional<Emotion> emotion_;
};

/// A whole text at once, in one line.
struct Spoken {
  std::string text;
  Emotion emotion;
};
Spoken speakable(std::string_view text);

}  // namespace parley::dialogue
