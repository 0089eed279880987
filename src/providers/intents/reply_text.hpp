#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/core/error.hpp"
#include "providers/intents/expression.hpp"

namespace parley::providers::intents {

/// A text with `{expressions}` in it. What stands in `[ ]` is left out when something in it is missing; the
/// same may nest. `{{`, `}}`, `[[` and `]]` stand for the bracket itself.
class ReplyText {
 public:
  static Result<ReplyText> parse(std::string_view text);

  /// Nothing when something outside of `[ ]` is missing.
  std::optional<std::string> render(const nlohmann::json& scope) const;
  void collect_names(std::set<std::string>& names) const;

 private:
  friend class ReplyTextParser;
  struct Piece {
    std::string literal;
    std::optional<Expression> expression;
    std::vector<Piece> section;  ///< what is in `[ ]`
  };
  static bool render(const std::vector<Piece>& pieces, const nlohmann::json& scope, std::string& out);
  static void collect_names(const std::vector<Piece>& pieces, std::set<std::string>& names);
  std::vector<Piece> pieces_;
};

/// A JSON value whose strings may hold expressions: one expression alone (`"{level}"`) keeps its type, else
/// the string is put together (brackets `[ ]` mean nothing here).
class ArgumentValue {
 public:
  static Result<ArgumentValue> parse(const nlohmann::json& value);

  /// Nothing when something in it is missing.
  std::optional<nlohmann::json> evaluate(const nlohmann::json& scope) const;
  void collect_names(std::set<std::string>& names) const;

 private:
  nlohmann::json constant_;            ///< anything but a string, an array or an object
  std::vector<std::string> literals_;  ///< a string: literal, expression, literal, …, literal
  std::vector<Expression> expressions_;
  std::vector<std::pair<std::string, ArgumentValue>> members_;  ///< of an object, or an array (no names)
};

}  // namespace parley::providers::intents
