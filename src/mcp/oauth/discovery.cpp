#include "mcp/oauth/discovery.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "parley/net/url.hpp"

namespace parley::mcp::oauth {
namespace {

using nlohmann::json;

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::ranges::find(list, text) != list.end();
}

bool is_true(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

/// The first of these documents that is there; nullopt: none is, and `problem` says why.
struct Found {
  std::optional<json> document;
  std::string problem;
};

/// Servers are often pages that answer any address with something; that is as good as nothing.
Task<Result<Found>> first_of(Fetcher& fetcher, std::vector<std::string> urls) {
  Found found;
  for (const auto& url : urls) {
    auto answer = co_await fetcher.get(url);
    if (!answer) co_return answer.error();
    if (answer->status >= 500) {
      co_return Error(Errc::unavailable, one_line(url) + " answers " + std::to_string(answer->status), true);
    }
    if (answer->status == 200 && answer->body.is_object()) {
      found.document = std::move(answer->body);
      co_return found;
    }
    found.problem = one_line(url) + (answer->status == 200 ? " is no JSON object"
                                                           : " answers " + std::to_string(answer->status));
  }
  co_return found;
}

Result<ServerMetadata> read_server_metadata(const Fetcher& fetcher, const json& document,
                                            const std::string& issuer) {
  ServerMetadata server;
  server.issuer = string_of(document, "issuer");
  if (server.issuer != issuer) {
    return Error(Errc::unauthorized, "the authorization server " + one_line(issuer) +
                                         " says that it is another: " + one_line(server.issuer));
  }
  server.token_endpoint = string_of(document, "token_endpoint");
  server.authorization_endpoint = string_of(document, "authorization_endpoint");
  server.registration_endpoint = string_of(document, "registration_endpoint");
  if (auto good = fetcher.check(server.token_endpoint, "the token endpoint of " + one_line(issuer)); !good)
    return good.error();
  for (const auto* endpoint : {&server.authorization_endpoint, &server.registration_endpoint}) {
    if (endpoint->empty()) continue;
    if (auto good = fetcher.check(*endpoint, "an endpoint of " + one_line(issuer)); !good)
      return good.error();
  }
  server.scopes_supported = strings_of(document, "scopes_supported");
  server.auth_methods = strings_of(document, "token_endpoint_auth_methods_supported");
  server.pkce = contains(strings_of(document, "code_challenge_methods_supported"), "S256");
  server.metadata_documents = is_true(document, "client_id_metadata_document_supported");
  server.says_issuer = is_true(document, "authorization_response_iss_parameter_supported");
  return server;
}

/// Before there was metadata, everything was at known places of the MCP server (revision 2025-03-26).
ServerMetadata metadata_of_old(const std::string& origin) {
  ServerMetadata server;
  server.issuer = origin;
  server.authorization_endpoint = origin + "/authorize";
  server.token_endpoint = origin + "/token";
  server.registration_endpoint = origin + "/register";
  server.pkce = true;
  return server;
}

Task<Result<std::optional<ServerMetadata>>> find_server_metadata(Fetcher& fetcher, std::string issuer,
                                                                 std::string& problem) {
  if (auto good = fetcher.check(issuer, "the authorization server"); !good) co_return good.error();
  auto found = co_await first_of(fetcher, server_metadata_urls(issuer));
  if (!found) co_return found.error();
  problem = found->problem;
  if (!found->document) co_return std::optional<ServerMetadata>();
  auto server = read_server_metadata(fetcher, *found->document, issuer);
  if (!server) co_return server.error();
  co_return std::optional(std::move(*server));
}

Result<std::string> chosen_issuer(const ResourceMetadata& resource, const std::string& preferred,
                                  bool pinned) {
  const auto& named = resource.authorization_servers;
  if (contains(named, preferred)) return preferred;
  if (pinned) {
    return Error(Errc::unauthorized, "the server does not name " + one_line(preferred) +
                                         " as its authorization server, but " + one_line(named.front()) +
                                         "; the client was registered with the former");
  }
  return named.front();
}

}  // namespace

std::vector<std::string> resource_metadata_urls(const std::string& server_url) {
  constexpr const char* kWellKnown = "/.well-known/oauth-protected-resource";
  const auto url = net::parse_url(server_url);
  if (!url) return {};
  const auto root = url->origin() + kWellKnown;
  if (url->path == "/") return {root};
  return {root + url->path + (url->query.empty() ? "" : "?" + url->query), root};
}

std::vector<std::string> server_metadata_urls(const std::string& issuer) {
  constexpr const char* kOAuth = "/.well-known/oauth-authorization-server";
  constexpr const char* kOpenId = "/.well-known/openid-configuration";
  const auto url = net::parse_url(issuer);
  if (!url) return {};
  const auto origin = url->origin();
  auto path = url->path;
  while (path.ends_with('/')) path.pop_back();
  if (path.empty()) return {origin + kOAuth, origin + kOpenId};
  return {origin + kOAuth + path, origin + kOpenId + path, origin + path + kOpenId};
}

bool covers(const std::string& resource, const std::string& server_url) {
  const auto whole = net::parse_url(resource);
  const auto server = net::parse_url(server_url);
  if (!whole || !server || whole->has_fragment || whole->origin() != server->origin()) return false;
  if (!whole->query.empty() && whole->query != server->query) return false;
  const auto with_slash = [](std::string path) { return path.ends_with('/') ? path : path + "/"; };
  return with_slash(server->path).starts_with(with_slash(whole->path));
}

Task<Result<ServerMetadata>> server_metadata(Fetcher& fetcher, std::string issuer) {
  std::string problem;
  auto server = co_await find_server_metadata(fetcher, issuer, problem);
  if (!server) co_return server.error();
  if (*server) co_return std::move(**server);
  co_return Error(Errc::invalid_input,
                  "the authorization server " + one_line(issuer) + " does not describe itself: " + problem);
}

Task<Result<Discovered>> discover(Fetcher& fetcher, std::string server_url, Challenge challenge,
                                  std::string preferred, bool pinned) {
  const bool told = !challenge.resource_metadata.empty();
  std::vector<std::string> urls = resource_metadata_urls(server_url);
  if (told) urls = {challenge.resource_metadata};
  auto found = co_await first_of(fetcher, urls);
  if (!found) co_return found.error();
  Discovered all;
  if (found->document) {
    all.resource.resource = string_of(*found->document, "resource");
    all.resource.authorization_servers = strings_of(*found->document, "authorization_servers");
    all.resource.scopes_supported = strings_of(*found->document, "scopes_supported");
    if (!covers(all.resource.resource, server_url)) {
      co_return Error(Errc::unauthorized, "the server at " + one_line(server_url) +
                                              " says that it is another: " + one_line(all.resource.resource));
    }
    if (all.resource.authorization_servers.empty())
      co_return Error(Errc::invalid_input, "the server names no authorization server");
    const auto issuer = chosen_issuer(all.resource, preferred, pinned);
    if (!issuer) co_return issuer.error();
    auto server = co_await server_metadata(fetcher, *issuer);
    if (!server) co_return server.error();
    all.server = std::move(*server);
    co_return all;
  }
  if (told) co_return Error(Errc::invalid_input, "the server does not describe itself: " + found->problem);
  all.resource.resource = server_url;
  if (pinned) {
    auto server = co_await server_metadata(fetcher, preferred);
    if (!server) co_return server.error();
    all.server = std::move(*server);
    co_return all;
  }
  const auto origin = net::parse_url(server_url)->origin();
  std::string problem;
  auto server = co_await find_server_metadata(fetcher, origin, problem);
  if (!server) co_return server.error();
  all.server = *server ? std::move(**server) : metadata_of_old(origin);
  co_return all;
}

}  // namespace parley::mcp::oauth
