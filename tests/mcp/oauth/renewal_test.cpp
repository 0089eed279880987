#include <gmock/gmock.h>

#include "mcp/oauth/fixture.hpp"

namespace parley::mcp {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST_F(OAuthTest, SaysWhatToRunWhereNobodyIsThere) {
  const auto oauth = make(false);
  const auto result = refused(*oauth);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::unauthorized);
  EXPECT_THAT(result.error().message, HasSubstr("run `parley mcp login tools`"));
  EXPECT_TRUE(server.asked().empty());
}

TEST_F(OAuthTest, RenewsATokenThatIsAboutToExpire) {
  hold();
  const auto oauth = make(false);
  EXPECT_EQ(header(*oauth), "Bearer old");
  EXPECT_TRUE(server.asked().empty());
  now += 3571;
  EXPECT_EQ(header(*oauth), "Bearer token-1");
  EXPECT_EQ(token_request(0).at("grant_type"), "refresh_token");
  EXPECT_EQ(token_request(0).at("refresh_token"), "old-refresh");
  EXPECT_EQ(token_request(0).at("client_id"), "registered");
  EXPECT_EQ(token_request(0).at("resource"), mcp);
  EXPECT_EQ(held().refresh_token, "refresh-1");
  EXPECT_EQ(held().scope, "read");
  EXPECT_EQ(held().client.id, "registered");
  EXPECT_EQ(header(*make_anew()), "Bearer token-1");
}

TEST_F(OAuthTest, KeepsARefreshTokenThatIsNotReplaced) {
  hold();
  token_answers = {{200, R"({"access_token":"next","token_type":"Bearer"})"}};
  const auto oauth = make(false);
  ASSERT_TRUE(refused(*oauth, 401, "", "Bearer old"));
  EXPECT_EQ(held().refresh_token, "old-refresh");
  EXPECT_EQ(held().expires_at, 0);
}

TEST_F(OAuthTest, RenewsOnceForAllThatAreRefused) {
  hold();
  const auto oauth = make(false);
  const auto first = live.start(oauth->refused(401, "Bearer", "Bearer old"));
  const auto second = live.start(oauth->refused(401, "Bearer", "Bearer old"));
  ASSERT_TRUE(live.until([&] { return first->done() && second->done(); }));
  EXPECT_TRUE(*first->result);
  EXPECT_TRUE(*second->result);
  EXPECT_EQ(asked("/token").size(), 1U);
  EXPECT_TRUE(refused(*oauth, 401, "Bearer", "Bearer old")) << "late, but there is a new one";
  EXPECT_EQ(asked("/token").size(), 1U);
}

TEST_F(OAuthTest, FailsOnceForAllThatAreRefused) {
  hold();
  token_answers = {{400, R"({"error":"invalid_grant"})"}};
  const auto oauth = make(false);
  const auto first = live.start(oauth->refused(401, "Bearer", "Bearer old"));
  const auto second = live.start(oauth->refused(401, "Bearer", "Bearer old"));
  ASSERT_TRUE(live.until([&] { return first->done() && second->done(); }));
  EXPECT_FALSE(*first->result);
  EXPECT_FALSE(*second->result);
  EXPECT_EQ(asked("/token").size(), 1U);
}

TEST_F(OAuthTest, ARenewalOutlivesTheOneWhoWaitsForIt) {
  hold();
  now += 4000;
  const auto oauth = make(false);
  asio::cancellation_signal stop;
  bool ended = false;
  asio::co_spawn(live.io, oauth->header(),
                 asio::bind_cancellation_slot(stop.slot(), [&](const std::exception_ptr& thrown, auto) {
                   ended = true;
                   EXPECT_TRUE(thrown);
                 }));
  ASSERT_TRUE(live.until([&] { return !server.asked().empty(); }));
  stop.emit(asio::cancellation_type::terminal);
  ASSERT_TRUE(live.until([&] { return ended; }));
  ASSERT_TRUE(live.until([&] {
    const auto written = TokenStore(folder.path / "tokens.json").find(mcp);
    return written && *written && (*written)->access_token == "token-1";
  }));
}

TEST_F(OAuthTest, WantsALoginWhenTheRefreshTokenIsGone) {
  hold();
  token_answers = {{400, R"({"error":"invalid_grant"})"}};
  const auto oauth = make(false);
  const auto result = refused(*oauth, 401, "", "Bearer old");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("parley mcp login tools"));
  EXPECT_EQ(header(*oauth), "none");
  EXPECT_EQ(held().client.id, "registered") << "the client is still known";
  // Where somebody is there, they are asked at once.
  hold();
  token_answers = {{400, R"({"error":"invalid_grant"})"}};
  ASSERT_TRUE(refused(*make(), 401, "", "Bearer old"));
  EXPECT_EQ(person->questions.size(), 1U);
}

TEST_F(OAuthTest, ForgetsAClientThatIsNotKnownAnyMore) {
  hold();
  token_answers = {{401, R"({"error":"invalid_client"})"}};
  EXPECT_FALSE(refused(*make(false), 401, "", "Bearer old"));
  EXPECT_EQ(held().client, OAuthClient());
  ASSERT_TRUE(live.run(make()->log_in()));
  EXPECT_EQ(asked("/register").size(), 1U);
}

