#include "mcp/link_fixture.hpp"

namespace parley::mcp {
namespace {

/// Legacy streams that end before the reply.
struct ResumeTest : HttpLinkTest {
  ResumeTest() {
    settings.era = Era::legacy;
    server.speak_legacy();
  }
  json asked() { return server.heard("tools/call").at(0).message; }
  std::string reply() { return test::event(test::result_of(asked(), test::said("ok"))); }
  static Task<> stream(HttpExchange& exchange, std::string events) {
    co_await exchange.begin("text/event-stream");
    if (!events.empty()) co_await exchange.chunk(events);
    co_await exchange.end();
  }
};

TEST_F(ResumeTest, WaitsAsLongAsTheServerSaysAndTakesTheReplyThere) {
  server.on("tools/call",
            [](HttpExchange& exchange, json) { return stream(exchange, "id: e1\nretry: 500\ndata:\n\n"); });
  server.on("GET", [this](HttpExchange& exchange, json) { return stream(exchange, reply()); });
  connected();
  const auto result = start_call("t");
  until_heard("tools/call");
  quiet();
  live.pass(499ms);
  quiet();
  EXPECT_EQ(server.count("GET"), 0U);
  live.pass(1ms);
  ASSERT_TRUE(live.until([&] { return result->done(); }));
  EXPECT_EQ(text_of(*result->result), "ok");
  const auto http = server.heard("GET").at(0).http;
  EXPECT_EQ(http.headers.at("last-event-id"), "e1");
  EXPECT_EQ(http.headers.at("mcp-session-id"), "s1");
  quiet();
  EXPECT_EQ(server.count("notifications/cancelled"), 0U);
}

TEST_F(ResumeTest, TheIdAndTheWaitHoldUntilTheServerSaysOtherwise) {
  server.on("tools/call",
            [](HttpExchange& exchange, json) { return stream(exchange, "id: e1\nretry: 50\ndata:\n\n"); });
  int streams = 0;
  server.on("GET", [&](HttpExchange& exchange, json) {
    return stream(exchange, ++streams < 3 ? std::string() : reply());
  });
  connected();
  const auto result = start_call("t");
  for (std::size_t i = 1; i <= 3; ++i) {
    quiet();
    live.pass(50ms);
    until_heard("GET", i);
  }
  ASSERT_TRUE(live.until([&] { return result->done(); }));
  EXPECT_EQ(text_of(*result->result), "ok");
  EXPECT_EQ(server.heard("GET").at(2).http.headers.at("last-event-id"), "e1");
}

TEST_F(ResumeTest, AStreamThatEndsAgainAndAgainIsGivenUp) {
  server.on("tools/call",
            [](HttpExchange& exchange, json) { return stream(exchange, "id: e1\nretry: 1\ndata:\n\n"); });
  server.on("GET", [](HttpExchange& exchange, json) { return stream(exchange, ""); });
  connected();
  const auto result = start_call("t");
  for (std::size_t i = 1; i <= 8; ++i) {
    quiet();
    live.pass(1ms);
    until_heard("GET", i);
  }
  ASSERT_TRUE(live.until([&] { return result->done(); }));
  EXPECT_EQ(result->result->error().code, Errc::closed);
}

TEST_F(ResumeTest, WithoutAnIdTheAnswerIsLost) {
  server.on("tools/call", [](HttpExchange& exchange, json) { return stream(exchange, "retry: 10\n\n"); });
  connected();
  EXPECT_EQ(call("t").error().code, Errc::closed);
  EXPECT_EQ(server.count("tools/call"), 1U);
  EXPECT_EQ(server.count("GET"), 0U);
  RequestOptions options;
  options.idempotent = true;
  EXPECT_FALSE(call("t", options));
  EXPECT_EQ(server.count("tools/call"), 3U);
}

TEST_F(ResumeTest, AWaitLongerThanTheRequestIsATimeout) {
  server.on("tools/call", [](HttpExchange& exchange, json) {
    return stream(exchange, "id: e1\nretry: 9999999\ndata:\n\n");
  });
  connected();
  const auto result = start_call("t");
  until_heard("tools/call");
  quiet();
  live.pass(settings.timeout);
  ASSERT_TRUE(live.until([&] { return result->done(); }));
  EXPECT_EQ(result->result->error().code, Errc::timeout);
}

TEST_F(ResumeTest, AnEventThatIsTooLongIsNotAskedForAgain) {
  server.on("tools/call", [](HttpExchange& exchange, json) {
    return stream(exchange, "id: e1\nretry: 1\ndata:\n\ndata: " + std::string(1024 * 1024, 'x'));
  });
  connected();
  EXPECT_EQ(call("t").error().code, Errc::limit);
  EXPECT_EQ(server.count("GET"), 0U);
}

TEST_F(ResumeTest, ARefusedStreamIsTheEndOfTheRequest) {
  server.on("tools/call",
            [](HttpExchange& exchange, json) { return stream(exchange, "id: e1\nretry: 1\ndata:\n\n"); });
  connected();  // GET is answered 405
  const auto result = start_call("t");
  until_heard("tools/call");
  quiet();
  live.pass(1ms);
  ASSERT_TRUE(live.until([&] { return result->done(); }));
  EXPECT_EQ(result->result->error().code, Errc::unavailable);
}

}  // namespace
}  // namespace parley::mcp
