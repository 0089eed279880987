#include "parley/dialogue/persona.hpp"

#include <algorithm>
#include <array>
#include <ctime>

namespace parley::dialogue {
namespace {

using config::PersonaVariable;

std::string formatted(const std::tm& moment, const char* format) {
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &moment)};
}

std::string names_of(const engine::ToolSet* tools) {
  std::string out;
  if (tools == nullptr) return "none";
  for (const auto& tool : tools->tools) out += (out.empty() ? "" : ", ") + tool.name;
  return out.empty() ? "none" : out;
}

void trim_lines(std::string& text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  text.erase(0, std::min(text.find_first_not_of('\n'), text.size()));
}

}  // namespace

Persona::Persona(const std::string& text, const std::string& timezone)
    : lines_(config::parse_persona(text).value()), zone_name_(timezone), zone_(timezone) {
}

std::string Persona::value(PersonaVariable name, const Facts& facts) const {
  switch (name) {
    case PersonaVariable::device:
      return facts.device;
    case PersonaVariable::language:
      return facts.language;
    case PersonaVariable::timezone:
      return zone_name_.empty() ? formatted(zone_.local(facts.now), "%Z") : zone_name_;
    case PersonaVariable::tools:
      return names_of(facts.tools);
    case PersonaVariable::status:
      return facts.status.empty() ? "unknown" : facts.status;
    case PersonaVariable::date:
      return formatted(zone_.local(facts.now), "%A, %Y-%m-%d");
    case PersonaVariable::time:
      return formatted(zone_.local(facts.now), "%H:%M");
  }
  return {};
}

Persona::Text Persona::render(const Facts& facts) const {
  Text out;
  for (const auto& line : lines_) {
    auto& text = line.changes() ? out.aside : out.prompt;
    for (const auto& part : line.parts) {
      const auto* const name = std::get_if<PersonaVariable>(&part);
      text += name != nullptr ? value(*name, facts) : std::get<std::string>(part);
    }
    text += '\n';
  }
  trim_lines(out.prompt);
  trim_lines(out.aside);
  return out;
}

bool Persona::wants_status() const {
  return std::ranges::any_of(lines_, [](const config::PersonaLine& line) {
    return std::ranges::find(line.parts, std::variant<std::string, PersonaVariable>(
                                             PersonaVariable::status)) != line.parts.end();
  });
}

}  // namespace parley::dialogue
