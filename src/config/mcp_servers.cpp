#include "parley/config/mcp_servers.hpp"

#include <algorithm>
#include <cctype>

#include "config/wording.hpp"

namespace parley::config {
namespace {

using namespace std::chrono_literals;

/// What Parley's own tools are called by.
constexpr std::string_view kOwn = "parley";
constexpr std::size_t kMaxKey = 24;

void check_key(const Node& node, const std::string& key) {
  const bool good = !key.empty() && key.size() <= kMaxKey && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (!good || key.find("__") != std::string::npos) {
    node.fail("this is no key for an MCP server; expected at most " + std::to_string(kMaxKey) +
              " letters, digits, - and single _, such as web or home-assistant");
  }
  if (key == kOwn || key == "device") node.fail("this key is taken by Parley itself; expected another one");
}

bool has_control(const std::string& text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

void read_headers(const Node& node, McpServer& out) {
  const auto headers = node.child("headers");
  if (headers) {
    for (const auto& [name, place] : headers->entries()) {
      const auto value = place.text();
      const bool token = !name.empty() && name.find_first_of(" \t:\"(),/;<=>?@[\\]{}") == std::string::npos;
      if (!token || has_control(name) || has_control(value))
        place.fail("this is no HTTP header; expected a name such as X-Api-Key and one line of text");
      out.headers.emplace_back(name, value);
    }
  }
  if (!node.has("token")) return;
  const auto token = node.require("token");
  if (has_control(token) || token.find(' ') != std::string::npos)
    node.fail("token", "there is a blank or a control character in it; expected one word");
  out.headers.emplace_back("Authorization", "Bearer " + token);
}

McpOAuth read_oauth(const Node& node) {
  McpOAuth out;
  out.grant = node.get_choice("grant", out.grant, {"authorization_code", "client_credentials"});
  out.client_id = node.get("client_id", "");
  out.client_secret = node.get("client_secret", "");
  out.issuer = node.get("issuer", "");
  out.client_metadata_url = node.get("client_metadata_url", "");
  out.scopes = node.get_strings("scopes", {});
  out.redirect_uri = node.get("redirect_uri", out.redirect_uri);
  out.client_auth =
      node.get_choice("client_auth", out.client_auth, {"auto", "none", "basic", "post", "private_key_jwt"});
  out.private_key = node.get("private_key", "");
  return out;
}

bool has_authorization(const McpServer& server) {
  return std::ranges::any_of(server.headers, [](const auto& header) {
    constexpr std::string_view kName = "authorization";
    return std::ranges::equal(header.first, kName, {}, [](unsigned char c) { return std::tolower(c); });
  });
}

McpServer read_server(const Node& node) {
  McpServer out;
  out.url = node.require("url");
  const bool http = out.url.starts_with("https://") || out.url.starts_with("http://");
  if (!http || has_control(out.url) || out.url.find(' ') != std::string::npos)
    node.fail("url", "this is no address of an MCP server; expected https://HOST/PATH");
  if (out.url.substr(0, out.url.find('/', 8)).find('@') != std::string::npos)
    node.fail("url", "it holds a name or a password; expected them in `token` or `headers`");
  read_headers(node, out);
  out.era = node.get_choice("era", out.era, {"auto", "modern", "legacy", "sse"});
  out.allow = node.get_strings("allow", out.allow);
  out.deny = node.get_strings("deny", out.deny);
  out.confirm = node.get_strings("confirm", out.confirm);
  out.devices = node.get_strings("devices", out.devices);
  for (auto& device : out.devices) {
    std::ranges::transform(device, device.begin(), [](unsigned char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : static_cast<char>(c);
    });
  }
  out.connect_timeout = node.get("connect_timeout", out.connect_timeout, 100ms, 5min);
  out.timeout = node.get("timeout", out.timeout, 100ms, 1h);
  out.allow_private_network = node.get("allow_private_network", out.allow_private_network);
  if (const auto oauth = node.child("oauth")) {
    out.oauth = read_oauth(*oauth);
    if (has_authorization(out))
      node.fail("oauth", "there are credentials in `token` or `headers` as well; expected one of them");
  }
  return out;
}

}  // namespace

McpServers read_mcp_servers(const Node& root) {
  McpServers out;
  const auto servers = root.child("mcp_servers");
  if (!servers) return out;
  for (const auto& [key, node] : servers->entries()) {
    check_key(node, key);
    out.emplace(key, read_server(node));
  }
  return out;
}

}  // namespace parley::config
