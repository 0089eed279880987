#include "providers/openai/spoken_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace parley::providers::openai {
namespace {

struct Tag {
  std::string_view opening;
  std::string_view closing;
};
constexpr std::array kTags{Tag{"<think>", "</think>"}, Tag{"<thinking>", "</thinking>"}};
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
/// U+F700 + byte, for bytes from 0x80 on: 0xEF, 0x9E or 0x9F, and a continuation.
constexpr unsigned kPrivate = 0xF700;

bool blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// How many bytes at the end of `text` may be the beginning of `tag`.
std::size_t begun(std::string_view text, std::string_view tag) {
  for (auto size = std::min(text.size(), tag.size() - 1); size > 0; --size) {
    if (text.ends_with(tag.substr(0, size))) return size;
  }
  return 0;
}

struct Character {
  std::size_t size = 1;
  enum { whole, cut, broken } state = whole;
};

/// The character at the beginning of a text that is not empty (RFC 3629, 4).
Character character_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const auto lead = byte(0);
  if (lead < 0x80) return {};
  if (lead < 0xC2 || lead > 0xF4) return {1, Character::broken};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  for (std::size_t i = 1; i < size; ++i) {
    if (i >= text.size()) return {text.size(), Character::cut};
    const auto low = i > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const auto high = i > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(i) < low || byte(i) > high) return {i, Character::broken};
  }
  return {size, Character::whole};
}

}  // namespace

std::string ThoughtFilter::push(std::string_view text) {
  pending_ += text;
  std::string said;
  const auto say = [&](std::string_view part) {
    while (trim_ && !part.empty() && blank(part.front())) part.remove_prefix(1);
    if (part.empty()) return;
    trim_ = false;
    said += part;
  };
  while (true) {
    if (!closing_.empty()) {
      const auto end = pending_.find(closing_);
      if (end == std::string::npos) {
        pending_.erase(0, pending_.size() - begun(pending_, closing_));
        return said;
      }
      pending_.erase(0, end + closing_.size());
      closing_.clear();
      trim_ = true;
      continue;
    }
    auto first = std::string::npos;
    const Tag* opened = nullptr;
    for (const auto& tag : kTags) {
      const auto at = pending_.find(tag.opening);
      if (at >= first) continue;
      first = at;
      opened = &tag;
    }
    if (opened != nullptr) {
      say(std::string_view(pending_).substr(0, first));
      pending_.erase(0, first + opened->opening.size());
      closing_ = opened->closing;
      continue;
    }
    std::size_t held = 0;
    for (const auto& tag : kTags) held = std::max(held, begun(pending_, tag.opening));
    say(std::string_view(pending_).substr(0, pending_.size() - held));
    pending_.erase(0, pending_.size() - held);
    return said;
  }
}

std::string ThoughtFilter::finish() {
  auto rest = std::exchange(pending_, {});
  return closing_.empty() ? rest : std::string();
}

std::string CharacterJoiner::push(std::string_view bytes) {
  pending_ += bytes;
  std::string_view rest(pending_);
  std::string whole;
  while (!rest.empty()) {
    const auto [size, state] = character_at(rest);
    if (state == Character::cut) break;
    whole += state == Character::whole ? rest.substr(0, size) : kReplacement;
    rest.remove_prefix(size);
  }
  pending_ = std::string(rest);
  return whole;
}

std::string CharacterJoiner::finish() {
  return std::exchange(pending_, {}).empty() ? std::string() : std::string(kReplacement);
}

std::string to_private(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto [size, state] = character_at(text);
    if (state == Character::whole) {
      out += text.substr(0, size);
    } else {
      for (const char c : text.substr(0, size)) {
        const auto code = kPrivate + static_cast<std::uint8_t>(c);
        out += static_cast<char>(0xE0U | (code >> 12U));
        out += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
        out += static_cast<char>(0x80U | (code & 0x3FU));
      }
    }
    text.remove_prefix(size);
  }
  return out;
}

std::string from_private(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto size = character_at(text).size;
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const auto code =
        size == 3 ? ((byte(0) & 0x0FU) << 12U) | ((byte(1) & 0x3FU) << 6U) | (byte(2) & 0x3FU) : 0U;
    if (code >= kPrivate + 0x80 && code <= kPrivate + 0xFF) {
      out += static_cast<char>(code - kPrivate);
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace parley::providers::openai
