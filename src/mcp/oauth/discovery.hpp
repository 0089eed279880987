#pragma once

#include <string>
#include <vector>

#include "mcp/oauth/challenge.hpp"
#include "mcp/oauth/fetch.hpp"

namespace parley::mcp::oauth {

/// What a protected resource says of itself (RFC 9728, 2).
struct ResourceMetadata {
  std::string resource;  ///< exactly as it is published
  std::vector<std::string> authorization_servers;
  std::vector<std::string> scopes_supported;
};

/// What an authorization server says of itself (RFC 8414, 2; OpenID Connect Discovery, 3).
struct ServerMetadata {
  std::string issuer;
  std::string authorization_endpoint;  ///< may be empty, as may be …
  std::string registration_endpoint;   ///< … this
  std::string token_endpoint;
  std::vector<std::string> scopes_supported;
  std::vector<std::string> auth_methods;  ///< of the token endpoint
  bool pkce = false;                      ///< with S256
  bool metadata_documents = false;        ///< takes the address of one as client id
  bool says_issuer = false;               ///< in each authorization response (RFC 9207)
};

/// Where the metadata of an MCP server and of an authorization server are looked for, best first.
std::vector<std::string> resource_metadata_urls(const std::string& server_url);
std::vector<std::string> server_metadata_urls(const std::string& issuer);

/// Whether a resource of this name is, or holds, the server of that URL.
bool covers(const std::string& resource, const std::string& server_url);

struct Discovered {
  ResourceMetadata resource;
  ServerMetadata server;
};

/// Who authorizes for the MCP server. `preferred`: the issuer to take where the server names several; with
/// `pinned` no other one will do. Errors: unauthorized (a document that must not be believed), invalid_input,
/// unavailable and those of the fetcher. The fetcher outlives the task.
Task<Result<Discovered>> discover(Fetcher& fetcher, std::string server_url, Challenge challenge,
                                  std::string preferred, bool pinned);

/// The metadata of this issuer, and of no other.
Task<Result<ServerMetadata>> server_metadata(Fetcher& fetcher, std::string issuer);

}  // namespace parley::mcp::oauth
