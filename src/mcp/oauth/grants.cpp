#include "mcp/oauth/grants.hpp"

#include <utility>

#include "mcp/oauth/authorization_request.hpp"
#include "mcp/oauth/client_assertion.hpp"
#include "mcp/oauth/token.hpp"

namespace parley::mcp::oauth {

void check_settings(const OAuthSettings& settings, const std::string& server_url) {
  const auto refuse = [](const std::string& why) { throw Failure(Error(Errc::configuration, why)); };
  const auto server = net::parse_url(server_url);
  if (!server || server->has_fragment) refuse("the server's address is not usable with OAuth");
  if (server->scheme != "https" && !server->is_loopback() && !settings.allow_private_network)
    refuse("tokens are sent encrypted alone: the server's address has to begin with https");
  if (!settings.client_metadata_url.empty()) {
    const auto document = net::parse_url(settings.client_metadata_url);
    if (!document || document->scheme != "https" || document->path == "/")
      refuse("client_metadata_url has to be an https address with a path");
  }
  if (!net::parse_url(settings.redirect_uri)) refuse("redirect_uri has to be an http or https address");
  const bool has_secret = !settings.client_secret.empty();
  if (has_secret && settings.client_id.empty()) refuse("client_secret needs a client_id");
  if (settings.grant == Grant::client_credentials && settings.client_id.empty())
    refuse("client_credentials needs a client_id");
  if (settings.grant == Grant::client_credentials && !has_secret && settings.private_key.empty())
    refuse("client_credentials needs a client_secret or a private_key");
  const bool needs_secret =
      settings.client_auth == ClientAuth::basic || settings.client_auth == ClientAuth::post;
  if (needs_secret && !has_secret) refuse("this way to authenticate needs a client_secret");
  if (settings.client_auth == ClientAuth::private_key_jwt && settings.private_key.empty())
    refuse("private_key_jwt needs a private_key");
  if (!settings.private_key.empty()) {
    const auto tried = client_assertion(settings.private_key, "", "", 0);
    if (!tried) throw Failure(tried.error());
  }
}

Task<Granted> Grants::request(const ServerMetadata& server, OAuthCredentials wanted, net::FormFields fields) {
  auto client = wanted.client;
  if (!client.registered && client.id == settings_->client_id) client.secret = settings_->client_secret;
  auto answer = co_await request_tokens(*fetcher_, *settings_, server, std::move(client), std::move(fields),
                                        (*wall_clock_)());
  if (!answer.tokens) co_return Granted{answer.tokens.error(), answer.grant_is_gone, answer.client_is_gone};
  auto& tokens = *answer.tokens;
  wanted.issuer = server.issuer;
  wanted.access_token = std::move(tokens.access_token);
  if (!tokens.refresh_token.empty()) wanted.refresh_token = std::move(tokens.refresh_token);
  wanted.expires_at = tokens.expires_at;
  if (!tokens.scope.empty()) wanted.scope = std::move(tokens.scope);
  co_return Granted{std::move(wanted)};
}

Task<Granted> Grants::by_client_credentials(const ServerMetadata& server, std::string resource,
                                            std::string scope) {
  OAuthCredentials wanted;
  wanted.resource = std::move(resource);
  wanted.client.id = settings_->client_id;
  wanted.scope = std::move(scope);
  net::FormFields fields{{"grant_type", "client_credentials"}, {"resource", wanted.resource}};
  if (!wanted.scope.empty()) fields.emplace_back("scope", wanted.scope);
  co_return co_await request(server, std::move(wanted), std::move(fields));
}

Task<Granted> Grants::by_refresh_token(const ServerMetadata& server, OAuthCredentials held) {
  net::FormFields fields{
      {"grant_type", "refresh_token"}, {"refresh_token", held.refresh_token}, {"resource", held.resource}};
  co_return co_await request(server, std::move(held), std::move(fields));
}

Task<Granted> Grants::by_person(const Discovered& place, std::string scope,
                                std::optional<OAuthCredentials> held) {
  const auto& server = place.server;
  if (!server.pkce) {
    co_return Granted{Error(Errc::unsupported, "the authorization server " + one_line(server.issuer) +
                                                   " does not protect codes (PKCE with S256)")};
  }
  if (server.authorization_endpoint.empty()) {
    co_return Granted{Error(Errc::unsupported, "the authorization server " + one_line(server.issuer) +
                                                   " has no page on which a person may agree")};
  }
  auto client = co_await client_for(server, scope, held);
  if (!client) co_return Granted{client.error()};
  const auto question =
      make_authorization_request(server, *client, settings_->redirect_uri, scope, place.resource.resource);
  const auto callback = co_await interaction_->authorize(question.url, question.redirect_uri);
  if (!callback) co_return Granted{callback.error()};
  const auto code = read_callback(question, *callback);
  if (!code) co_return Granted{code.error()};
  OAuthCredentials wanted;
  wanted.resource = place.resource.resource;
  wanted.client = std::move(*client);
  wanted.scope = std::move(scope);
  net::FormFields fields{{"grant_type", "authorization_code"},
                         {"code", *code},
                         {"redirect_uri", question.redirect_uri},
                         {"code_verifier", question.verifier},
                         {"resource", wanted.resource}};
  co_return co_await request(server, std::move(wanted), std::move(fields));
}

/// Registered beforehand, by a document, or now: in this order (client-registration).
Task<Result<OAuthClient>> Grants::client_for(const ServerMetadata& server, const std::string& scope,
                                             const std::optional<OAuthCredentials>& held) {
  OAuthClient client;
  if (!settings_->client_id.empty()) {
    client.id = settings_->client_id;
    co_return client;
  }
  if (server.metadata_documents && !settings_->client_metadata_url.empty()) {
    client.id = settings_->client_metadata_url;
    co_return client;
  }
  if (held && held->issuer == server.issuer && held->client.registered) {
    client = held->client;
    const bool expired = client.secret_expires_at != 0 && client.secret_expires_at <= (*wall_clock_)();
    if (!expired && client.redirect_uri == settings_->redirect_uri) co_return client;
  }
  if (server.registration_endpoint.empty()) {
    co_return Error(Errc::configuration,
                    "the authorization server " + one_line(server.issuer) +
                        " registers no clients: register Parley there and set client_id");
  }
  co_return co_await register_client(*fetcher_, server, settings_->redirect_uri, scope);
}

}  // namespace parley::mcp::oauth
