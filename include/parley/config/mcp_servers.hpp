#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parley/config/node.hpp"
#include "parley/core/clock.hpp"

namespace parley::config {

/// How Parley gets tokens for a server (mcp/oauth says what each is for).
struct McpOAuth {
  std::string grant = "authorization_code";  ///< or client_credentials
  std::string client_id;
  std::string client_secret;
  std::string issuer;
  std::string client_metadata_url;
  std::vector<std::string> scopes;
  std::string redirect_uri = "http://127.0.0.1/callback";
  std::string client_auth = "auto";  ///< auto, none, basic, post, private_key_jwt
  std::string private_key;           ///< PEM

  friend bool operator==(const McpOAuth&, const McpOAuth&) = default;
};

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
  std::optional<McpOAuth> oauth;  ///< empty: the headers hold what it takes

  friend bool operator==(const McpServer&, const McpServer&) = default;
};

/// By key, which goes before the names of its tools.
using McpServers = std::map<std::string, McpServer>;

/// Reads `mcp_servers`. Throws Failure for wrong values.
McpServers read_mcp_servers(const Node& root);

}  // namespace parley::config
