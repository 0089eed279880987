#pragma once

#include <string>
#include <string_view>

namespace parley::providers::openai {

/// Takes what models think aloud, `<think>…</think>` and `<thinking>…</thinking>`, out of text that comes in
/// pieces cut anywhere.
class ThoughtFilter {
 public:
  /// What of it is to be said by now.
  std::string push(std::string_view text);
  /// The text is over: what looked like the beginning of a tag was none.
  std::string finish();

 private:
  std::string pending_;
  std::string closing_;  ///< the tag that ends the thought; empty outside of one
  bool trim_ = false;
};

/// Puts characters together whose bytes come in several pieces.
class CharacterJoiner {
 public:
  /// The complete characters; bytes that are no UTF-8 become U+FFFD.
  std::string push(std::string_view bytes);
  /// What never became complete, as U+FFFD.
  std::string finish();

 private:
  std::string pending_;
};

/// JSON may only hold whole characters, but some servers cut them between two answers. Bytes of `text` that
/// are no UTF-8 are replaced by characters of a private range, which from_private() turns back.
std::string to_private(std::string_view text);
std::string from_private(std::string_view text);

}  // namespace parley::providers::openai
