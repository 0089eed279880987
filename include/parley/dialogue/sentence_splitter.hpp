#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace parley::dialogue {

/// Cuts a model's text, as it streams in, into pieces that are worth speaking: the first may end at a clause,
/// the others are sentences; a text without any mark is cut at a blank before it grows too long. Never cuts
/// within a number, a time, an abbreviation, an address or a character. Pure.
class SentenceSplitter {
 public:
  void push(std::string_view delta) { text_ += delta; }
  /// The next complete piece, trimmed, not empty.
  std::optional<std::string> next();
  /// No text follows: next() gives what is left.
  void finish() { finished_ = true; }

 private:
  std::size_t find_end() const;
  std::string text_;
  bool finished_ = false;
  bool first_ = true;
};

}  // namespace parley::dialogue
