#include "parley/dialogue/history.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace parley::dialogue {

using engine::Message;

namespace {

constexpr std::size_t kFraming = 4;  ///< tokens: the role and the separators of a message

/// The length of the UTF-8 sequence at the front and its code point; 0 where there is none.
std::pair<std::size_t, std::uint32_t> decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const auto first = byte(0);
  if (first < 0x80) return {1, first};
  const std::size_t length = first >= 0xf8 || first < 0xc2 ? 0 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (length == 0 || text.size() < length) return {0, 0};
  std::uint32_t point = first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {0, 0};
    point = point << 6U | (byte(i) & 0x3fU);
  }
  return {length, point};
}

std::size_t quarters(std::uint32_t point) {
  constexpr std::uint32_t kLatinEnd = 0x250;
  constexpr std::uint32_t kLatinMore = 0x1e00;  // with the accents of Vietnamese, and punctuation
  constexpr std::uint32_t kSymbols = 0x2100;
  constexpr std::uint32_t kCjk = 0x2e80;
  if (point < kLatinEnd || (point >= kLatinMore && point < kSymbols)) return 1;
  return point < kCjk ? 2 : 4;
}

std::size_t three_quarters(std::size_t limit) {
  return limit - limit / 4;
}

void without_calls(std::vector<Message>& reply) {
  std::erase_if(reply, [](const Message& message) {
    return message.role == Message::Role::tool || (!message.calls.empty() && message.text.empty());
  });
  for (auto& message : reply) message.calls.clear();
}

}  // namespace

std::size_t estimate_tokens(std::string_view text) {
  std::size_t sum = 0;
  while (!text.empty()) {
    const auto [length, point] = decode(text);
    sum += length == 0 ? 4 : quarters(point);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return (sum + 3) / 4;
}

std::size_t estimate_tokens(const Message& message) {
  auto sum = kFraming + estimate_tokens(message.text);
  for (const auto& call : message.calls) {
    const auto arguments = call.arguments.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    sum += kFraming + estimate_tokens(call.name) + estimate_tokens(arguments);
  }
  return sum;
}

/// Counts the turn, made smaller where it must be; false: it is too large for any history.
bool History::fit(Turn& turn) const {
  const auto count = [&] {
    turn.tokens = kFraming + estimate_tokens(turn.user_text);
    for (const auto& message : turn.reply) turn.tokens += estimate_tokens(message);
    return turn.tokens <= max_tokens_;
  };
  if (count()) return true;
  without_calls(turn.reply);
  return count();
}

void History::forget() {
  if (turns_.size() <= max_turns_ && tokens_ <= max_tokens_) return;
  auto kept = turns_.begin();
  // The newest stays: what was said just now matters most, and it fits.
  while (std::next(kept) != turns_.end() &&
         (static_cast<std::size_t>(turns_.end() - kept) > three_quarters(max_turns_) ||
          tokens_ > three_quarters(max_tokens_))) {
    tokens_ -= kept->tokens;
    ++kept;
  }
  turns_.erase(turns_.begin(), kept);
}

void History::add(std::string user_text, std::vector<Message> reply) {
  if (max_turns_ == 0) return;
  Turn turn{.user_text = std::move(user_text), .reply = std::move(reply)};
  if (!fit(turn)) return;
  tokens_ += turn.tokens;
  turns_.push_back(std::move(turn));
  forget();
}

void History::restore(std::vector<engine::PastTurn> earlier) {
  if (max_turns_ == 0) return;
  std::vector<Turn> turns;
  for (auto& past : earlier) {
    Turn turn{.user_text = std::move(past.user_text), .reply = std::move(past.reply), .earlier = true};
    if (!fit(turn)) continue;
    for (auto& message : turn.reply) message.earlier = true;
    tokens_ += turn.tokens;
    turns.push_back(std::move(turn));
  }
  turns_.insert(turns_.begin(), std::make_move_iterator(turns.begin()), std::make_move_iterator(turns.end()));
  forget();
}

std::vector<Message> History::request(const std::string& persona, const std::string& aside,
                                      const std::string& user_text) const {
  std::vector<Message> messages;
  const auto say = [&](Message::Role role, const std::string& text, bool earlier = false) {
    Message message;
    message.role = role;
    message.text = text;
    message.earlier = earlier;
    messages.push_back(std::move(message));
  };
  if (!persona.empty()) say(Message::Role::system, persona);
  for (const auto& turn : turns_) {
    say(Message::Role::user, turn.user_text, turn.earlier);
    messages.insert(messages.end(), turn.reply.begin(), turn.reply.end());
  }
  if (!aside.empty()) say(Message::Role::system, aside);
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
