#include "mcp/oauth/challenge.hpp"

#include <algorithm>
#include <string>

namespace parley::mcp::oauth {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : left_(text) {}

  bool at_end() const { return left_.empty(); }
  bool take(char wanted) {
    if (left_.empty() || left_.front() != wanted) return false;
    left_.remove_prefix(1);
    return true;
  }
  void skip_blanks() {
    while (!left_.empty() && is_blank(left_.front())) left_.remove_prefix(1);
  }
  /// Up to a blank, a comma or an equals sign.
  std::string_view word(std::string_view ends = " \t,=") {
    const auto length = std::min(left_.find_first_of(ends), left_.size());
    const auto found = left_.substr(0, length);
    left_.remove_prefix(length);
    return found;
  }
  std::string value() {
    if (!take('"')) return std::string(word(" \t,"));
    std::string text;
    while (!left_.empty() && !take('"')) {
      if (left_.front() == '\\' && left_.size() > 1) left_.remove_prefix(1);
      text += left_.front();
      left_.remove_prefix(1);
    }
    return text;
  }

 private:
  std::string_view left_;
};

}  // namespace

Challenge read_challenge(std::string_view header) {
  Challenge challenge;
  Reader reader(header);
  bool bearer = false;
  while (!reader.at_end()) {
    reader.skip_blanks();
    if (reader.take(',') || reader.take('=')) continue;
    const auto name = lower(reader.word());
    reader.skip_blanks();
    if (!reader.take('=')) {
      bearer = name == "bearer";
      continue;
    }
    reader.skip_blanks();
    auto value = reader.value();
    auto* const wanted = name == "resource_metadata" ? &challenge.resource_metadata
                         : name == "scope"           ? &challenge.scope
                         : name == "error"           ? &challenge.error
                                                     : nullptr;
    if (bearer && wanted != nullptr && wanted->empty()) *wanted = std::move(value);
  }
  return challenge;
}

}  // namespace parley::mcp::oauth
