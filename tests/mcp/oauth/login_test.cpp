#include <gmock/gmock.h>

#include "mcp/oauth/fixture.hpp"

namespace parley::mcp {
namespace {

using testing::HasSubstr;

TEST_F(OAuthTest, RegistersAsksThePersonAndKeepsTheTokens) {
  metadata["scopes_supported"] = {"read", "offline_access"};
  resource["scopes_supported"] = {"read", "write"};
  const auto oauth = make();
  EXPECT_EQ(header(*oauth), "none");
  ASSERT_TRUE(refused(*oauth));
  EXPECT_EQ(header(*oauth), "Bearer token-1");

  const auto wanted = json::parse(asked("/register").at(0).body);
  EXPECT_EQ(wanted.at("redirect_uris"), json({settings.redirect_uri}));
  EXPECT_EQ(wanted.at("application_type"), "native");
  EXPECT_EQ(wanted.at("token_endpoint_auth_method"), "none");
  EXPECT_EQ(wanted.at("grant_types"), json({"authorization_code", "refresh_token"}));
  const auto& question = person->questions.at(0);
  EXPECT_EQ(question.at("client_id"), "registered");
  EXPECT_EQ(question.at("response_type"), "code");
  EXPECT_EQ(question.at("scope"), "read write offline_access");
  EXPECT_EQ(question.at("prompt"), "consent");
  const auto token = token_request(0);
  EXPECT_EQ(token.at("grant_type"), "authorization_code");
  EXPECT_EQ(token.at("code"), "the-code");
  EXPECT_EQ(token.at("client_id"), "registered");
  EXPECT_EQ(token.at("redirect_uri"), settings.redirect_uri);
  EXPECT_EQ(token.at("resource"), mcp);
  EXPECT_GE(token.at("code_verifier").size(), 43U);
  EXPECT_EQ(asked("/token").at(0).headers.count("authorization"), 0U);

  EXPECT_EQ(held().expires_at, now + 3600);
  EXPECT_EQ(held().scope, "read write offline_access") << "what was asked for, where nothing else is said";
  EXPECT_EQ(header(*make_anew()), "Bearer token-1");
}

TEST_F(OAuthTest, AsksForTheScopeOfTheChallengeAlone) {
  resource["scopes_supported"] = {"read", "write"};
  const auto oauth = make();
  ASSERT_TRUE(refused(*oauth, 401, "Basic realm=\"x\", Bearer scope=\"only this\""));
  EXPECT_EQ(person->questions.at(0).at("scope"), "only this");
}

TEST_F(OAuthTest, OmitsTheScopeThatNobodyNames) {
  metadata["scopes_supported"] = {"offline_access"};
  const auto oauth = make();
  ASSERT_TRUE(refused(*oauth));
  EXPECT_EQ(person->questions.at(0).count("scope"), 0U);
}

TEST_F(OAuthTest, AsksForTheConfiguredScopesAndWhatIsDemanded) {
  settings.scopes = {"mine"};
  resource["scopes_supported"] = {"read", "write"};
  const auto oauth = make();
  ASSERT_TRUE(refused(*oauth, 401, "Bearer scope=\"theirs\""));
  EXPECT_EQ(person->questions.at(0).at("scope"), "mine theirs");
}

TEST_F(OAuthTest, PrefersTheClientThatWasRegisteredBeforehand) {
  settings.client_id = "mine";
  settings.client_secret = "a secret:/";
  settings.client_metadata_url = "https://parley.test/client.json";
  metadata["client_id_metadata_document_supported"] = true;
  const auto oauth = make();
  ASSERT_TRUE(refused(*oauth));
  EXPECT_EQ(person->questions.at(0).at("client_id"), "mine");
  EXPECT_TRUE(asked("/register").empty());
  // base64 of "mine:a%20secret%3A%2F"
  EXPECT_EQ(asked("/token").at(0).headers.at("authorization"), "Basic bWluZTphJTIwc2VjcmV0JTNBJTJG");
  EXPECT_EQ(token_request(0).count("client_secret"), 0U);
  std::ifstream file(folder.path / "tokens.json");
  const std::string kept(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(kept, HasSubstr("token-1"));
  EXPECT_THAT(kept, testing::Not(HasSubstr("a secret")));
}

TEST_F(OAuthTest, SendsTheSecretAsTheServerTakesIt) {
  settings.client_id = "mine";
  settings.client_secret = "secret";
  metadata["token_endpoint_auth_methods_supported"] = {"client_secret_post"};
  const auto oauth = make();
  ASSERT_TRUE(refused(*oauth));
  EXPECT_EQ(token_request(0).at("client_secret"), "secret");
  EXPECT_EQ(asked("/token").at(0).headers.count("authorization"), 0U);
}

TEST_F(OAuthTest, UsesAMetadataDocumentWhereTheServerTakesOne) {
  settings.client_metadata_url = "https://parley.test/client.json";
  metadata["client_id_metadata_document_supported"] = true;
  const auto oauth = make();
  ASSERT_TRUE(refused(*oauth));
  EXPECT_EQ(person->questions.at(0).at("client_id"), settings.client_metadata_url);
  EXPECT_TRUE(asked("/register").empty());
  EXPECT_EQ(header(*make_anew()), "Bearer token-1");
}

TEST_F(OAuthTest, FallsBackToTheRootAndToOpenId) {
  pages["/.well-known/oauth-protected-resource/mcp"] = {404, ""};
  pages["/.well-known/oauth-protected-resource"] = {
      200, json{{"resource", url}, {"authorization_servers", {url + "/t"}}}.dump()};
  metadata["issuer"] = url + "/t";
  pages["/.well-known/oauth-authorization-server/t"] = {200, "<html>any page</html>"};
  pages["/t/.well-known/openid-configuration"] = {200, metadata.dump()};
  resource["resource"] = url;
  const auto oauth = make();
  ASSERT_TRUE(refused(*oauth));
  EXPECT_EQ(token_request(0).at("resource"), url) << "exactly as it is published";
  EXPECT_EQ(asked("/.well-known/openid-configuration/t").size(), 1U);
}

TEST_F(OAuthTest, KnowsThePlacesOfOldServers) {
  for (const auto* page :
       {"/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"})
    pages[page] = {404, ""};
  const auto oauth = make();
  ASSERT_TRUE(refused(*oauth));
  EXPECT_EQ(held().issuer, url);
}

TEST_F(OAuthTest, LogsInAnewWhateverIsHeld) {
  hold();
  const auto oauth = make();
  ASSERT_TRUE(live.run(oauth->log_in()));
  EXPECT_EQ(person->questions.at(0).at("scope"), "from-probe read");
  EXPECT_TRUE(asked("/register").empty()) << "it is registered";
  EXPECT_EQ(header(*oauth), "Bearer token-1");
}

TEST_F(OAuthTest, RegistersAnewForAnotherPlaceToComeBackTo) {
  hold([](OAuthCredentials& credentials) {
    credentials.client.redirect_uri = "http://127.0.0.1:10/callback";
  });
  ASSERT_TRUE(live.run(make()->log_in()));
  EXPECT_EQ(asked("/register").size(), 1U);
}

TEST_F(OAuthTest, SaysWhenALoginCannotBeKept) {
  std::filesystem::create_directory(folder.path / "tokens.json");
  const auto result = live.run(make()->log_in());
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("tokens.json"));
  EXPECT_TRUE(person->questions.empty()) << "before anybody was asked";
}

TEST_F(OAuthTest, ActsForItself) {
  settings.grant = Grant::client_credentials;
  settings.client_id = "mine";
  settings.client_secret = "secret";
  const auto oauth = make(false);
  ASSERT_TRUE(refused(*oauth, 401, "Bearer scope=\"a\""));
  EXPECT_EQ(token_request(0).at("grant_type"), "client_credentials");
  EXPECT_EQ(token_request(0).at("scope"), "a");
  EXPECT_EQ(token_request(0).at("resource"), mcp);
  EXPECT_EQ(header(*oauth), "Bearer token-1");
  now += 3590;
  EXPECT_EQ(header(*oauth), "Bearer token-2") << "renewed before it expires";
  ASSERT_TRUE(refused(*oauth, 403, "Bearer error=\"insufficient_scope\", scope=\"b\"", "Bearer token-2"));
  EXPECT_EQ(token_request(2).at("scope"), "b a");
}

/// Settings that cannot work are refused before anything is sent.
TEST_F(OAuthTest, RefusesSettings) {
  const auto refuses = [&](const std::function<void(OAuthSettings&)>& change, const std::string& address) {
    OAuthSettings changed = settings;
    change(changed);
    try {
      make_oauth(live.io.get_executor(), live.scheduler, changed, address, store, person);
    } catch (const Failure& failure) {
      return failure.error().code == Errc::configuration;
    }
    return false;
  };
  EXPECT_FALSE(refuses([](auto&) {}, "https://tools.test/mcp"));
  EXPECT_TRUE(refuses([](auto&) {}, "http://tools.test/mcp"));
  EXPECT_FALSE(refuses([](auto& with) { with.allow_private_network = true; }, "http://tools.test/mcp"));
  EXPECT_TRUE(refuses([](auto&) {}, "https://tools.test/mcp#x"));
  EXPECT_TRUE(refuses([](auto& with) { with.client_secret = "x"; }, mcp));
  EXPECT_TRUE(refuses([](auto& with) { with.grant = Grant::client_credentials; }, mcp));
  EXPECT_TRUE(refuses([](auto& with) { with.client_metadata_url = "http://parley.test/x"; }, mcp));
  EXPECT_TRUE(refuses([](auto& with) { with.client_metadata_url = "https://parley.test/"; }, mcp));
  EXPECT_TRUE(refuses([](auto& with) { with.client_auth = ClientAuth::private_key_jwt; }, mcp));
  EXPECT_TRUE(refuses([](auto& with) { with.client_auth = ClientAuth::basic; }, mcp));
  EXPECT_TRUE(refuses([](auto& with) { with.private_key = "no key"; }, mcp));
  EXPECT_TRUE(refuses([](auto& with) { with.redirect_uri = "nowhere"; }, mcp));
}

}  // namespace
}  // namespace parley::mcp
