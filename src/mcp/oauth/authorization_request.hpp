#pragma once

#include <string>

#include "mcp/oauth/discovery.hpp"
#include "parley/mcp/token_store.hpp"

namespace parley::mcp::oauth {

/// One request to a person, and what its answer is checked against.
struct AuthorizationRequest {
  std::string url;
  std::string issuer;
  bool says_issuer = false;
  std::string redirect_uri;
  std::string state;
  std::string verifier;  ///< PKCE (RFC 7636)
};

AuthorizationRequest make_authorization_request(const ServerMetadata& server, const OAuthClient& client,
                                                const std::string& redirect_uri, const std::string& scope,
                                                const std::string& resource);

/// The code in the address to which the browser came back. Errors: invalid_input (it answers another
/// request), unauthorized (it comes from another server, or says no).
Result<std::string> read_callback(const AuthorizationRequest& request, const std::string& callback);

}  // namespace parley::mcp::oauth
