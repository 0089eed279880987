#pragma once

#include <string>
#include <string_view>
#include <vector>

// Pieces of complaints.
namespace parley::config {

/// In quotes, at most about 40 bytes of it, without control characters.
std::string in_quotes(std::string_view text);
/// The text with control characters replaced: what a file holds may be shown in a terminal.
std::string printable(std::string text);
/// `a, b or c`
std::string either(const std::vector<std::string>& words);
/// `1 to 5`, or `1 or more`
std::string range(const std::string& min, const std::string& max, bool open_ended);
/// As short as it can be read back.
std::string format_number(double value);

}  // namespace parley::config
