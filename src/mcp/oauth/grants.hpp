#pragma once

#include <optional>
#include <string>

#include "mcp/oauth/discovery.hpp"
#include "parley/mcp/oauth.hpp"
#include "parley/net/url.hpp"

namespace parley::mcp::oauth {

/// Throws Failure(configuration) where these cannot work together.
void check_settings(const OAuthSettings& settings, const std::string& server_url);

struct Granted {
  Result<OAuthCredentials> credentials = Error();
  bool grant_is_gone = false;   ///< the code or the refresh token is good for nothing any more
  bool client_is_gone = false;  ///< the authorization server does not know the client (any more)
};

/// The ways to a token. Nothing is kept here. `server` and `place` outlive the tasks.
class Grants {
 public:
  /// All of these outlive it; `interaction` may be null.
  Grants(Fetcher& fetcher, const OAuthSettings& settings, Interaction* interaction,
         const WallClock& wall_clock)
      : fetcher_(&fetcher), settings_(&settings), interaction_(interaction), wall_clock_(&wall_clock) {}

  Task<Granted> by_client_credentials(const ServerMetadata& server, std::string resource, std::string scope);
  Task<Granted> by_refresh_token(const ServerMetadata& server, OAuthCredentials held);
  /// `held`: what this issuer gave before; its registered client is used again.
  Task<Granted> by_person(const Discovered& place, std::string scope, std::optional<OAuthCredentials> held);

 private:
  Task<Granted> request(const ServerMetadata& server, OAuthCredentials wanted, net::FormFields fields);
  Task<Result<OAuthClient>> client_for(const ServerMetadata& server, const std::string& scope,
                                       const std::optional<OAuthCredentials>& held);

  Fetcher* fetcher_;
  const OAuthSettings* settings_;
  Interaction* interaction_;
  const WallClock* wall_clock_;
};

}  // namespace parley::mcp::oauth
