#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/mcp/authorization.hpp"
#include "parley/mcp/token_store.hpp"

// OAuth 2.1 as MCP asks for it (specification 2026-07-28, basic/authorization).
namespace parley::mcp {

enum class Grant {
  authorization_code,  ///< a person agrees once, in a browser
  client_credentials,  ///< Parley acts for itself
};

/// How the client shows who it is at the token endpoint.
enum class ClientAuth { automatic, none, basic, post, private_key_jwt };

struct OAuthSettings {
  std::string name;  ///< of the server in the configuration, for messages
  Grant grant = Grant::authorization_code;
  std::string client_id;  ///< where Parley was registered beforehand; empty: it is not
  std::string client_secret;
  /// The authorization server to use: the one that knows `client_id`. Empty: the one that the MCP server
  /// names.
  std::string issuer;
  /// The https address of a client ID metadata document, which is then the client id; may be empty.
  std::string client_metadata_url;
  /// What to ask for instead of all that the server offers; what it demands is added.
  std::vector<std::string> scopes;
  /// Where the browser comes back to; without a port, any free one. Not on this machine: only by paste.
  std::string redirect_uri = "http://127.0.0.1/callback";
  ClientAuth client_auth = ClientAuth::automatic;
  std::string private_key;  ///< PEM, for private_key_jwt: RSA (RS256) or P-256 (ES256)
  /// Plain http, and authorization servers that are not on the public internet.
  bool allow_private_network = false;
  Millis timeout{10'000};  ///< of each request
};

/// The person at the browser.
class Interaction {
 public:
  Interaction() = default;
  Interaction(const Interaction&) = delete;
  Interaction& operator=(const Interaction&) = delete;
  Interaction(Interaction&&) = delete;
  Interaction& operator=(Interaction&&) = delete;
  virtual ~Interaction() = default;

  /// Sends the person to `authorization_url` and gives the whole address, below `redirect_uri`, to which the
  /// browser was sent back. Errors: timeout, cancelled by the person, …
  virtual Task<Result<std::string>> authorize(std::string authorization_url, std::string redirect_uri) = 0;
};

class OAuth : public Authorization {
 public:
  /// Gets new tokens, whatever is held, with the person's help where the grant needs it.
  virtual Task<Result<>> log_in() = 0;
};

/// Seconds since 1970.
using WallClock = std::function<std::int64_t()>;

/// The credentials for the MCP server at `server_url`. Without an `interaction`, tokens are renewed as long
/// as that needs nobody; then Errc::unauthorized says what to run. Belongs to the thread of `executor`.
/// Throws Failure(configuration) where the settings cannot work.
std::shared_ptr<OAuth> make_oauth(const asio::any_io_executor& executor, std::shared_ptr<Scheduler> scheduler,
                                  OAuthSettings settings, std::string server_url,
                                  std::shared_ptr<TokenStore> store, std::shared_ptr<Interaction> interaction,
                                  WallClock wall_clock = {});

}  // namespace parley::mcp
