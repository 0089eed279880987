#include "mcp/link_fixture.hpp"

namespace parley::mcp {
namespace {

struct DetectionTest : HttpLinkTest {
  void refuse_discovery(int status, int code, json data = nullptr) {
    server.on("server/discover", [=](HttpExchange& exchange, json message) {
      return send_error(exchange, std::move(message), status, code, "no", data);
    });
  }
};

TEST_F(DetectionTest, AModernServerIntroducesItself) {
  server.speak_modern();
  const auto info = connected();
  EXPECT_EQ(info.era, Era::modern);
  EXPECT_EQ(info.protocol_version, "2026-07-28");
  EXPECT_EQ(info.name, "fake");
  EXPECT_EQ(server.heard().size(), 1U);
}

TEST_F(DetectionTest, ModernErrorsMeanAModernServer) {
  for (const auto& [status, code] : {std::pair(400, -32020), {400, -32021}, {404, -32601}}) {
    refuse_discovery(status, code);
    made.reset();
    EXPECT_EQ(connected().era, Era::modern) << code;
  }
  EXPECT_EQ(server.count("initialize"), 0U);
}

TEST_F(DetectionTest, AServerThatNamesOurVersionIsAskedAgain) {
  int asked = 0;
  server.on("server/discover", [&](HttpExchange& exchange, json message) {
    if (++asked > 1) return send_result(exchange, message, {{"supportedVersions", {"2026-07-28"}}});
    return send_error(exchange, message, 400, -32022, "no", {{"supported", {"2025-11-25", "2026-07-28"}}});
  });
  EXPECT_EQ(connected().era, Era::modern);
  EXPECT_EQ(asked, 2);
}

TEST_F(DetectionTest, AServerThatInsistsOnOurVersionAndRefusesItIsNotAskedForEver) {
  refuse_discovery(400, -32022, {{"supported", {"2026-07-28"}}});
  const auto info = connect();
  ASSERT_FALSE(info);
  EXPECT_EQ(server.count("server/discover"), 2U);
}

TEST_F(DetectionTest, AServerOfOtherVersionsIsSpokenToInTheOldWay) {
  server.speak_legacy();
  refuse_discovery(400, -32022, {{"supported", {"2025-11-25"}}});
  EXPECT_EQ(connected().era, Era::legacy);
  made.reset();
  server.answer("server/discover", {{"supportedVersions", {"2025-11-25"}}});
  EXPECT_EQ(connected().era, Era::legacy);
}

TEST_F(DetectionTest, AnythingElseIsAnOldServer) {
  server.speak_legacy();
  for (const auto& [status, code] : {std::pair(200, -32601), {400, -32000}, {400, -32600}, {500, -32603}}) {
    refuse_discovery(status, code);
    made.reset();
    const auto info = connected();
    EXPECT_EQ(info.era, Era::legacy) << code;
    EXPECT_EQ(info.protocol_version, "2025-11-25");
    EXPECT_EQ(info.name, "old");
  }
  for (const int status : {400, 404, 200}) {
    server.on("server/discover",
              [status](HttpExchange& exchange, json) { return send_page(exchange, status); });
    made.reset();
    EXPECT_EQ(connected().era, Era::legacy) << status;
  }
}

TEST_F(DetectionTest, AServerThatIsBusyIsNotTakenForAnOldOne) {
  server.speak_legacy();
  for (const int status : {429, 502, 503, 504}) {
    server.on("server/discover",
              [status](HttpExchange& exchange, json) { return send_page(exchange, status); });
    const auto info = connect();
    ASSERT_FALSE(info);
    EXPECT_TRUE(info.error().retryable);
  }
  EXPECT_EQ(server.count("initialize"), 0U);
}

TEST_F(DetectionTest, AnAnswerThatBreaksOffSaysNothing) {
  server.speak_legacy();
  server.on("server/discover", [](HttpExchange& exchange, json) -> Task<> {
    co_await exchange.write(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{");
    exchange.close();
  });
  const auto info = connect();
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().code, Errc::closed);
  EXPECT_EQ(server.count("initialize"), 0U);
}

TEST_F(DetectionTest, SilenceIsNoEra) {
  server.speak_legacy();
  server.on("server/discover", [](HttpExchange& exchange, json) { return exchange.until_closed(); });
  const auto info = live.start(link().connect());
  until_heard("server/discover");
  live.pass(settings.connect_timeout + settings.timeout);
  ASSERT_TRUE(live.until([&] { return info->done(); }));
  EXPECT_EQ(info->result->error().code, Errc::timeout);
  quiet();
  EXPECT_EQ(server.count("initialize"), 0U);
}

TEST_F(DetectionTest, NobodyThereIsNoEra) {
  settings.url = [this] {
    const test::McpServer gone(live.io);
    return gone.url();
  }();
  const auto info = connect();
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().code, Errc::unavailable);
  EXPECT_TRUE(server.heard().empty());
}

TEST_F(DetectionTest, ThePagesOfAWebServerAreNoMcp) {
  const auto info = connect();  // 404 to everything
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().code, Errc::unavailable);
  EXPECT_THAT(info.error().message, AllOf(HasSubstr("HTTP 404"), Not(HasSubstr("<html>"))));
  EXPECT_EQ(server.count("server/discover"), 1U);
  EXPECT_EQ(server.count("initialize"), 1U);
  EXPECT_EQ(server.count("GET"), 1U);
  for (const char* what : {"server/discover", "initialize"})
    server.on(what, [](HttpExchange& exchange, json) { return send_page(exchange, 200); });
  const auto again = connect();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::invalid_input);
  EXPECT_EQ(server.count("GET"), 1U) << "a page is no sign of the oldest transport";
}

TEST_F(DetectionTest, APinnedEraIsNotDiscussed) {
  settings.era = Era::legacy;
  server.speak_modern();
  EXPECT_FALSE(connect());
  EXPECT_EQ(server.count("server/discover"), 0U);
  EXPECT_EQ(server.count("GET"), 0U);
}

TEST_F(DetectionTest, AServerMayChangeItsEraWhileItRuns) {
  server.speak_modern();
  EXPECT_EQ(connected().era, Era::modern);
  server.speak_legacy();
  EXPECT_EQ(connected().era, Era::legacy);
  EXPECT_EQ(connected().era, Era::legacy);
  EXPECT_EQ(server.count("server/discover"), 2U) << "what was found out is remembered";
  server.on("initialize", [](HttpExchange& exchange, json) { return send_page(exchange, 404); });
  server.speak_modern();
  EXPECT_EQ(connected().era, Era::modern);
}

TEST_F(DetectionTest, AnOldServerThatIsDownStaysAnOldServer) {
  server.speak_legacy();
  connected();
  server.on("initialize", [](HttpExchange& exchange, json) { return send_page(exchange, 503); });
  EXPECT_FALSE(connect());
  EXPECT_EQ(server.count("server/discover"), 1U);
}

TEST_F(DetectionTest, WithoutAConnectionRequestsFailAtOnce) {
  EXPECT_EQ(call("x").error().code, Errc::closed);
  EXPECT_EQ(live.run(link().list_tools()).error().code, Errc::closed);
  EXPECT_EQ(live.run(link().listen([] {})).error().code, Errc::closed);
}

}  // namespace
}  // namespace parley::mcp
