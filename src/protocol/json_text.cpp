#include "protocol/json_text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "parley/core/json_text.hpp"

namespace parley::protocol {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxShown = 40;

Error invalid(std::string why) {
  return {Errc::invalid_input, std::move(why)};
}

std::string shown(const json& value) {
  auto text = value.is_structured() ? std::string(value.is_array() ? "an array" : "an object")
                                    : value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kMaxShown) text = text.substr(0, kMaxShown) + "...";
  return text;
}

const json& empty_object() {
  static const json object = json::object();
  return object;
}

int cut(double value) {
  constexpr double lowest = std::numeric_limits<int>::min();
  constexpr double highest = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp(value, lowest, highest));
}

/// A number without a fraction, cut to what an int holds.
std::optional<int> whole(const json& value) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  if (number != std::trunc(number)) return std::nullopt;
  return cut(number);
}

}  // namespace

Result<json> parse_object(std::string_view text) {
  // The parser would take a NUL for the end of the text.
  if (text.find('\0') != std::string_view::npos) return invalid("the message holds a NUL byte");
  if (nests_deeper(text, kMaxDepth))
    return invalid("the message nests deeper than " + std::to_string(kMaxDepth) + " levels");
  try {
    auto value = json::parse(text.begin(), text.end());
    if (!value.is_object()) return invalid("the message is " + shown(value) + "; expected a JSON object");
    return value;
  } catch (const json::parse_error& error) {
    return invalid("the message is not valid JSON at byte " + std::to_string(error.byte) + " of " +
                   std::to_string(text.size()));
  } catch (const json::exception&) {
    return invalid("the message holds a number that is too large");
  }
}

std::optional<int> parse_version(std::string_view text) {
  const auto digits = text.substr(0, text.find_first_not_of("0123456789"));
  const auto rest = text.substr(digits.size());
  if (digits.empty()) return std::nullopt;
  if (!rest.empty() &&
      (rest.size() < 2 || rest.front() != '.' || rest.find_first_not_of('0', 1) != std::string_view::npos)) {
    return std::nullopt;
  }
  double value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return cut(value);
}

const json* FieldReader::find(const char* key) const {
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void FieldReader::fail(const char* key, const std::string& why) {
  if (!error_) error_ = invalid("the field " + path_ + key + " " + why);
}

std::string FieldReader::text(const char* key, std::string_view fallback) {
  const auto* value = find(key);
  if (value == nullptr) return std::string(fallback);
  if (value->is_string()) return value->get<std::string>();
  fail(key, "is " + shown(*value) + "; expected a string");
  return {};
}

std::string FieldReader::required_text(const char* key) {
  if (find(key) == nullptr) fail(key, "is missing; expected a string");
  return text(key, {});
}

bool FieldReader::flag(const char* key, bool fallback) {
  const auto* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  fail(key, "is " + shown(*value) + "; expected true or false");
  return fallback;
}

int FieldReader::choice(const char* key, int fallback, std::initializer_list<int> allowed) {
  const auto* value = find(key);
  if (value == nullptr) return fallback;
  const auto number = whole(*value);
  if (number && std::ranges::find(allowed, *number) != allowed.end()) return *number;
  std::string expected;
  for (const int one : allowed) expected += (expected.empty() ? "" : ", ") + std::to_string(one);
  fail(key, "is " + shown(*value) + "; expected one of " + expected);
  return fallback;
}

std::optional<int> FieldReader::version(const char* key) {
  const auto* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto number =
      value->is_string() ? parse_version(value->get_ref<const std::string&>()) : whole(*value);
  if (!number) fail(key, "is " + shown(*value) + "; expected a whole number");
  return number;
}

FieldReader FieldReader::object(const char* key) {
  const auto* value = find(key);
  if (value != nullptr && !value->is_object()) {
    fail(key, "is " + shown(*value) + "; expected an object");
    value = nullptr;
  }
  return {value == nullptr ? empty_object() : *value, error_, path_ + key + "."};
}

json FieldReader::required_object(const char* key) {
  const auto* value = find(key);
  if (value == nullptr || !value->is_object()) {
    fail(key, value == nullptr ? "is missing; expected an object"
                               : "is " + shown(*value) + "; expected an object");
    return empty_object();
  }
  return *value;
}

ObjectWriter& ObjectWriter::add(const char* key, const json& value) {
  if (text_.size() > 1) text_ += ',';
  text_.append("\"").append(key).append("\":");
  text_ += value.dump(-1, ' ', false, json::error_handler_t::replace);
  return *this;
}

std::string ObjectWriter::finish() && {
  text_ += '}';
  return std::move(text_);
}

}  // namespace parley::protocol
