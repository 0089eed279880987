#pragma once

#include <cstdint>
#include <string>

#include "mcp/oauth/discovery.hpp"
#include "mcp/oauth/fetch.hpp"
#include "parley/mcp/oauth.hpp"
#include "parley/net/url.hpp"

namespace parley::mcp::oauth {

/// What the token endpoint gave (RFC 6749, 5.1).
struct Tokens {
  std::string access_token;
  std::string refresh_token;    ///< may be empty, as may be …
  std::string scope;            ///< … this: what was asked for
  std::int64_t expires_at = 0;  ///< seconds since 1970; 0: not said
};

struct TokenAnswer {
  Result<Tokens> tokens = Error();
  bool grant_is_gone = false;   ///< the code or the refresh token is good for nothing any more
  bool client_is_gone = false;  ///< the server does not know the client (any more)
};

/// How the client authenticates at the token endpoint of this server.
ClientAuth client_auth(const OAuthSettings& settings, const OAuthClient& client,
                       const ServerMetadata& server);

/// Asks the token endpoint. `now`: seconds since 1970.
Task<TokenAnswer> request_tokens(Fetcher& fetcher, const OAuthSettings& settings,
                                 const ServerMetadata& server, OAuthClient client, net::FormFields fields,
                                 std::int64_t now);

/// Dynamic registration (RFC 7591) with this redirect URI and scope (may be empty).
Task<Result<OAuthClient>> register_client(Fetcher& fetcher, const ServerMetadata& server,
                                          std::string redirect_uri, std::string scope);

}  // namespace parley::mcp::oauth
