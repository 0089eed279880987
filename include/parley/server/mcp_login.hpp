#pragma once

#include <filesystem>
#include <string>

#include "parley/core/clock.hpp"
#include "parley/mcp/oauth.hpp"

namespace parley::server {

struct McpLogin {
  std::string url;  ///< of the MCP server
  mcp::OAuthSettings oauth;
  std::filesystem::path credentials;  ///< the file in which tokens are kept
  Millis timeout{300'000};            ///< for the person
};

/// `parley mcp login`: gets tokens for one server, with the help of the person at the terminal, and keeps
/// them. Also while a server is running, which takes them over by itself. 0, or 2 with one sentence on
/// standard error.
int mcp_login(const McpLogin& login);

}  // namespace parley::server
