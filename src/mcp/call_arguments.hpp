#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "parley/core/error.hpp"

namespace parley::mcp {

/// The arguments of a call of one of Parley's own tools. Whoever sent them may have checked them with the
/// schema; here they are not trusted. Errors are sentences that a model can act on.
class CallArguments {
 public:
  /// `arguments` outlives this.
  explicit CallArguments(const nlohmann::json& arguments) : arguments_(arguments) {}

  bool has(const char* key) const { return find(key) != nullptr; }
  /// One line, trimmed, of at most `max` bytes; empty where it is not there.
  Result<std::string> text(const char* key, std::size_t max) const;
  /// Finite and not negative; 0 where it is not there.
  Result<double> amount(const char* key) const;

 private:
  const nlohmann::json* find(const char* key) const;

  const nlohmann::json& arguments_;
};

/// For comparisons; letters beyond ASCII stay as they are.
std::string lower(std::string text);

}  // namespace parley::mcp