TEST_F(OAuthTest, KeepsTheRefreshTokenWhenTheServerHasTrouble) {
  hold();
  const auto oauth = make(false);
  token_answers = {{503, ""}};
  const auto result = refused(*oauth, 401, "", "Bearer old");
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().retryable);
  EXPECT_EQ(held().refresh_token, "old-refresh");
  // About to expire, but still good.
  now += 3590;
  token_answers = {{503, ""}};
  EXPECT_EQ(header(*oauth), "Bearer old");
  now += 11;
  token_answers = {{503, ""}};
  EXPECT_THAT(header(*oauth), HasSubstr("error: "));
  EXPECT_EQ(header(*oauth), "Bearer token-1");
}

TEST_F(OAuthTest, NoticesALoginOfAnotherProcess) {
  const auto oauth = make(false);
  EXPECT_EQ(header(*oauth), "none");
  TokenStore other(folder.path / "tokens.json");
  OAuthCredentials credentials;
  credentials.issuer = url;
  credentials.access_token = "theirs";
  credentials.client.registered = true;
  ASSERT_TRUE(live.run(other.save(mcp, credentials)));
  EXPECT_TRUE(refused(*oauth));
  EXPECT_EQ(header(*oauth), "Bearer theirs");
  EXPECT_TRUE(server.asked().empty());
}

TEST_F(OAuthTest, StepsUp) {
  hold();
  const auto oauth = make();
  token_answers = {{200, R"({"access_token":"more","token_type":"Bearer","scope":"write read"})"}};
  ASSERT_TRUE(refused(*oauth, 403, "Bearer error=\"insufficient_scope\", scope=\"write\"", "Bearer old"));
  EXPECT_EQ(person->questions.at(0).at("scope"), "write read") << "what was granted is not lost";
  EXPECT_EQ(token_request(0).at("grant_type"), "authorization_code") << "a refresh cannot give more";
  const auto again =
      refused(*oauth, 403, "Bearer error=\"insufficient_scope\", scope=\"write\"", "Bearer more");
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("granted already"));
  const auto forbidden = refused(*oauth, 403, "", "Bearer more");
  ASSERT_FALSE(forbidden);
  EXPECT_EQ(forbidden.error().code, Errc::unauthorized);
  EXPECT_EQ(person->questions.size(), 1U);
}

TEST_F(OAuthTest, RemembersWhatWasDemandedForTheNextLogin) {
  hold();
  const auto result =
      refused(*make(false), 403, "Bearer error=\"insufficient_scope\", scope=\"write\"", "Bearer old");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("more permissions: write; run `parley mcp login tools`"));
  EXPECT_EQ(header(*make(false)), "Bearer old") << "for all else it is good";
  ASSERT_TRUE(live.run(make()->log_in()));
  EXPECT_EQ(person->questions.at(0).at("scope"), "from-probe read write");
}

TEST_F(OAuthTest, GivesUpOnAServerThatRefusesEveryToken) {
  hold();
  const auto oauth = make(false);
  int renewed = 0;
  while (renewed < 10 && refused(*oauth, 401, "", header(*oauth))) ++renewed;
  EXPECT_EQ(renewed, 3);
  live.pass(61s);
  EXPECT_TRUE(refused(*oauth, 401, "", header(*oauth)));
}

TEST_F(OAuthTest, TakesNothingToAnotherAuthorizationServer) {
  hold([](OAuthCredentials& credentials) { credentials.issuer = "https://before.example.com"; });
  const auto oauth = make();
  ASSERT_TRUE(refused(*oauth, 401, "", "Bearer old"));
  EXPECT_EQ(asked("/register").size(), 1U);
  EXPECT_EQ(token_request(0).at("grant_type"), "authorization_code");
  EXPECT_EQ(person->questions.at(0).count("scope"), 0U);
  EXPECT_EQ(held().issuer, url);
}

TEST_F(OAuthTest, KeepsARegisteredClientToItsAuthorizationServer) {
  settings.client_id = "mine";
  hold([](OAuthCredentials& credentials) {
    credentials.client = {};
    credentials.client.id = "mine";
    credentials.issuer = "https://before.example.com";
  });
  auto result = refused(*make(), 401, "", "Bearer old");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("set `issuer`"));
  settings.issuer = "https://before.example.com";
  result = refused(*make(), 401, "", "Bearer old");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("does not name https://before.example.com"));
  EXPECT_TRUE(asked("/token").empty());
  settings.issuer = url;
  EXPECT_TRUE(refused(*make(), 401, "", "Bearer old"));
}

TEST_F(OAuthTest, SendsNoTokenOfAnotherClient) {
  hold();
  settings.client_id = "mine";
  EXPECT_EQ(header(*make(false)), "none");
  settings.client_id = "";
  EXPECT_EQ(header(*make(false)), "Bearer old");
  settings.issuer = "https://another.example.com";
  EXPECT_EQ(header(*make(false)), "none");
}

TEST_F(OAuthTest, SaysWhenTheFileIsDamaged) {
  std::ofstream(folder.path / "tokens.json") << "{\"version\": 1, \"serv";
  ::chmod((folder.path / "tokens.json").c_str(), 0600);
  EXPECT_THAT(header(*make(false)), HasSubstr("tokens.json is damaged"));
  EXPECT_FALSE(refused(*make()));
  EXPECT_TRUE(server.asked().empty());
}

}  // namespace
}  // namespace parley::mcp
