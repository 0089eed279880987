#pragma once

#include <string>
#include <vector>

#include "parley/engine/llm.hpp"

namespace parley::dialogue {

/// What was said in a session, for the model. Only what was heard is kept of an interrupted reply.
class History {
 public:
  explicit History(std::size_t max_turns) : max_turns_(max_turns) {}

  /// One turn: the user's words, what the reply added (calls, results, text), in order.
  void add(std::string user_text, std::vector<engine::Message> reply);

  /// system, all turns, then `user_text`. An empty persona gives no system message.
  std::vector<engine::Message> request(const std::string& persona, const std::string& user_text) const;

  std::size_t turns() const { return turns_.size(); }

 private:
  struct Turn {
    std::string user_text;
    std::vector<engine::Message> reply;
  };
  std::size_t max_turns_;
  std::vector<Turn> turns_;
};

/// What stays of an interrupted reply: every call that was made with its result, and of the texts only
/// `heard`.
std::vector<engine::Message> truncate_to_heard(std::vector<engine::Message> reply, const std::string& heard);

}  // namespace parley::dialogue
