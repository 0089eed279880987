#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <nlohmann/json.hpp>

#include "mcp/oauth/authorization_request.hpp"
#include "mcp/oauth/challenge.hpp"
#include "mcp/oauth/client_assertion.hpp"
#include "mcp/oauth/discovery.hpp"
#include "parley/core/base64.hpp"

namespace parley::mcp::oauth {
namespace {

using Urls = std::vector<std::string>;

TEST(Challenge, IsReadFromAnyHeader) {
  const auto plain = read_challenge(
      R"(Bearer resource_metadata="https://a/b?c=d,e", scope="x y", error=insufficient_scope)");
  EXPECT_EQ(plain.resource_metadata, "https://a/b?c=d,e");
  EXPECT_EQ(plain.scope, "x y");
  EXPECT_EQ(plain.error, "insufficient_scope");
  const auto several = read_challenge(
      R"(Basic realm="scope=\"no\"", scope=no, Negotiate abc==, bEaReR SCOPE = "yes", scope="twice")");
  EXPECT_EQ(several.scope, "yes");
  for (const auto* bad : {"", "Bearer", "Bearer ", "Bearer scope", "Bearer scope=", "=,=", "Bearer scope=\"",
                          ",,,,", "Bearer ,scope"})
    EXPECT_EQ(read_challenge(bad).scope, "") << bad;
  EXPECT_EQ(read_challenge("Bearer scope=\"cut off").scope, "cut off");
}

TEST(Discovery, LooksInTheRightPlaces) {
  const std::string oauth = "https://a.test/.well-known/oauth-authorization-server";
  const std::string openid = "https://a.test/.well-known/openid-configuration";
  EXPECT_EQ(server_metadata_urls("https://a.test"), (Urls{oauth, openid}));
  EXPECT_EQ(server_metadata_urls("https://a.test/"), (Urls{oauth, openid}));
  EXPECT_EQ(server_metadata_urls("https://a.test/t/1"),
            (Urls{oauth + "/t/1", openid + "/t/1", "https://a.test/t/1/.well-known/openid-configuration"}));
  const std::string resource = "https://a.test:8/.well-known/oauth-protected-resource";
  EXPECT_EQ(resource_metadata_urls("https://a.test:8/mcp?x=1"), (Urls{resource + "/mcp?x=1", resource}));
  EXPECT_EQ(resource_metadata_urls("https://a.test:8"), (Urls{resource}));
}

TEST(Discovery, KnowsWhichResourceHoldsAServer) {
  EXPECT_TRUE(covers("https://a.test/mcp", "https://a.test/mcp"));
  EXPECT_TRUE(covers("https://A.test:443/mcp/", "https://a.test/mcp"));
  EXPECT_TRUE(covers("https://a.test", "https://a.test/mcp"));
  EXPECT_TRUE(covers("https://a.test/", "https://a.test/mcp?x=1"));
  EXPECT_FALSE(covers("https://a.test/mcp", "https://a.test/mcp2"));
  EXPECT_FALSE(covers("https://a.test/mcp/x", "https://a.test/mcp"));
  EXPECT_FALSE(covers("https://a.test/mcp?x=2", "https://a.test/mcp?x=1"));
  EXPECT_FALSE(covers("http://a.test/mcp", "https://a.test/mcp"));
  EXPECT_FALSE(covers("https://a.test:8443/mcp", "https://a.test/mcp"));
  EXPECT_FALSE(covers("https://a.test.evil/mcp", "https://a.test/mcp"));
  EXPECT_FALSE(covers("https://a.test/mcp#x", "https://a.test/mcp"));
  EXPECT_FALSE(covers("", "https://a.test/mcp"));
}

TEST(AuthorizationRequest, ReadsItsOwnAnswerAlone) {
  AuthorizationRequest request;
  request.state = "s";
  request.issuer = "https://a.test";
  const auto code = [&](const std::string& callback) {
    const auto read = read_callback(request, callback);
    return read ? *read : std::string("error");
  };
  EXPECT_EQ(code("http://127.0.0.1/callback?code=a%2Bb+c&state=s#rest"), "a+b c");
  EXPECT_EQ(code("?state=s&code=x"), "x");
  for (const auto* bad : {"", "http://127.0.0.1/callback", "http://127.0.0.1/callback?code=x",
                          "?code=x&state=S", "?code=x&state=s&state=s", "?code=%4&state=s", "?code=&state=s",
                          "?code=x&state=s&iss=https://b.test", "?error=no&state=s", "?code=x&state="})
    EXPECT_EQ(code(bad), "error") << bad;
}

TEST(AuthorizationRequest, KeepsTheQueryOfTheEndpointAndIsNeverTheSame) {
  ServerMetadata server;
  server.authorization_endpoint = "https://a.test/authorize?tenant=1";
  OAuthClient client;
  client.id = "a&b";
  const auto one = make_authorization_request(server, client, "http://127.0.0.1:1/c", "", "https://m.test");
  const auto two = make_authorization_request(server, client, "http://127.0.0.1:1/c", "", "https://m.test");
  EXPECT_TRUE(one.url.starts_with("https://a.test/authorize?tenant=1&response_type=code&client_id=a%26b&"));
  EXPECT_NE(one.state, two.state);
  EXPECT_NE(one.verifier, two.verifier);
}

std::string unbase64url(std::string text) {
  for (auto& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  const auto padding = (4 - text.size() % 4) % 4;
  text.append(padding, '=');
  std::string out(text.size(), '\0');
  const auto length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  out.resize(static_cast<std::size_t>(length) - padding);
  return out;
}

std::string pem_of(EVP_PKEY* key) {
  BIO* const to = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  const auto length = BIO_get_mem_data(to, &data);
  std::string pem(data, static_cast<std::size_t>(length));
  BIO_free(to);
  return pem;
}

TEST(ClientAssertion, IsSignedByTheKey) {
  EVP_PKEY* const key = EVP_RSA_gen(2048);
  const auto jwt = client_assertion(pem_of(key), "me", "https://a.test", 1000).value();
  const auto first = jwt.find('.');
  const auto last = jwt.rfind('.');
  EXPECT_EQ(nlohmann::json::parse(unbase64url(jwt.substr(0, first))).at("alg"), "RS256");
  const auto claims = nlohmann::json::parse(unbase64url(jwt.substr(first + 1, last - first - 1)));
  EXPECT_EQ(claims.at("iss"), "me");
  EXPECT_EQ(claims.at("sub"), "me");
  EXPECT_EQ(claims.at("aud"), "https://a.test");
  EXPECT_EQ(claims.at("exp"), 1300);
  const auto signature = unbase64url(jwt.substr(last + 1));
  EVP_MD_CTX* const digest = EVP_MD_CTX_new();
  ASSERT_EQ(EVP_DigestVerifyInit(digest, nullptr, EVP_sha256(), nullptr, key), 1);
  EXPECT_EQ(EVP_DigestVerify(digest, reinterpret_cast<const unsigned char*>(signature.data()),
                             signature.size(), reinterpret_cast<const unsigned char*>(jwt.data()), last),
            1);
  EVP_MD_CTX_free(digest);
  EVP_PKEY_free(key);
  EVP_PKEY* const curve = EVP_EC_gen("P-256");
  EXPECT_EQ(unbase64url(client_assertion(pem_of(curve), "me", "a", 1)
                            .value()
                            .substr(client_assertion(pem_of(curve), "me", "a", 1).value().rfind('.') + 1))
                .size(),
            64U);
  EVP_PKEY_free(curve);
  EVP_PKEY* const other = EVP_EC_gen("P-384");
  EXPECT_FALSE(client_assertion(pem_of(other), "me", "a", 1));
  EVP_PKEY_free(other);
  EXPECT_FALSE(client_assertion("", "me", "a", 1));
}

TEST(Base64, IsThatOfTheRfc) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64url("\xfb\xff\xfe\x01"), "-__-AQ");
}

}  // namespace
}  // namespace parley::mcp::oauth
