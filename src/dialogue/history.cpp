#include "parley/dialogue/history.hpp"

#include <utility>

namespace parley::dialogue {

using engine::Message;

void History::add(std::string user_text, std::vector<Message> reply) {
  if (max_turns_ == 0) return;
  if (turns_.size() == max_turns_) turns_.erase(turns_.begin());
  turns_.push_back({std::move(user_text), std::move(reply)});
}

std::vector<Message> History::request(const std::string& persona, const std::string& user_text) const {
  std::vector<Message> messages;
  const auto say = [&](Message::Role role, const std::string& text) {
    Message message;
    message.role = role;
    message.text = text;
    messages.push_back(std::move(message));
  };
  if (!persona.empty()) say(Message::Role::system, persona);
  for (const auto& turn : turns_) {
    say(Message::Role::user, turn.user_text);
    messages.insert(messages.end(), turn.reply.begin(), turn.reply.end());
  }
  say(Message::Role::user, user_text);
  return messages;
}

std::vector<Message> truncate_to_heard(std::vector<Message> reply, const std::string& heard) {
  std::vector<Message> kept;
  for (auto& message : reply) {
    if (message.role == Message::Role::assistant) {
      message.text.clear();
      if (message.calls.empty()) continue;
    }
    kept.push_back(std::move(message));
  }
  // A call without its result would be refused by model APIs.
  std::size_t open = 0;
  std::size_t complete = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i].role == Message::Role::assistant) {
      open = kept[i].calls.size();
    } else if (open > 0) {
      --open;
    }
    if (open == 0) complete = i + 1;
  }
  kept.resize(complete);
  if (!heard.empty()) {
    Message text;
    text.role = Message::Role::assistant;
    text.text = heard;
    kept.push_back(std::move(text));
  }
  return kept;
}

}  // namespace parley::dialogue
