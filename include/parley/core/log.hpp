#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace parley::log {

enum class Level { trace, debug, info, warn, error, off };

/// One `key=value` of a log line. Values with spaces or quotes are quoted; control characters and
/// anything past 200 bytes are cut, so that a peer cannot write lines of its own.
struct Field {
  std::string_view key;
  std::string value;
  bool is_private = false;

  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const char* v) : key(k), value(v) {}
  Field(std::string_view k, const std::string& v) : key(k), value(v) {}
  Field(std::string_view k, bool v) : key(k), value(v ? "true" : "false") {}
  template <class N>
    requires std::is_arithmetic_v<N>
  Field(std::string_view k, N v) : key(k), value(std::to_string(v)) {}
};

/// What people said, and tokens: shown only with `log.private: true`.
Field private_field(std::string_view key, std::string_view value);

using Fields = std::initializer_list<Field>;

/// `json` writes one JSON object a line instead of text. Called once at start and on reload.
void configure(Level level, bool show_private, bool json);
bool private_shown();
bool parse_level(std::string_view name, Level& level);

/// `message` is a constant string; what varies goes into fields. Thread-safe.
void write(Level level, std::string_view message, Fields fields);

inline void debug(std::string_view message, Fields fields = {}) {
  write(Level::debug, message, fields);
}
inline void info(std::string_view message, Fields fields = {}) {
  write(Level::info, message, fields);
}
inline void warn(std::string_view message, Fields fields = {}) {
  write(Level::warn, message, fields);
}
inline void error(std::string_view message, Fields fields = {}) {
  write(Level::error, message, fields);
}

}  // namespace parley::log
