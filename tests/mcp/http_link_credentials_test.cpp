#include "mcp/link_fixture.hpp"

namespace parley::mcp {
namespace {

struct FakeAuthorization final : Authorization {
  std::string token = "first-secret";
  std::vector<std::string> refusals;
  std::optional<Error> cannot;
  std::optional<Error> no_header;

  Task<Result<std::optional<std::string>>> header() override {
    if (no_header) co_return *no_header;
    if (token.empty()) co_return std::optional<std::string>();
    co_return std::optional("Bearer " + token);
  }
  Task<Result<>> refused(int status, std::string challenge, std::string used) override {
    refusals.push_back(std::to_string(status) + "|" + challenge + "|" + used);
    if (cannot) co_return *cannot;
    token = "secret-" + std::to_string(refusals.size());
    co_return Result<>();
  }
};

struct CredentialsTest : HttpLinkTest {
  std::shared_ptr<FakeAuthorization> credentials = std::make_shared<FakeAuthorization>();
  CredentialsTest() {
    authorization = credentials;
    server.speak_modern();
  }
  void demand(int status, const std::string& wanted) {
    server.on("tools/call", [=](HttpExchange& exchange, json message) {
      const auto& headers = exchange.asked.headers;
      if (headers.contains("authorization") && headers.at("authorization") == wanted)
        return send_result(exchange, message, test::said("in"));
      return exchange.respond(status, "text/plain", "first-secret is wrong",
                              "WWW-Authenticate: Bearer scope=\"a\"\r\n");
    });
  }
};

TEST_F(CredentialsTest, EachRequestCarriesWhatIsKnown) {
  connected();
  EXPECT_EQ(server.heard().at(0).http.headers.at("authorization"), "Bearer first-secret");
  credentials->token.clear();
  connected();
  EXPECT_EQ(server.heard().at(1).http.headers.count("authorization"), 0U);
}

TEST_F(CredentialsTest, ARefusalIsAnsweredWithNewOnes) {
  connected();
  for (const int status : {401, 403}) {
    credentials->token = "first-secret";
    credentials->refusals.clear();
    demand(status, "Bearer secret-2");
    EXPECT_EQ(text_of(call("t")), "in");
    const auto asked = std::to_string(status) + "|Bearer scope=\"a\"|Bearer ";
    EXPECT_THAT(credentials->refusals, testing::ElementsAre(asked + "first-secret", asked + "secret-1"));
  }
}

TEST_F(CredentialsTest, AtMostThreeTimesAndWithoutASecretInTheError) {
  connected();
  demand(401, "Bearer never");
  const auto refused = call("t");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unauthorized);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("401"), Not(HasSubstr("secret"))));
  EXPECT_EQ(credentials->refusals.size(), 3U);
  EXPECT_EQ(server.count("tools/call"), 4U);
}

TEST_F(CredentialsTest, WhatOnlyAPersonCanDoIsSaid) {
  credentials->cannot = Error(Errc::unauthorized, "run `parley mcp login web`");
  demand(401, "Bearer never");
  connected();
  EXPECT_EQ(call("t").error().message, "run `parley mcp login web`");
  credentials->no_header = Error(Errc::unavailable, "no token to be had");
  EXPECT_EQ(call("t").error().message, "no token to be had");
}

TEST_F(CredentialsTest, AnUnauthorisedServerIsOfNoOtherEra) {
  server.speak_legacy();
  authorization = nullptr;
  settings.headers = {{"Authorization", "Bearer fixed-secret"}};
  server.on("server/discover",
            [](HttpExchange& exchange, json) { return exchange.respond(401, "text/plain", "fixed-secret"); });
  const auto info = connect();
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().code, Errc::unauthorized);
  EXPECT_THAT(info.error().message, Not(HasSubstr("secret")));
  EXPECT_EQ(server.count("initialize"), 0U);
  EXPECT_EQ(server.heard().at(0).http.headers.at("authorization"), "Bearer fixed-secret");
}

