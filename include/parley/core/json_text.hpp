#pragma once

#include <string_view>

namespace parley {

/// Whether brackets of a JSON text nest deeper than `levels`; exact for valid JSON. Asked before parsing, so
/// that nothing is built for a text that is only brackets, and nothing recursive is given one.
bool nests_deeper(std::string_view text, int levels);

}  // namespace parley
