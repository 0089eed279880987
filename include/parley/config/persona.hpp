#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "parley/core/error.hpp"

namespace parley::config {

/// What a persona's `{name}` stands for.
enum class PersonaVariable {
  device,    ///< the Device-Id
  language,  ///< the profile's, as a tag
  timezone,  ///< by name
  tools,     ///< the names of the tools at hand, or "none"
  status,    ///< what the device's self.get_device_status said last, or "unknown"
  date,      ///< "Tuesday, 2025-03-04" in that zone
  time,      ///< "15:05" in that zone
};

/// One line of a persona: text and variables in order.
struct PersonaLine {
  std::vector<std::variant<std::string, PersonaVariable>> parts;

  /// Whether it may read differently from one turn to the next (`status`, `date`, `time`).
  bool changes() const;
};

/// The lines of a persona. `{name}` is a variable, `{{` and `}}` are the characters themselves. An unknown
/// name or an open `{` is Errc::configuration with the nearest known name.
Result<std::vector<PersonaLine>> parse_persona(std::string_view text);

}  // namespace parley::config
