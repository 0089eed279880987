#include "oauth.hpp"

#include <set>

#include "parley/mcp/oauth.hpp"
#include "parley/net/http_client.hpp"

namespace parley::conformance {
namespace {

/// Where the suite says that the client's metadata is.
constexpr const char* kMetadataDocument = "https://conformance-test.local/client-metadata.json";

/// The suite's authorization servers send a browser back at once.
class Agreeable final : public mcp::Interaction {
 public:
  Task<Result<std::string>> authorize(std::string authorization_url, std::string /*redirect_uri*/) override {
    net::HttpRequest request;
    request.url = std::move(authorization_url);
    auto response = co_await net::http_client(co_await asio::this_coro::executor).send(std::move(request));
    if (!response) co_return response.error();
    co_return std::string((*response)->header("Location"));
  }
};

}  // namespace

bool must_be_refused(const std::string& scenario) {
  static const std::set<std::string> scenarios = {"auth/scope-retry-limit",       "auth/resource-mismatch",
                                                  "auth/iss-supported-missing",   "auth/iss-wrong-issuer",
                                                  "auth/iss-unexpected",          "auth/iss-normalized",
                                                  "auth/metadata-issuer-mismatch"};
  return scenarios.contains(scenario);
}

std::shared_ptr<mcp::Authorization> make_authorization(const asio::any_io_executor& executor,
                                                       const std::string& url, const std::string& scenario,
                                                       const nlohmann::json& context) {
  mcp::OAuthSettings settings;
  settings.name = "conformance";
  settings.redirect_uri = "http://127.0.0.1:33418/callback";
  settings.client_id = context.value("client_id", "");
  settings.client_secret = context.value("client_secret", "");
  settings.issuer = context.value("issuer", "");
  settings.private_key = context.value("private_key_pem", "");
  if (scenario == "auth/basic-cimd") settings.client_metadata_url = kMetadataDocument;
  if (scenario.starts_with("auth/client-credentials")) settings.grant = mcp::Grant::client_credentials;
  return mcp::make_oauth(executor, make_asio_scheduler(executor), settings, url,
                         std::make_shared<mcp::TokenStore>(""), std::make_shared<Agreeable>());
}

}  // namespace parley::conformance
