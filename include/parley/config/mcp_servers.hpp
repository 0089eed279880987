#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parley/config/node.hpp"
#include "parley/core/clock.hpp"

namespace parley::config {

/// An MCP server behind HTTP whose tools the model may use.
struct McpServer {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;  ///< with `token` as Authorization
  std::string era = "auto";                                  ///< auto, modern, legacy, sse
  /// Globs (`*`, `?`, `[…]`) over the server's own names of tools.
  std::vector<std::string> allow = {"*"};
  std::vector<std::string> deny;
  std::vector<std::string> confirm;
  std::vector<std::string> devices = {"*"};  ///< globs over Device-Ids, lower case
  Millis connect_timeout{5'000};
  Millis timeout{10'000};
  bool allow_private_network = false;

  friend bool operator==(const McpServer&, const McpServer&) = default;
};

/// By key, which goes before the names of its tools.
using McpServers = std::map<std::string, McpServer>;

/// Reads `mcp_servers`. Throws Failure for wrong values.
McpServers read_mcp_servers(const Node& root);

}  // namespace parley::config
