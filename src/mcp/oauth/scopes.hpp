#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace parley::mcp::oauth {

/// Scopes in the order in which they came, each once.
class Scopes {
 public:
  /// Separated by blanks.
  void add(std::string_view text);
  void add(const std::vector<std::string>& names);
  void remove(std::string_view name);
  bool has(std::string_view name) const;
  /// Whether all of `other` are here.
  bool cover(std::string_view other) const;
  bool empty() const { return names_.empty(); }
  std::string text() const;

 private:
  std::vector<std::string> names_;
};

}  // namespace parley::mcp::oauth