TEST_F(CredentialsTest, ASecretThatNoHeaderMayHoldIsNotSent) {
  credentials->token = "sec\r\nret: x";
  const auto info = connect();
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().code, Errc::invalid_input);
  EXPECT_THAT(info.error().message, Not(HasSubstr("ret")));
  EXPECT_TRUE(server.heard().empty());
}

TEST_F(CredentialsTest, RedirectsWithinTheOriginAreFollowed) {
  for (const int status : {307, 308}) {
    for (const auto& to :
         {std::string("/there?x=1"), std::string("there?x=1"), server.http().url() + "/there?x=1"}) {
      connected();
      auto redirected = std::make_shared<bool>(false);
      server.on("tools/call", [=](HttpExchange& exchange, json message) {
        if (std::exchange(*redirected, true))
          return send_result(exchange, message, test::said(exchange.asked.target));
        return exchange.respond(status, "text/plain", "moved", "Location: " + to + "\r\n");
      });
      EXPECT_EQ(text_of(call("t")), "/there?x=1") << to;
    }
  }
  const auto heard = server.heard("tools/call");
  EXPECT_EQ(heard.at(1).message, heard.at(0).message);
  EXPECT_EQ(heard.at(1).http.headers.at("authorization"), "Bearer first-secret");
}

TEST_F(CredentialsTest, OtherRedirectsAreNot) {
  const test::McpServer other(live.io);
  connected();
  for (const auto& [status, to] : {std::pair(307, other.url()),
                                   {308, other.url()},
                                   {307, "//127.0.0.2/mcp"},
                                   {307, "https" + server.url().substr(4)},
                                   {307, "http://a:b@" + server.url().substr(7)},
                                   {307, ""},
                                   {307, "file:///etc/passwd"},
                                   {307, "http://"},
                                   {302, "/there"},
                                   {301, "/there"},
                                   {303, "/there"},
                                   {300, "/there"}}) {
    const auto before = server.heard().size();
    server.on("tools/call", [status = status, to = to](HttpExchange& exchange, json) {
      return exchange.respond(status, "text/plain", "", "Location: " + to + "\r\n");
    });
    const auto result = call("t");
    ASSERT_FALSE(result) << to;
    EXPECT_EQ(result.error().code, Errc::unavailable) << status << to;
    EXPECT_EQ(server.heard().size(), before + 1) << status << to;
  }
  EXPECT_TRUE(other.heard().empty());
}

TEST_F(CredentialsTest, RedirectsInACircleEnd) {
  connected();
  server.on("tools/call", [](HttpExchange& exchange, json) {
    return exchange.respond(307, "text/plain", "", "Location: /mcp\r\n");
  });
  EXPECT_FALSE(call("t"));
  EXPECT_EQ(server.count("tools/call"), 4U);
}

TEST_F(CredentialsTest, OnlyPublicAddressesUnlessTheOperatorSaysOtherwise) {
  settings.allow_private_network = false;
  const auto info = connect();
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().code, Errc::unavailable);
  EXPECT_FALSE(info.error().retryable);
  EXPECT_THAT(info.error().message, HasSubstr("at an address that is not public (127.0.0.1)"));
  EXPECT_EQ(server.http().connections(), 0);
}

TEST_F(CredentialsTest, WhatARefusalSaysIsShownInOneLine) {
  connected();
  for (const auto& [body, shown] :
       {std::pair(std::string("out of order\nsecond line"), std::string("HTTP 500: out of order")),
        {std::string("<html>"), std::string("HTTP 500")},
        {std::string("a\x1B[31m"), std::string("HTTP 500")},
        {std::string(300, 'x'), "HTTP 500: " + std::string(200, 'x')}}) {
    server.on("tools/call", [body = body](HttpExchange& exchange, json) {
      return exchange.respond(500, "text/plain", body);
    });
    EXPECT_EQ(call("t").error().message, "the MCP server refuses: " + shown);
  }
}

}  // namespace
}  // namespace parley::mcp
