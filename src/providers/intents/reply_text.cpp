#include "providers/intents/reply_text.hpp"

namespace parley::providers::intents {

using nlohmann::json;

namespace {

/// The position of the `}` that ends the expression which begins at `at`; quoted texts may hold braces.
std::size_t end_of_expression(std::string_view text, std::size_t at) {
  bool quoted = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '\'') quoted = !quoted;
    if (text[at] == '}' && !quoted) return at;
  }
  throw Failure(Error(Errc::configuration, "`{` is never closed"));
}

}  // namespace

class ReplyTextParser {
 public:
  explicit ReplyTextParser(std::string_view text) : text_(text) {}

  ReplyText run() {
    ReplyText out;
    out.pieces_ = pieces(0);
    return out;
  }

 private:
  [[noreturn]] static void fail(const char* message) { throw Failure(Error(Errc::configuration, message)); }

  std::vector<ReplyText::Piece> pieces(int depth) {
    if (depth > 8) fail("`[ ]` nested too deeply");
    std::vector<ReplyText::Piece> out;
    std::string literal;
    const auto flush = [&] {
      if (!literal.empty()) out.push_back({.literal = std::exchange(literal, {})});
    };
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool bracket = c == '{' || c == '}' || c == '[' || c == ']';
      // `]]` closes two sections where two are open.
      const bool twice = bracket && at_ + 1 < text_.size() && text_[at_ + 1] == c && (c != ']' || depth == 0);
      if (!bracket || twice) {
        literal.push_back(c);
        at_ += twice ? 2 : 1;
      } else if (c == '{') {
        flush();
        const std::size_t end = end_of_expression(text_, at_);
        out.push_back({.expression = Expression::parse(text_.substr(at_ + 1, end - at_ - 1)).value()});
        at_ = end + 1;
      } else if (c == '[') {
        flush();
        ++at_;
        out.push_back({.section = pieces(depth + 1)});
        if (at_ == text_.size()) fail("`[` is never closed");
        ++at_;
      } else if (c == ']' && depth > 0) {
        flush();
        return out;
      } else {
        fail(c == '}' ? "`}` without `{`" : "`]` without `[`");
      }
    }
    flush();
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Result<ReplyText> ReplyText::parse(std::string_view text) {
  try {
    return ReplyTextParser(text).run();
  } catch (const Failure& failure) {
    return failure.error();
  }
}

std::optional<std::string> ReplyText::render(const json& scope) const {
  std::string out;
  if (!render(pieces_, scope, out)) return std::nullopt;
  return out;
}

bool ReplyText::render(const std::vector<Piece>& pieces, const json& scope, std::string& out) {
  for (const Piece& piece : pieces) {
    if (piece.expression) {
      const auto value = piece.expression->evaluate(scope);
      const auto text = value ? to_text(*value) : std::nullopt;
      if (!text) return false;
      out += *text;
    } else if (!piece.section.empty()) {
      std::string section;
      if (render(piece.section, scope, section)) out += section;
    } else {
      out += piece.literal;
    }
  }
  return true;
}

void ReplyText::collect_names(std::set<std::string>& names) const {
  collect_names(pieces_, names);
}

void ReplyText::collect_names(const std::vector<Piece>& pieces, std::set<std::string>& names) {
  for (const Piece& piece : pieces) {
    if (piece.expression) piece.expression->collect_names(names);
    collect_names(piece.section, names);
  }
}

Result<ArgumentValue> ArgumentValue::parse(const json& value) {
  try {
    ArgumentValue out;
    if (value.is_object() || value.is_array()) {
      out.constant_ = value.is_object() ? json::object() : json::array();
      for (const auto& [key, member] : value.items()) out.members_.emplace_back(key, parse(member).value());
      return out;
    }
    if (!value.is_string()) {
      out.constant_ = value;
      return out;
    }
    const std::string& text = value.get_ref<const std::string&>();
    out.literals_.emplace_back();
    for (std::size_t at = 0; at < text.size();) {
      const char c = text[at];
      if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c) {
        out.literals_.back().push_back(c);
        at += 2;
      } else if (c == '{') {
        const std::size_t end = end_of_expression(text, at);
        out.expressions_.push_back(
            Expression::parse(std::string_view(text).substr(at + 1, end - at - 1)).value());
        out.literals_.emplace_back();
        at = end + 1;
      } else if (c == '}') {
        return Error(Errc::configuration, "`}` without `{`");
      } else {
        out.literals_.back().push_back(c);
        ++at;
      }
    }
    return out;
  } catch (const Failure& failure) {
    return failure.error();
  }
}

std::optional<json> ArgumentValue::evaluate(const json& scope) const {
  if (!members_.empty()) {
    json out = constant_;
    for (const auto& [key, member] : members_) {
      auto value = member.evaluate(scope);
      if (!value) return std::nullopt;
      if (out.is_array()) {
        out.push_back(*std::move(value));
      } else {
        out[key] = *std::move(value);
      }
    }
    return out;
  }
  if (literals_.empty()) return constant_;
  if (expressions_.size() == 1 && literals_.front().empty() && literals_.back().empty()) {
    return expressions_.front().evaluate(scope);
  }
  std::string out = literals_.front();
  for (std::size_t i = 0; i < expressions_.size(); ++i) {
    const auto value = expressions_[i].evaluate(scope);
    const auto text = value ? to_text(*value) : std::nullopt;
    if (!text) return std::nullopt;
    out += *text + literals_[i + 1];
  }
  return json(out);
}

void ArgumentValue::collect_names(std::set<std::string>& names) const {
  for (const Expression& expression : expressions_) expression.collect_names(names);
  for (const auto& [key, member] : members_) member.collect_names(names);
}

}  // namespace parley::providers::intents
