#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace parley::dialogue {

/// Cuts speakable text, as it streams in, into pieces that are worth speaking: the first may end at a clause
/// of a dozen letters or four Chinese characters, the others are sentences or lines. The bytes may be cut
/// anywhere; the pieces are the same however they are. Pure.
///
/// A piece is there with the character that decides it:
/// - a line's end; 。！？ and the like; ! and ? after a letter; a clause mark after a letter (: and dashes:
/// with
///   the blank after them). Marks and closing quotes that still follow ("?!") are dropped.
/// - a full stop, with the next character: with a blank after a word of four letters or more. After a shorter
///   word, a number or an abbreviation (abbreviations.hpp), and after an ellipsis, after a quote or bracket
///   that closes behind the mark, with the character after that blank: one in lower case goes on with the
///   sentence. An address, a number, a time or a version goes on at once.
/// - a mark within quotes or brackets, with the next character, which may close them.
///
/// A text without any mark is cut at 180 letters: after a clause, else at a blank, else anywhere among
/// Chinese and Japanese characters, which count as three; a word without end at 300. So memory is bounded by
/// that and the pieces of one delta. A piece without anything to say (only marks) is dropped.
class SentenceSplitter {
 public:
  SentenceSplitter();
  ~SentenceSplitter();
  SentenceSplitter(SentenceSplitter&&) noexcept;
  SentenceSplitter& operator=(SentenceSplitter&&) noexcept;
  SentenceSplitter(const SentenceSplitter&) = delete;
  SentenceSplitter& operator=(const SentenceSplitter&) = delete;

  void push(std::string_view delta);
  /// The next complete piece: one line of UTF-8, trimmed, not empty.
  std::optional<std::string> next();
  /// No text follows: next() gives what is left.
  void finish();

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace parley::dialogue
