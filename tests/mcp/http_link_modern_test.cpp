#include "mcp/link_fixture.hpp"

namespace parley::mcp {
namespace {

struct ModernTest : HttpLinkTest {
  ModernTest() { server.speak_modern(); }

  static json question(const std::string& method = "elicitation/create") {
    return {{"q",
             {{"method", method},
              {"params", {{"requestedSchema", {{"properties", {{"size", {{"default", 3}}}}}}}}}}}};
  }
  static json more_input(json requests, json state = nullptr) {
    json result = {{"resultType", "input_required"}, {"inputRequests", std::move(requests)}};
    if (!state.is_null()) result["requestState"] = std::move(state);
    return result;
  }
};

TEST_F(ModernTest, EachRequestSaysEverything) {
  server.answer("tools/call", test::said("ok"));
  connected();
  EXPECT_EQ(text_of(call("wet ter\n")), "ok");
  const auto [http, message] = server.heard("tools/call").at(0);
  EXPECT_EQ(http.headers.at("mcp-protocol-version"), "2026-07-28");
  EXPECT_EQ(http.headers.at("mcp-method"), "tools/call");
  EXPECT_EQ(http.headers.at("mcp-name"), "=?base64?d2V0IHRlcgo=?=");
  EXPECT_EQ(http.headers.at("content-type"), "application/json");
  EXPECT_EQ(http.headers.at("accept"), "application/json, text/event-stream");
  EXPECT_EQ(http.headers.count("mcp-session-id"), 0U);
  EXPECT_EQ(message["params"]["name"], "wet ter\n");
  const auto& meta = message["params"]["_meta"];
  EXPECT_EQ(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
  EXPECT_EQ(meta["io.modelcontextprotocol/clientInfo"]["name"], "parley");
  EXPECT_TRUE(meta["io.modelcontextprotocol/clientCapabilities"].contains("elicitation"));
  EXPECT_FALSE(meta["io.modelcontextprotocol/clientCapabilities"].contains("sampling"));
  EXPECT_EQ(meta["progressToken"], message["id"]);
  EXPECT_EQ(server.heard("server/discover").at(0).http.headers.count("mcp-name"), 0U);
}

TEST_F(ModernTest, AnswersQuestionsWithTheStateAsItCame) {
  const json state = {{"opaque", {1, 2.5, nullptr, "ü"}}};
  server.on("tools/call", [&](HttpExchange& exchange, json message) {
    const auto& params = message["params"];
    if (!params.contains("inputResponses"))
      return send_result(exchange, message, more_input(question(), state));
    return send_result(exchange, message, test::said(params.dump()));
  });
  connected();
  const auto params = json::parse(text_of(call("t")));
  EXPECT_EQ(params["requestState"], state);
  EXPECT_EQ(params["inputResponses"]["q"], json::parse(R"({"action":"accept","content":{"size":3}})"));
  EXPECT_EQ(params["name"], "t");
  const auto heard = server.heard("tools/call");
  EXPECT_NE(heard.at(0).message["id"], heard.at(1).message["id"]);
}

TEST_F(ModernTest, WhereNoStateCameNoneGoesBack) {
  int asked = 0;
  server.on("tools/call", [&](HttpExchange& exchange, json message) {
    ++asked;
    if (asked == 1) return send_result(exchange, message, more_input(question(), "first"));
    if (asked == 2) return send_result(exchange, message, more_input(nullptr));
    return send_result(exchange, message, test::said("done"));
  });
  connected();
  EXPECT_EQ(text_of(call("t")), "done");
  const auto heard = server.heard("tools/call");
  EXPECT_EQ(heard.at(1).message["params"]["requestState"], "first");
  EXPECT_FALSE(heard.at(2).message["params"].contains("requestState"));
  EXPECT_EQ(heard.at(2).message["params"]["inputResponses"], json::object());
}

TEST_F(ModernTest, QuestionsEndAfterThreeRounds) {
  server.answer("tools/call", more_input(question(), "x"));
  connected();
  const auto result = call("t");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::limit);
  EXPECT_EQ(server.count("tools/call"), 4U);
}

TEST_F(ModernTest, QuestionsThatWereNotOfferedFailTheCall) {
  json many = json::object();
  for (int i = 0; i < 17; ++i) many[std::to_string(i)] = question()["q"];
  for (const auto& requests :
       {question("sampling/createMessage"), json{{"q", 7}}, json{{"q", json::object()}}, json("x"), many}) {
    server.answer("tools/call", more_input(requests));
    connected();
    EXPECT_FALSE(call("t")) << requests.dump().substr(0, 80);
  }
  EXPECT_EQ(server.count("tools/call"), 5U);
}

TEST_F(ModernTest, ALostAnswerIsAskedForAgainOnlyWhereThatIsSafe) {
  server.on("tools/call", [](HttpExchange& exchange, json) -> Task<> {
    co_await exchange.begin("text/event-stream");
    co_await exchange.chunk(": working\n\n");
    exchange.close();
  });
  connected();
  const auto lost = call("t");
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Errc::closed);
  EXPECT_EQ(server.count("tools/call"), 1U);
  RequestOptions options;
  options.idempotent = true;
  EXPECT_FALSE(call("t", options));
  const auto heard = server.heard("tools/call");
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_NE(heard[1].message["id"], heard[2].message["id"]);
}

TEST_F(ModernTest, AStreamMayEndWithoutTheReply) {
  server.on("tools/call", [](HttpExchange& exchange, json message) -> Task<> {
    co_await exchange.begin("Text/Event-Stream; charset=utf-8");
    message["id"] = 4711;
    co_await exchange.chunk(test::event(test::result_of(message, test::said("another's"))));
    co_await exchange.chunk("id: 1\ndata:\n\nevent: other\ndata: {\n\n");
    co_await exchange.end();
  });
  connected();
  EXPECT_EQ(call("t").error().code, Errc::closed);
}

TEST_F(ModernTest, AnswersThatAreNoneAreErrors) {
  for (const char* body : {"", "{", "[]", "<html>", R"({"jsonrpc":"2.0","id":77,"result":{}})"}) {
    server.on("tools/call", [body](HttpExchange& exchange, json) {
      return exchange.respond(200, "application/json", body);
    });
    connected();
    EXPECT_FALSE(call("t")) << body;
  }
  server.on("tools/call",
            [](HttpExchange& exchange, json) { return exchange.respond(202, "text/plain", ""); });
  EXPECT_FALSE(call("t"));
}

TEST_F(ModernTest, ErrorsOfTheServerAreItsWords) {
  server.on("tools/call", [](HttpExchange& exchange, json message) {
    return send_error(exchange, std::move(message), 400, -32602, "Unknown tool: t");
  });
  connected();
  const auto refused = call("t");
  EXPECT_EQ(refused.error().code, Errc::invalid_input);
  EXPECT_EQ(refused.error().message, "Unknown tool: t (-32602)");
}

TEST_F(ModernTest, AVersionThatIsGoneIsNotTheFaultOfTheTool) {
  server.on("tools/call", [](HttpExchange& exchange, json message) {
    return send_error(exchange, std::move(message), 400, -32022, "no", {{"supported", {"2027-01-01"}}});
  });
  connected();
  EXPECT_EQ(call("t").error().code, Errc::unsupported);
}

TEST_F(ModernTest, WrongHeadersMakeItListTheToolsAgainOnce) {
  auto listed = test::tool("t");
  server.on("tools/list", [&](HttpExchange& exchange, json message) {
    return send_result(exchange, message, {{"tools", {listed}}});
  });
  server.on("tools/call", [](HttpExchange& exchange, json message) {
    if (exchange.asked.headers.contains("mcp-param-region"))
      return send_result(exchange, message, test::said(exchange.asked.headers.at("mcp-param-region")));
    return send_error(exchange, message, 400, -32020, "Header mismatch");
  });
  connected();
  ASSERT_TRUE(live.run(link().list_tools()));
  EXPECT_FALSE(call("t"));
  EXPECT_EQ(server.count("tools/call"), 2U);
  EXPECT_EQ(server.count("tools/list"), 2U);
  listed["inputSchema"]["properties"]["region"] = {{"type", "string"}, {"x-mcp-header", "Region"}};
  const auto mirrored = live.run(link().call_tool("t", {{"region", "eu"}}, {}));
  EXPECT_EQ(text_of(mirrored), "eu");
}

TEST_F(ModernTest, CallsDuringAListHaveTheirHeaders) {
  auto listed = test::tool("t");
  listed["inputSchema"]["properties"]["region"] = {{"type", "string"}, {"x-mcp-header", "Region"}};
  auto slow = std::make_shared<test::Gate>(live.io.get_executor());
  slow->open();
  server.on("tools/list", [&](HttpExchange& exchange, json message) -> Task<> {
    const auto gate = slow;
    co_await gate->pass();
    co_await send_result(exchange, message, {{"tools", {listed}}});
  });
  server.answer("tools/call", test::said("ok"));
  connected();
  ASSERT_TRUE(live.run(link().list_tools()));
  slow = std::make_shared<test::Gate>(live.io.get_executor());
  const auto listing = live.start(link().list_tools());
  until_heard("tools/list", 2);
  EXPECT_TRUE(live.run(link().call_tool("t", {{"region", "eu"}}, {})));
  EXPECT_EQ(server.heard("tools/call").at(0).http.headers.count("mcp-param-region"), 1U);
  slow->open();
  EXPECT_TRUE(live.until([&] { return listing->done(); }));
}

TEST_F(ModernTest, CancellingClosesTheStream) {
  server.on("tools/call", [](HttpExchange& exchange, json) -> Task<> {
    co_await exchange.begin("text/event-stream");
    co_await exchange.until_closed();
  });
  connected();
  const auto signal = start_cancellable(live.io, link().call_tool("t", json::object(), {}));
  until_heard("tools/call");
  const auto closed = server.http().closed();
  signal->emit(asio::cancellation_type::terminal);
  EXPECT_TRUE(live.until([&] { return server.http().closed() > closed; }));
  quiet();
  EXPECT_EQ(server.count("notifications/cancelled"), 0U) << "that is how the old era does it";
}

TEST_F(ModernTest, ListensForChanges) {
  test::Gate change(live.io.get_executor());
  server.on("subscriptions/listen", [&](HttpExchange& exchange, json) -> Task<> {
    co_await exchange.begin("text/event-stream");
    co_await change.pass();
    co_await exchange.chunk(test::event(test::notification("notifications/tools/list_changed")));
    co_await exchange.chunk(test::event(test::notification("notifications/other")));
    co_await exchange.end();
  });
  connected();
  int changes = 0;
  const auto listening = live.start(link().listen([&] { ++changes; }));
  until_heard("subscriptions/listen");
  change.open();
  ASSERT_TRUE(live.until([&] { return listening->done(); }));
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(listening->result->error().code, Errc::closed);
  const auto params = server.heard("subscriptions/listen").at(0).message["params"];
  EXPECT_EQ(params["notifications"]["toolsListChanged"], true);
}

TEST_F(ModernTest, AServerThatHasNoStreamOfChangesIsLeftInPeace) {
  connected();
  for (const int status : {400, 404, 405}) {
    server.on("subscriptions/listen",
              [status](HttpExchange& exchange, json) { return send_page(exchange, status); });
    EXPECT_TRUE(live.run(link().listen([] {}))) << status;
  }
  server.answer("subscriptions/listen", json::object());
  EXPECT_TRUE(live.run(link().listen([] {}))) << "one answer is no stream";
  server.on("subscriptions/listen", [](HttpExchange& exchange, json) { return send_page(exchange, 503); });
  EXPECT_FALSE(live.run(link().listen([] {}))) << "it may have one later";
}

}  // namespace
}  // namespace parley::mcp
