#include "providers/intents/expression.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "providers/intents/sentence.hpp"

namespace parley::providers::intents {

using nlohmann::json;
using Value = std::optional<json>;

struct Expression::Node {
  enum class Kind { constant, path, call };
  Kind kind = Kind::constant;
  json value;                     ///< constant
  std::vector<std::string> path;  ///< path
  std::string function;           ///< call; an operator's sign is its function's name
  std::vector<Node> operands;
};

namespace {

using Node = Expression::Node;

constexpr int kMaxDepth = 32;
constexpr std::size_t kSpeechLimit = 600;
constexpr std::size_t kMaxExpression = 1000;  ///< bytes
constexpr std::size_t kShown = 100;           ///< bytes of it in an error

struct Function {
  std::string_view name;
  std::size_t least;
  std::size_t most;
};
constexpr std::array<Function, 8> kFunctions{{{"min", 1, 16},
                                              {"max", 1, 16},
                                              {"clamp", 3, 3},
                                              {"round", 1, 1},
                                              {"default", 2, 2},
                                              {"if", 2, 3},
                                              {"join", 1, 16},
                                              {"say", 1, 1}}};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Node run() {
    if (text_.size() > kMaxExpression) fail("longer than " + std::to_string(kMaxExpression) + " bytes");
    Node root = sum();
    skip_spaces();
    if (at_ < text_.size()) fail(std::string("unexpected `") + text_[at_] + "`");
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    const bool whole = text_.size() <= kShown;
    throw Failure(Error(Errc::configuration, "in `{" + std::string(text_.substr(0, kShown)) +
                                                 (whole ? "" : "…") + "}`: " + message));
  }

  void skip_spaces() { at_ = std::min(text_.find_first_not_of(" \t\n", at_), text_.size()); }
  char peek() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  static Node call(std::string function, std::vector<Node> operands) {
    return {.kind = Node::Kind::call, .function = std::move(function), .operands = std::move(operands)};
  }

  Node sum() {
    if (++depth_ > kMaxDepth) fail("nested too deeply");
    Node left = product();
    for (char c = peek(); c == '+' || c == '-'; c = peek()) {
      ++at_;
      left = call(std::string(1, c), {left, product()});
    }
    --depth_;
    return left;
  }

  Node product() {
    Node left = factor();
    while (take('*')) left = call("*", {left, factor()});
    return left;
  }

  Node factor() {
    const char c = peek();
    if (c == '-') {
      ++at_;
      if (++depth_ > kMaxDepth) fail("nested too deeply");
      Node inner = factor();
      --depth_;
      return call("-", {Node{.value = 0}, std::move(inner)});
    }
    if (c == '(') {
      ++at_;
      Node inner = sum();
      if (!take(')')) fail("`(` is never closed");
      return inner;
    }
    if (c == '\'') return quoted();
    if (c >= '0' && c <= '9') return number();
    return path_or_call();
  }

  Node quoted() {
    const std::size_t end = text_.find('\'', ++at_);
    if (end == std::string_view::npos) fail("a text is never closed with `'`");
    Node out{.value = std::string(text_.substr(at_, end - at_))};
    at_ = end + 1;
    return out;
  }

  Node number() {
    const std::size_t end = std::min(text_.find_first_not_of("0123456789.", at_), text_.size());
    const std::string_view digits = text_.substr(at_, end - at_);
    at_ = end;
    json value = json::parse(digits, nullptr, false);
    if (!value.is_number()) fail("`" + std::string(digits) + "` is not a number");
    return {.value = std::move(value)};
  }

