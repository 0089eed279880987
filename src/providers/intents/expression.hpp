#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parley/core/error.hpp"

namespace parley::providers::intents {

/// What stands between the braces of `{volume + 10}`. Operands are numbers, 'texts' and paths (`level`,
/// `results.0.audio_speaker.volume`, `color.r`); operators `+ - *`; functions:
///   min(a, b, …)  max(a, b, …)  clamp(x, low, high)  round(x)
///   default(a, b)    `a`, or `b` where there is no `a`
///   if(c, a[, b])    by a truth value; without `b`, nothing
///   join(a, b, …)    "a, b and c", of those that are there
///   say(x)           a tool's result as it can be spoken
/// A path that leads nowhere makes the whole expression "missing" (nullopt), except in default() and join().
class Expression {
 public:
  static Result<Expression> parse(std::string_view text);

  /// `scope` is an object: slots by name, and what the caller adds.
  std::optional<nlohmann::json> evaluate(const nlohmann::json& scope) const;
  /// The first elements of all paths.
  void collect_names(std::set<std::string>& names) const;

  struct Node;

 private:
  std::shared_ptr<const Node> root_;
};

/// The words for a value: a text, a number, a truth value; nothing for null, arrays and objects.
std::optional<std::string> to_text(const nlohmann::json& value);

/// What of a tool's result can be spoken: a plain text, or the `response`, `message` or `text` of a JSON
/// object; whole sentences up to `limit` bytes. Nothing for other JSON, and for what is an address or code.
std::optional<std::string> speakable(const nlohmann::json& result, std::size_t limit);

}  // namespace parley::providers::intents
