#include "parley/mcp/remote_settings.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <utility>

namespace parley::mcp {
namespace {

Era era_of(const std::string& name) {
  for (const auto era : {Era::modern, Era::legacy, Era::sse}) {
    if (to_string(era) == name) return era;
  }
  return Era::automatic;
}

}  // namespace

bool matches(const std::vector<std::string>& globs, const std::string& name) {
  return std::ranges::any_of(
      globs, [&](const std::string& glob) { return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0; });
}

HttpLinkSettings link_settings(const config::McpServer& server) {
  HttpLinkSettings settings;
  settings.url = server.url;
  for (const auto& [name, value] : server.headers) settings.headers.push_back({name, value});
  settings.era = era_of(server.era);
  settings.connect_timeout = server.connect_timeout;
  settings.timeout = server.timeout;
  settings.max_timeout = std::max(settings.max_timeout, server.timeout);
  settings.allow_private_network = server.allow_private_network;
  return settings;
}

OAuthSettings oauth_settings(const std::string& key, const config::McpServer& server) {
  const auto oauth = server.oauth.value_or(config::McpOAuth());
  constexpr std::array kAuths = {std::pair("auto", ClientAuth::automatic),
                                 std::pair("none", ClientAuth::none), std::pair("basic", ClientAuth::basic),
                                 std::pair("post", ClientAuth::post),
                                 std::pair("private_key_jwt", ClientAuth::private_key_jwt)};
  OAuthSettings settings;
  settings.name = key;
  settings.grant =
      oauth.grant == "client_credentials" ? Grant::client_credentials : Grant::authorization_code;
  settings.client_id = oauth.client_id;
  settings.client_secret = oauth.client_secret;
  settings.issuer = oauth.issuer;
  settings.client_metadata_url = oauth.client_metadata_url;
  settings.scopes = oauth.scopes;
  settings.redirect_uri = oauth.redirect_uri;
  for (const auto& [name, auth] : kAuths) {
    if (oauth.client_auth == name) settings.client_auth = auth;
  }
  settings.private_key = oauth.private_key;
  settings.allow_private_network = server.allow_private_network;
  settings.timeout = server.timeout;
  return settings;
}

std::shared_ptr<Authorization> authorization_for(const asio::any_io_executor& executor,
                                                 std::shared_ptr<Scheduler> scheduler, const std::string& key,
                                                 const config::McpServer& server,
                                                 std::shared_ptr<TokenStore> store) {
  if (!server.oauth) return nullptr;
  return make_oauth(executor, std::move(scheduler), oauth_settings(key, server), server.url, std::move(store),
                    nullptr);
}

ToolList admitted(std::vector<Tool> tools, const config::McpServer& server) {
  std::erase_if(tools, [&](const Tool& tool) {
    return !matches(server.allow, tool.name) || matches(server.deny, tool.name);
  });
  for (auto& tool : tools) tool.confirm = matches(server.confirm, tool.name);
  return tools;
}

}  // namespace parley::mcp
