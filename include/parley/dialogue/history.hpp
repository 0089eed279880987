#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parley/engine/conversation_store.hpp"
#include "parley/engine/llm.hpp"

namespace parley::dialogue {

/// How many tokens of a language model a text is, roughly, without knowing its vocabulary: a character of
/// Chinese, Japanese or Korean and an emoji one each, four characters of the Latin alphabet one, two of any
/// other alphabet one. A byte that is no UTF-8 counts as a token.
std::size_t estimate_tokens(std::string_view text);
/// The same of a message: its text, its calls with their arguments, and what frames it.
std::size_t estimate_tokens(const engine::Message& message);

/// What was said, for the model. Only what was heard is kept of an interrupted reply.
///
/// Model services keep the beginning of a prompt that they have seen before, so a request should begin as the
/// last one did: the system prompt first, unchanged, then the turns, each appended. Turns are therefore
/// forgotten in steps: nothing moves until a limit is passed, and then so many of the oldest go, as whole
/// turns, that the rest is at most three quarters of both limits and many turns fit before the next step. A
/// call is never without its results. A turn that alone is more than the tokens allow is kept without its
/// calls and their results, and where that is still too much, not at all.
class History {
 public:
  History(std::size_t max_turns, std::size_t max_tokens) : max_turns_(max_turns), max_tokens_(max_tokens) {}

  /// One turn: the user's words, what the reply added (calls, results, text), in order.
  void add(std::string user_text, std::vector<engine::Message> reply);

  /// Turns of earlier conversations, oldest first; they go before those of this one.
  void restore(std::vector<engine::PastTurn> earlier);

  /// `persona` as the system prompt, all turns, `aside` as another system message, then `user_text`. What may
  /// differ from turn to turn belongs into `aside`, after all that stays. Empty ones are left out.
  std::vector<engine::Message> request(const std::string& persona, const std::string& aside,
                                       const std::string& user_text) const;

  std::size_t turns() const { return turns_.size(); }

 private:
  struct Turn {
    std::string user_text;
    std::vector<engine::Message> reply;
    std::size_t tokens = 0;
    bool earlier = false;
  };
  bool fit(Turn& turn) const;
  void forget();

  std::size_t max_turns_;
  std::size_t max_tokens_;
  std::size_t tokens_ = 0;
  std::vector<Turn> turns_;
};

/// What stays of an interrupted reply: every call that was made with its result, and of the texts only
/// `heard`.
std::vector<engine::Message> truncate_to_heard(std::vector<engine::Message> reply, const std::string& heard);

}  // namespace parley::dialogue
