#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parley/config/mcp_servers.hpp"
#include "parley/mcp/http_link.hpp"
#include "parley/mcp/oauth.hpp"
#include "parley/mcp/token_store.hpp"
#include "parley/mcp/tool_server.hpp"

// What the configuration of an MCP server means.
namespace parley::mcp {

HttpLinkSettings link_settings(const config::McpServer& server);

OAuthSettings oauth_settings(const std::string& key, const config::McpServer& server);

/// What the server's requests are authorised with, where the configuration says OAuth; null otherwise. Throws
/// Failure(configuration) where that cannot work.
std::shared_ptr<Authorization> authorization_for(const asio::any_io_executor& executor,
                                                 std::shared_ptr<Scheduler> scheduler, const std::string& key,
                                                 const config::McpServer& server,
                                                 std::shared_ptr<TokenStore> store);

/// The list as the configuration lets it through: allowed and not denied, marked where a person has to agree.
ToolList admitted(std::vector<Tool> tools, const config::McpServer& server);

/// Whether one of the globs (`*`, `?`, `[…]`) fits.
bool matches(const std::vector<std::string>& globs, const std::string& name);

}  // namespace parley::mcp
