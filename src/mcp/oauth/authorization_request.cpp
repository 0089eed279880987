#include "mcp/oauth/authorization_request.hpp"

#include <openssl/sha.h>

#include <array>

#include "mcp/oauth/scopes.hpp"
#include "parley/core/base64.hpp"
#include "parley/core/hex.hpp"
#include "parley/net/url.hpp"

namespace parley::mcp::oauth {
namespace {

std::string challenge_of(const std::string& verifier) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(verifier.data()), verifier.size(), digest.data());
  return base64url({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace

AuthorizationRequest make_authorization_request(const ServerMetadata& server, const OAuthClient& client,
                                                const std::string& redirect_uri, const std::string& scope,
                                                const std::string& resource) {
  AuthorizationRequest request;
  request.issuer = server.issuer;
  request.says_issuer = server.says_issuer;
  request.redirect_uri = redirect_uri;
  request.state = random_hex(16);
  request.verifier = random_hex(32);
  net::FormFields fields{{"response_type", "code"},
                         {"client_id", client.id},
                         {"redirect_uri", redirect_uri},
                         {"state", request.state},
                         {"code_challenge", challenge_of(request.verifier)},
                         {"code_challenge_method", "S256"},
                         {"resource", resource}};
  if (!scope.empty()) fields.emplace_back("scope", scope);
  Scopes scopes;
  scopes.add(scope);
  // OpenID Connect Core, 11: without it the scope is ignored.
  if (scopes.has("offline_access")) fields.emplace_back("prompt", "consent");
  const auto& endpoint = server.authorization_endpoint;
  request.url = endpoint + (endpoint.find('?') == std::string::npos ? "?" : "&") + net::form_encoded(fields);
  return request;
}

Result<std::string> read_callback(const AuthorizationRequest& request, const std::string& callback) {
  const auto mark = callback.find('?');
  if (mark == std::string::npos)
    return Error(Errc::invalid_input, "this is not the address to which the browser was sent back");
  const auto end = callback.find('#', mark);
  const auto fields = net::form_decoded(std::string_view(callback).substr(
      mark + 1, end == std::string::npos ? std::string::npos : end - mark - 1));
  if (!fields) return Error(Errc::invalid_input, "the address of the answer is malformed");
  const auto get = [&](const char* name) {
    const auto found = fields->find(name);
    return found == fields->end() ? std::string() : found->second;
  };
  if (get("state") != request.state)
    return Error(Errc::invalid_input, "this answers another request: its state is another one");
  // RFC 9207, 2.4; before anything else of the answer is believed or shown.
  const bool says_issuer = fields->contains("iss");
  if (says_issuer ? get("iss") != request.issuer : request.says_issuer) {
    return Error(Errc::unauthorized,
                 "the answer does not come from the authorization server " + request.issuer + ": refused");
  }
  if (fields->contains("error")) {
    const auto description = get("error_description");
    return Error(Errc::unauthorized, one_line("the authorization server says no: " + get("error") +
                                              (description.empty() ? "" : ": " + description)));
  }
  const auto code = get("code");
  if (code.empty()) return Error(Errc::invalid_input, "the answer holds no code");
  return code;
}

}  // namespace parley::mcp::oauth
