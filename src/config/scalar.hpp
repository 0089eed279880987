#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parley/core/clock.hpp"
#include "parley/core/error.hpp"

// What the text of a YAML scalar means.
namespace parley::config {

/// Replaces `${NAME}` and `${NAME:-default}` from the environment; `$${` becomes `${`. The default also
/// stands in for an empty variable.
Result<std::string> expand(std::string_view text);

/// YAML 1.2 core schema; numbers out of range are none.
std::optional<bool> parse_bool(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_number(std::string_view text);
bool is_null(std::string_view text);

/// `250ms`, `1.5s`, `2m`, `1h`, `7d`: whole milliseconds, no sign. What is beyond 100,000 years is cut to
/// that.
std::optional<Millis> parse_duration(std::string_view text);
std::string format_duration(Millis duration);

/// `64KB`, `4MB`, `1GB`, `512B` or a plain number of bytes (K = 1024), cut to 2^62.
std::optional<std::int64_t> parse_bytes(std::string_view text);
std::string format_bytes(std::int64_t bytes);

}  // namespace parley::config
