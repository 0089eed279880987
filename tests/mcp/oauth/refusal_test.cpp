#include <gmock/gmock.h>

#include "mcp/oauth/fixture.hpp"

// What must not be believed, and what does not work.
namespace parley::mcp {
namespace {

using testing::HasSubstr;

struct OAuthRefusalTest : OAuthTest {
  /// The sentence with which a login ends; no code and no secret was sent anywhere.
  std::string failure() {
    const auto result = refused(*make());
    codes.push_back(result ? Errc::internal : result.error().code);
    if (result) return "it was not refused";
    EXPECT_TRUE(asked("/token").empty());
    return result.error().message;
  }
  std::vector<Errc> codes;
};

TEST_F(OAuthRefusalTest, RefusesAnotherServersResource) {
  resource["resource"] = "https://evil.example.com/mcp";
  EXPECT_THAT(failure(), HasSubstr("it is another: https://evil.example.com/mcp"));
  resource["resource"] = url + "/mcp/below";
  EXPECT_THAT(failure(), HasSubstr("it is another"));
  resource.erase("resource");
  EXPECT_THAT(failure(), HasSubstr("it is another"));
  EXPECT_TRUE(asked("/.well-known/oauth-authorization-server").empty());
}

TEST_F(OAuthRefusalTest, RefusesAnotherIssuersMetadata) {
  metadata["issuer"] = "https://attacker.example.com";
  EXPECT_THAT(failure(), HasSubstr("says that it is another: https://attacker.example.com"));
  metadata["issuer"] = url + "/";
  EXPECT_THAT(failure(), HasSubstr("says that it is another"));
  EXPECT_EQ(codes.back(), Errc::unauthorized);
}

TEST_F(OAuthRefusalTest, RefusesToGoWithoutPkce) {
  metadata["code_challenge_methods_supported"] = {"plain"};
  EXPECT_THAT(failure(), HasSubstr("PKCE"));
  metadata.erase("code_challenge_methods_supported");
  EXPECT_THAT(failure(), HasSubstr("PKCE"));
  EXPECT_TRUE(person->questions.empty());
}

TEST_F(OAuthRefusalTest, RefusesPlacesThatAreNotEncrypted) {
  metadata["token_endpoint"] = "http://example.com/token";
  EXPECT_THAT(failure(), HasSubstr("not encrypted"));
  metadata["token_endpoint"] = url + "/token";
  metadata["authorization_endpoint"] = "javascript:alert(1)";
  EXPECT_THAT(failure(), HasSubstr("no usable address"));
  resource["authorization_servers"] = {"http://example.com"};
  EXPECT_THAT(failure(), HasSubstr("not encrypted"));
}

TEST_F(OAuthRefusalTest, SaysWhatIsWrongWithMetadata) {
  pages["/.well-known/oauth-authorization-server"] = {200, "{\"issuer\": "};
  pages["/.well-known/openid-configuration"] = {200, "[1]"};
  EXPECT_THAT(failure(), HasSubstr("does not describe itself"));
  EXPECT_THAT(codes.back(), Errc::invalid_input);
  pages["/.well-known/oauth-authorization-server"] = {503, ""};
  EXPECT_THAT(failure(), HasSubstr("503"));
  EXPECT_EQ(codes.back(), Errc::unavailable);
  pages["/.well-known/oauth-authorization-server"] = {200, std::string(300 * 1024, ' ')};
  failure();
  EXPECT_EQ(codes.back(), Errc::limit);
  pages["/.well-known/oauth-authorization-server"] = {200, std::string(1000, '[') + std::string(1000, ']')};
  EXPECT_THAT(failure(), HasSubstr("does not describe itself"));
  resource["authorization_servers"] = json::array();
  EXPECT_THAT(failure(), HasSubstr("names no authorization server"));
  resource["authorization_servers"] = "one";
  EXPECT_THAT(failure(), HasSubstr("names no authorization server"));
}

TEST_F(OAuthRefusalTest, DoesNotFollowRedirects) {
  const auto there = "Location: " + url + "/elsewhere\r\n";
  pages["/elsewhere"] = {200, metadata.dump()};
  pages["/.well-known/oauth-authorization-server"] = {302, "", there};
  EXPECT_THAT(failure(), HasSubstr("does not describe itself"));
  EXPECT_TRUE(asked("/elsewhere").empty());
}

TEST_F(OAuthRefusalTest, TakesTheAddressOfTheChallengeAtItsWord) {
  const auto result = refused(*make(), 401, "Bearer resource_metadata=\"" + url + "/gone\"");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("/gone answers 404"));
  EXPECT_TRUE(asked("/.well-known/oauth-protected-resource/mcp").empty());
}

TEST_F(OAuthRefusalTest, SaysWhereNobodyIsRegistered) {
  metadata.erase("registration_endpoint");
  EXPECT_THAT(failure(), HasSubstr("set client_id"));
  metadata["registration_endpoint"] = url + "/register";
  pages["/register"] = {400, R"({"error":"invalid_redirect_uri","error_description":"not\nthat"})"};
  EXPECT_THAT(failure(), HasSubstr("invalid_redirect_uri: not that"));
  pages["/register"] = {201, R"({"client_id":7})"};
  EXPECT_THAT(failure(), HasSubstr("without a client id"));
  pages["/register"] = {201, "7"};
  EXPECT_THAT(failure(), HasSubstr("without a client id"));
}

TEST_F(OAuthRefusalTest, ChecksWhereTheAnswerComesFrom) {
  metadata["authorization_response_iss_parameter_supported"] = true;
  EXPECT_THAT(failure(), HasSubstr("does not come from")) << "it is missing";
  person->answer = "code=c&iss=" + url + "/";
  EXPECT_THAT(failure(), HasSubstr("does not come from")) << "nothing is normalised";
  metadata.erase("authorization_response_iss_parameter_supported");
  person->answer = "error=shown&iss=https://evil.example.com";
  EXPECT_THAT(failure(), testing::AllOf(HasSubstr("does not come from"), testing::Not(HasSubstr("shown"))));
  person->answer = "code=c&iss=" + url;
  EXPECT_TRUE(refused(*make()));
}

TEST_F(OAuthRefusalTest, ChecksTheAnswer) {
  person->answer = "error=access_denied&error_description=Not%20today";
  EXPECT_THAT(failure(), HasSubstr("access_denied: Not today"));
  EXPECT_EQ(codes.back(), Errc::unauthorized);
  person->answer = "state=another";
  EXPECT_THAT(failure(), HasSubstr("malformed")) << "the state is there twice";
  person->answer = "code=a&code=b";
  EXPECT_THAT(failure(), HasSubstr("malformed"));
  person->answer = "nothing=1";
  EXPECT_THAT(failure(), HasSubstr("no code"));
  person->fails = Error(Errc::timeout, "nobody has agreed in time");
  EXPECT_EQ(failure(), "nobody has agreed in time");
}

TEST_F(OAuthTest, ChecksWhatTheTokenEndpointSays) {
  const std::vector<std::pair<Said, std::string>> bad = {
      {{200, "{}"}, "without a token"},
      {{200, "no JSON"}, "without a token"},
      {{200, R"({"access_token":""})"}, "without a token"},
      {{200, R"({"access_token":17})"}, "without a token"},
      {{200, R"({"access_token":"a\r\nX: y","token_type":"bearer"})"}, "no header may hold"},
      {{200, R"({"access_token":"a","token_type":"mac"})"}, "another type than Bearer: mac"},
      {{200, R"({"error":"bad_verification_code"})"}, "bad_verification_code"},
      {{400, R"({"error":"invalid_grant","error_description":"used"})"}, "invalid_grant: used"},
      {{302, "", "Location: /elsewhere\r\n"}, "status 302"},
      {{500, "oops"}, "status 500"},
  };
  for (const auto& [answer, message] : bad) {
    token_answers = {answer};
    const auto result = live.run(make()->log_in());
    ASSERT_FALSE(result) << message;
    EXPECT_THAT(result.error().message, HasSubstr(message));
    EXPECT_EQ(result.error().retryable, answer.status == 500);
  }
  EXPECT_FALSE(store->find(mcp).value());
}

TEST_F(OAuthTest, TakesLifetimesAsTheyCome) {
  const std::vector<std::pair<std::string, std::int64_t>> lifetimes = {
      {"3600", 3600},  {"\"3600\"", 3600}, {"3599.7", 3599},
      {"-1", 0},       {"0", 0},           {"null", 0},
      {"\"soon\"", 0}, {"{}", 0},          {"1e300", 10LL * 365 * 24 * 3600}};
  for (const auto& [text, seconds] : lifetimes) {
    token_answers = {{200, R"({"access_token":"a","token_type":"BEARER","expires_in":)" + text + "}"}};
    ASSERT_TRUE(live.run(make()->log_in())) << text;
    EXPECT_EQ(held().expires_at, seconds == 0 ? 0 : now + seconds) << text;
  }
}

}  // namespace
}  // namespace parley::mcp
