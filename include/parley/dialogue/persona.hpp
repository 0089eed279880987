#pragma once

#include <string>
#include <vector>

#include "parley/config/persona.hpp"
#include "parley/core/time_zone.hpp"
#include "parley/engine/tool.hpp"

namespace parley::dialogue {

/// A persona's text for one request, in the two places of History::request. Pure.
///
/// Lines without a variable that changes are the system prompt, which stays the same for a session (`{tools}`
/// changes only with the tools, which are part of the prompt themselves). Lines with `{time}`, `{date}` or
/// `{status}` go behind the history, right before the newest words of the user: in front, each minute would
/// make the whole prompt a new one, which no model service has seen before.
class Persona {
 public:
  struct Facts {
    std::string device;
    std::string language;
    const engine::ToolSet* tools = nullptr;  ///< may be null: none
    std::string status;                      ///< empty: unknown
    WallTime now;
  };
  struct Text {
    std::string prompt;
    std::string aside;
  };

  /// Throws Failure: the template, or the zone's name, is wrong.
  Persona(const std::string& text, const std::string& timezone);

  Text render(const Facts& facts) const;
  /// Whether `{status}` is in it: only then somebody needs to ask the device.
  bool wants_status() const;

 private:
  std::string value(config::PersonaVariable name, const Facts& facts) const;

  std::vector<config::PersonaLine> lines_;
  std::string zone_name_;
  TimeZone zone_;
};

}  // namespace parley::dialogue