  std::string name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_name(text_.substr(at_, 1)) || (text_[at_] >= '0' && text_[at_] <= '9')))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Node path_or_call() {
    Node out{.kind = Node::Kind::path};
    std::string first = name();
    if (first.empty())
      fail(at_ < text_.size() ? std::string("unexpected `") + text_[at_] + "`" : "something is missing");
    if (peek() == '(') return arguments(std::move(first));
    out.path.push_back(std::move(first));
    while (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      out.path.push_back(name());
      if (out.path.back().empty()) fail("a path is written a.b.c");
    }
    return out;
  }

  Node arguments(std::string function) {
    const auto* known = std::find_if(kFunctions.begin(), kFunctions.end(),
                                     [&](const Function& f) { return f.name == function; });
    if (known == kFunctions.end()) fail("there is no function `" + function + "`");
    ++at_;
    std::vector<Node> operands{sum()};
    while (take(',')) operands.push_back(sum());
    if (!take(')')) fail("`(` is never closed");
    if (operands.size() < known->least || operands.size() > known->most) {
      fail("`" + function + "` does not take " + std::to_string(operands.size()) + " values");
    }
    return call(std::move(function), std::move(operands));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Value follow(const json& scope, const std::vector<std::string>& path) {
  const json* at = &scope;
  for (const std::string& key : path) {
    if (at->is_array()) {
      std::size_t index = 0;
      const auto [stop, error] = std::from_chars(key.data(), key.data() + key.size(), index);
      if (error != std::errc() || stop != key.data() + key.size() || index >= at->size()) return std::nullopt;
      at = &(*at)[index];
    } else if (at->is_object()) {
      const auto found = at->find(key);
      if (found == at->end()) return std::nullopt;
      at = &*found;
    } else {
      return std::nullopt;
    }
  }
  if (at->is_null()) return std::nullopt;
  return *at;
}

Value arithmetic(char sign, const json& a, const json& b) {
  if (!a.is_number() || !b.is_number()) return std::nullopt;
  if (a.is_number_integer() && b.is_number_integer()) {
    const auto x = a.get<std::int64_t>();
    const auto y = b.get<std::int64_t>();
    std::int64_t out = 0;
    const bool overflow = sign == '+'   ? __builtin_add_overflow(x, y, &out)
                          : sign == '-' ? __builtin_sub_overflow(x, y, &out)
                                        : __builtin_mul_overflow(x, y, &out);
    return overflow ? Value() : Value(out);
  }
  const auto x = a.get<double>();
  const auto y = b.get<double>();
  return json(sign == '+' ? x + y : sign == '-' ? x - y : x * y);
}

Value extreme(const std::vector<Value>& values, bool largest) {
  Value best;
  for (const Value& value : values) {
    if (!value->is_number()) return std::nullopt;
    const bool better = !best || (largest ? best->get<double>() < value->get<double>()
                                          : value->get<double>() < best->get<double>());
    if (better) best = value;
  }
  return best;
}

Value rounded(const json& value) {
  if (!value.is_number()) return std::nullopt;
  if (value.is_number_integer()) return value;
  const double x = std::round(value.get<double>());
  if (!(std::abs(x) < 9e15)) return std::nullopt;
  return json(static_cast<std::int64_t>(x));
}

bool truth(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() != 0;
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return !value.empty();
}

Value evaluate(const Node& node, const json& scope);

Value joined(const Node& node, const json& scope) {
  std::vector<std::string> parts;
  for (const Node& operand : node.operands) {
    const Value value = evaluate(operand, scope);
    std::optional<std::string> text = value ? to_text(*value) : std::nullopt;
    if (text && !text->empty()) parts.push_back(*std::move(text));
  }
  if (parts.empty()) return std::nullopt;
  std::string out = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) out += (i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return json(out);
}

Value evaluate_call(const Node& node, const json& scope) {
  if (node.function == "join") return joined(node, scope);
  if (node.function == "default") {
    Value first = evaluate(node.operands[0], scope);
    return first ? first : evaluate(node.operands[1], scope);
  }
  if (node.function == "if") {
    const Value condition = evaluate(node.operands[0], scope);
    if (!condition) return std::nullopt;
    if (truth(*condition)) return evaluate(node.operands[1], scope);
    return node.operands.size() > 2 ? evaluate(node.operands[2], scope) : Value(json(""));
  }
  std::vector<Value> values;
  for (const Node& operand : node.operands) {
    values.push_back(evaluate(operand, scope));
    if (!values.back()) return std::nullopt;
  }
  if (node.function == "min" || node.function == "max") return extreme(values, node.function == "max");
  if (node.function == "clamp") {
    const Value raised = extreme({values[0], values[1]}, true);
    return raised ? extreme({raised, values[2]}, false) : std::nullopt;
  }
  if (node.function == "round") return rounded(*values[0]);
  if (node.function == "say") {
    const auto text = speakable(*values[0], kSpeechLimit);
    return text ? Value(json(*text)) : std::nullopt;
  }
  return arithmetic(node.function.front(), *values[0], *values[1]);
}

Value evaluate(const Node& node, const json& scope) {
  switch (node.kind) {
    case Node::Kind::constant:
      return node.value;
    case Node::Kind::path:
      return follow(scope, node.path);
    case Node::Kind::call:
      break;
  }
  return evaluate_call(node, scope);
}

void collect(const Node& node, std::set<std::string>& names) {
  if (node.kind == Node::Kind::path) names.insert(node.path.front());
  for (const Node& operand : node.operands) collect(operand, names);
}

}  // namespace

Result<Expression> Expression::parse(std::string_view text) {
  try {
    Expression out;
    out.root_ = std::make_shared<const Node>(Parser(text).run());
    return out;
  } catch (const Failure& failure) {
    return failure.error();
  }
}

std::optional<json> Expression::evaluate(const json& scope) const {
  return intents::evaluate(*root_, scope);
}

void Expression::collect_names(std::set<std::string>& names) const {
  collect(*root_, names);
}

}  // namespace parley::providers::intents
