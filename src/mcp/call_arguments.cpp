#include "mcp/call_arguments.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace parley::mcp {
namespace {

/// One line without control characters, and blanks around it.
std::string cleaned(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

Error wrong(const char* key, const char* why) {
  return {Errc::invalid_input, std::string("`") + key + "` " + why};
}

}  // namespace

const nlohmann::json* CallArguments::find(const char* key) const {
  if (!arguments_.is_object()) return nullptr;
  const auto found = arguments_.find(key);
  return found == arguments_.end() || found->is_null() ? nullptr : &*found;
}

Result<std::string> CallArguments::text(const char* key, std::size_t max) const {
  const auto* const value = find(key);
  if (value == nullptr) return std::string();
  if (!value->is_string()) return wrong(key, "has to be text.");
  auto out = cleaned(value->get<std::string>());
  if (out.size() > max) return wrong(key, "is too long.");
  return out;
}

Result<double> CallArguments::amount(const char* key) const {
  const auto* const value = find(key);
  if (value == nullptr) return 0.0;
  const double out = value->is_number() ? value->get<double>() : NAN;
  if (!std::isfinite(out) || out < 0) return wrong(key, "has to be a number that is not negative.");
  return out;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace parley::mcp
