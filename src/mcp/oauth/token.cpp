#include "mcp/oauth/token.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "mcp/oauth/client_assertion.hpp"
#include "parley/core/base64.hpp"

namespace parley::mcp::oauth {
namespace {

using nlohmann::json;

constexpr const char* kAssertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// Longer than any token lives.
constexpr double kLongest = 10.0 * 365 * 24 * 3600;

bool offers(const ServerMetadata& server, const char* method) {
  return std::ranges::find(server.auth_methods, method) != server.auth_methods.end();
}

/// Seconds; zero where it is nothing that one can count on. Some servers send it as a string.
std::int64_t lifetime_of(const json& answer) {
  const auto found = answer.find("expires_in");
  if (found == answer.end()) return 0;
  double seconds = 0;
  if (found->is_number()) seconds = found->get<double>();
  if (found->is_string()) {
    const auto& text = found->get_ref<const std::string&>();
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (failed != std::errc() || end != text.data() + text.size()) return 0;
  }
  if (!std::isfinite(seconds) || seconds < 1) return 0;
  return static_cast<std::int64_t>(std::min(seconds, kLongest));
}

bool is_bearer(const std::string& type) {
  constexpr std::string_view kBearer = "bearer";
  return std::ranges::equal(type, kBearer, {},
                            [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
}

Result<Tokens> read_tokens(const json& answer, std::int64_t now) {
  Tokens tokens;
  tokens.access_token = string_of(answer, "access_token");
  tokens.refresh_token = string_of(answer, "refresh_token");
  tokens.scope = string_of(answer, "scope");
  const auto type = string_of(answer, "token_type");
  if (tokens.access_token.empty())
    return Error(Errc::invalid_input, "the authorization server answers without a token");
  if (!type.empty() && !is_bearer(type)) {
    return Error(Errc::unsupported,
                 "the authorization server gives a token of another type than Bearer: " + one_line(type));
  }
  const auto printable = [](char c) { return c > 0x20 && c < 0x7F; };
  if (!std::ranges::all_of(tokens.access_token, printable))
    return Error(Errc::invalid_input, "the authorization server gives a token that no header may hold");
  if (const auto seconds = lifetime_of(answer); seconds > 0) tokens.expires_at = now + seconds;
  return tokens;
}

TokenAnswer refusal(const Fetched& answer, const std::string& endpoint) {
  TokenAnswer out;
  const auto error = string_of(answer.body, "error");
  const auto text =
      "the authorization server refuses (" + one_line(endpoint) + "): " + description_of(answer);
  out.grant_is_gone = error == "invalid_grant";
  out.client_is_gone = error == "invalid_client" || error == "unauthorized_client";
  if (out.grant_is_gone || error == "access_denied") {
    out.tokens = Error(Errc::unauthorized, text);
  } else if (answer.status >= 500 || answer.status == 429 || answer.status == 408) {
    out.tokens = Error(Errc::unavailable, text, true);
  } else {
    out.tokens = Error(out.client_is_gone ? Errc::unauthorized : Errc::invalid_input, text);
  }
  return out;
}

}  // namespace

ClientAuth client_auth(const OAuthSettings& settings, const OAuthClient& client,
                       const ServerMetadata& server) {
  if (settings.client_auth != ClientAuth::automatic) return settings.client_auth;
  if (!settings.private_key.empty() && !client.registered) return ClientAuth::private_key_jwt;
  if (client.secret.empty()) return ClientAuth::none;
  const auto usable = [&](const char* method) {
    return server.auth_methods.empty() || offers(server, method);
  };
  if (client.auth_method == "none" && usable("none")) return ClientAuth::none;
  if (client.auth_method == "client_secret_post" && usable("client_secret_post")) return ClientAuth::post;
  if (usable("client_secret_basic")) return ClientAuth::basic;
  if (usable("client_secret_post")) return ClientAuth::post;
  return offers(server, "none") ? ClientAuth::none : ClientAuth::basic;
}

Task<TokenAnswer> request_tokens(Fetcher& fetcher, const OAuthSettings& settings,
                                 const ServerMetadata& server, OAuthClient client, net::FormFields fields,
                                 std::int64_t now) {
  std::vector<net::HttpHeader> headers;
  switch (client_auth(settings, client, server)) {
    case ClientAuth::basic: {
      // Each part is encoded like a form first (RFC 6749, 2.3.1).
      const auto pair = net::url_escaped(client.id) + ":" + net::url_escaped(client.secret);
      headers.push_back({"Authorization", "Basic " + base64(pair)});
      break;
    }
    case ClientAuth::post:
      fields.emplace_back("client_id", client.id);
      fields.emplace_back("client_secret", client.secret);
      break;
    case ClientAuth::private_key_jwt: {
      auto assertion = client_assertion(settings.private_key, client.id, server.issuer, now);
      if (!assertion) co_return TokenAnswer{assertion.error()};
      fields.emplace_back("client_id", client.id);
      fields.emplace_back("client_assertion_type", kAssertionType);
      fields.emplace_back("client_assertion", std::move(*assertion));
      break;
    }
    case ClientAuth::none:
    case ClientAuth::automatic:
      fields.emplace_back("client_id", client.id);
      break;
  }
  const auto endpoint = server.token_endpoint;
  auto answer = co_await fetcher.post(endpoint, "application/x-www-form-urlencoded",
                                      net::form_encoded(fields), std::move(headers));
  if (!answer) co_return TokenAnswer{answer.error()};
  // Some servers refuse with 200.
  if (answer->status != 200 || !string_of(answer->body, "error").empty())
    co_return refusal(*answer, endpoint);
  co_return TokenAnswer{read_tokens(answer->body, now)};
}

Task<Result<OAuthClient>> register_client(Fetcher& fetcher, const ServerMetadata& server,
                                          std::string redirect_uri, std::string scope) {
  // A program on somebody's machine keeps no secret from them; it takes one only where it must.
  const auto* method = server.auth_methods.empty() || offers(server, "none") ? "none"
                       : offers(server, "client_secret_basic")               ? "client_secret_basic"
                                                                             : "client_secret_post";
  const auto parsed = net::parse_url(redirect_uri);
  json wanted{{"client_name", "Parley"},
              {"redirect_uris", {redirect_uri}},
              {"grant_types", {"authorization_code", "refresh_token"}},
              {"response_types", {"code"}},
              {"token_endpoint_auth_method", method},
              {"application_type", parsed && parsed->is_loopback() ? "native" : "web"}};
  if (!scope.empty()) wanted["scope"] = scope;
  auto answer = co_await fetcher.post(server.registration_endpoint, "application/json", wanted.dump(), {});
  if (!answer) co_return answer.error();
  if (answer->status != 200 && answer->status != 201) {
    co_return Error(answer->status >= 500 ? Errc::unavailable : Errc::unauthorized,
                    "the authorization server does not register this client: " + description_of(*answer) +
                        "; register it there by hand and set client_id",
                    answer->status >= 500);
  }
  OAuthClient client;
  client.registered = true;
  client.redirect_uri = std::move(redirect_uri);
  client.id = string_of(answer->body, "client_id");
  client.secret = string_of(answer->body, "client_secret");
  client.auth_method = string_of(answer->body, "token_endpoint_auth_method");
  const auto expires =
      answer->body.is_object() ? answer->body.find("client_secret_expires_at") : answer->body.end();
  if (expires != answer->body.end() && expires->is_number_integer())
    client.secret_expires_at = expires->get<std::int64_t>();
  if (client.id.empty())
    co_return Error(Errc::invalid_input, "the authorization server registers without a client id");
  co_return client;
}

}  // namespace parley::mcp::oauth
