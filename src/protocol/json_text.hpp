#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "parley/core/error.hpp"

// Reading and writing single JSON objects, for json_codec.
namespace parley::protocol {

/// Parses a text whose root is an object. Errc::invalid_input: not JSON, invalid UTF-8, a NUL, numbers beyond
/// a double, another root, nesting over 32 levels. Of two equal keys the last one counts.
Result<nlohmann::json> parse_object(std::string_view text);

/// `1`, `01`, `1.0`: a whole number, cut to what an int holds.
std::optional<int> parse_version(std::string_view text);

/// Reads the fields of an object and remembers the first that is wrong. A null counts as missing.
class FieldReader {
 public:
  /// `path` goes before the names of fields in errors: empty or `audio_params.`
  FieldReader(const nlohmann::json& object, std::optional<Error>& error, std::string path = {})
      : object_(object), error_(error), path_(std::move(path)) {}

  std::string text(const char* key, std::string_view fallback);
  std::string required_text(const char* key);
  bool flag(const char* key, bool fallback);
  int choice(const char* key, int fallback, std::initializer_list<int> allowed);
  std::optional<int> version(const char* key);
  /// An object, or an empty one when it is missing.
  FieldReader object(const char* key);
  /// An object that has to be there.
  nlohmann::json required_object(const char* key);

  void fail(const char* key, const std::string& why);

 private:
  /// Null when missing.
  const nlohmann::json* find(const char* key) const;

  const nlohmann::json& object_;
  std::optional<Error>& error_;
  std::string path_;
};

/// Writes one object on one line; invalid UTF-8 becomes U+FFFD.
class ObjectWriter {
 public:
  ObjectWriter& add(const char* key, const nlohmann::json& value);
  std::string finish() &&;

 private:
  std::string text_ = "{";
};

}  // namespace parley::protocol
