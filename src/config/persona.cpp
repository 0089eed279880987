#include "parley/config/persona.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "config/wording.hpp"
#include "parley/config/node.hpp"

namespace parley::config {
namespace {

constexpr std::pair<std::string_view, PersonaVariable> kVariables[] = {
    {"date", PersonaVariable::date},         {"device", PersonaVariable::device},
    {"language", PersonaVariable::language}, {"status", PersonaVariable::status},
    {"time", PersonaVariable::time},         {"timezone", PersonaVariable::timezone},
    {"tools", PersonaVariable::tools},
};

Result<PersonaVariable> variable(std::string_view name) {
  const auto* const found =
      std::ranges::find(kVariables, name, &std::pair<std::string_view, PersonaVariable>::first);
  if (found != std::end(kVariables)) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, value] : kVariables) names.emplace_back(known);
  const auto close = nearest(name, names);
  const auto shown = in_quotes(name);
  return Error(Errc::configuration,
               "there is no variable " + shown + "; " +
                   (close.empty() ? "expected " + either(names) : "did you mean " + close + "?") +
                   " (write {{ for the character itself)");
}

Result<PersonaLine> parse_line(std::string_view text) {
  PersonaLine line;
  std::string literal;
  const auto flush = [&] {
    if (!literal.empty()) line.parts.emplace_back(std::exchange(literal, {}));
  };
  while (!text.empty()) {
    if (text.starts_with("{{") || text.starts_with("}}")) {
      literal += text.front();
      text.remove_prefix(2);
    } else if (text.front() == '{') {
      const auto end = text.find('}');
      if (end == std::string_view::npos) {
        return Error(Errc::configuration,
                     "a { is never closed; expected a variable such as {time}, or {{ for "
                     "the character itself");
      }
      const auto known = variable(text.substr(1, end - 1));
      if (!known) return known.error();
      flush();
      line.parts.emplace_back(*known);
      text.remove_prefix(end + 1);
    } else {
      literal += text.front();
      text.remove_prefix(1);
    }
  }
  flush();
  return line;
}

}  // namespace

bool PersonaLine::changes() const {
  return std::ranges::any_of(parts, [](const auto& part) {
    const auto* const name = std::get_if<PersonaVariable>(&part);
    return name != nullptr && (*name == PersonaVariable::status || *name == PersonaVariable::date ||
                               *name == PersonaVariable::time);
  });
}

Result<std::vector<PersonaLine>> parse_persona(std::string_view text) {
  std::vector<PersonaLine> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = parse_line(text.substr(0, end));
    if (!line) return line.error();
    lines.push_back(std::move(*line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace parley::config
