#include "mcp/link_fixture.hpp"

namespace parley::mcp {
namespace {

struct LegacyTest : HttpLinkTest {
  LegacyTest() {
    settings.era = Era::legacy;
    server.speak_legacy();
  }

  test::Gate reply_is_due{live.io.get_executor()};

  static std::string reply(const json& message, const std::string& text) {
    return test::event(test::result_of(message, test::said(text)));
  }
  /// What the client answered to requests of the server.
  std::vector<json> answers() {
    std::vector<json> out;
    for (const auto& heard : server.heard("reply")) out.push_back(heard.message);
    return out;
  }
  void never_answer(const std::string& method) {
    server.on(method, [](HttpExchange& exchange, json) -> Task<> {
      co_await exchange.begin("text/event-stream");
      co_await exchange.until_closed();
    });
  }
};

TEST_F(LegacyTest, SaysHelloAndKeepsTheSession) {
  server.answer("tools/call", test::said("ok"));
  connected();
  EXPECT_EQ(text_of(call("t")), "ok");
  const auto hello = server.heard("initialize").at(0);
  EXPECT_EQ(hello.message["params"]["protocolVersion"], "2025-11-25");
  EXPECT_EQ(hello.http.headers.count("mcp-session-id"), 0U);
  EXPECT_EQ(hello.http.headers.count("mcp-protocol-version"), 0U);
  EXPECT_FALSE(hello.message["params"].contains("_meta"));
  for (const char* what : {"notifications/initialized", "tools/call"}) {
    const auto http = server.heard(what).at(0).http;
    EXPECT_EQ(http.headers.at("mcp-session-id"), "s1") << what;
    EXPECT_EQ(http.headers.at("mcp-protocol-version"), "2025-11-25") << what;
    EXPECT_EQ(http.headers.count("mcp-method"), 0U) << what;
  }
  live.io.restart();
  const auto closing = live.start([](HttpLink& link) -> Task<int> {
    co_await link.close();
    co_return 0;
  }(link()));
  ASSERT_TRUE(live.until([&] { return closing->done(); }));
  EXPECT_EQ(server.heard("DELETE").at(0).http.headers.at("mcp-session-id"), "s1");
}

TEST_F(LegacyTest, OlderVersionsAreSpokenAndUnknownOnesAreNot) {
  for (const char* version : {"2025-06-18", "2025-03-26", "2024-11-05"}) {
    server.answer("initialize", {{"protocolVersion", version}});
    EXPECT_EQ(connected().protocol_version, version);
    EXPECT_EQ(server.heard("notifications/initialized").back().http.headers.at("mcp-protocol-version"),
              version);
  }
  for (const json& result : {json{{"protocolVersion", "1999-01-01"}}, json{{"protocolVersion", 7}},
                             json::object(), json("x"), json(nullptr)}) {
    server.answer("initialize", result);
    EXPECT_FALSE(connect()) << result;
  }
}

TEST_F(LegacyTest, ALostSessionIsBegunAgainOnceForAll) {
  server.on("tools/call", [](HttpExchange& exchange, json message) {
    return send_result(exchange, message, test::said(message["params"]["name"]));
  });
  connected();
  for (
      const auto& [status, body] :
      {std::pair(404, "gone"),
       {400, R"({"error":{"message":"Session not found"}})"},
       {400,
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No valid session ID provided"}})"}}) {
    auto refused = std::make_shared<int>(0);
    server.on("tools/call", [=](HttpExchange& exchange, json message) {
      if (++*refused <= 3) return exchange.respond(status, "application/json", body);
      return send_result(exchange, message, test::said(message["params"]["name"]));
    });
    const auto begun = server.count("initialize");
    const auto a = start_call("a");
    const auto b = start_call("b");
    const auto c = start_call("c");
    ASSERT_TRUE(live.until([&] { return a->done() && b->done() && c->done(); }));
    EXPECT_EQ(text_of(*a->result), "a");
    EXPECT_EQ(text_of(*b->result), "b");
    EXPECT_EQ(text_of(*c->result), "c");
    EXPECT_EQ(server.count("initialize"), begun + 1) << body;
  }
}

TEST_F(LegacyTest, AnotherTakesOverWhereTheOneThatBeginsASessionIsCancelled) {
  server.answer("tools/call", test::said("ok"));
  connected();
  server.forget();
  test::Gate gate(live.io.get_executor());
  server.on("initialize", [&](HttpExchange& exchange, json message) -> Task<> {
    co_await gate.pass();
    server.speak_legacy("new");
    co_await send_result(exchange, message, {{"protocolVersion", "2025-11-25"}}, "Mcp-Session-Id: none\r\n");
  });
  const auto first = start_cancellable(live.io, link().call_tool("a", json::object(), {}));
  until_heard("initialize", 2);
  const auto second = start_call("b");
  quiet();
  EXPECT_EQ(server.count("tools/call"), 1U) << "the second one waits";
  first->emit(asio::cancellation_type::terminal);
  gate.open();
  ASSERT_TRUE(live.until([&] { return second->done(); }));
  EXPECT_EQ(text_of(*second->result), "ok");
}

TEST_F(LegacyTest, ASessionThatCannotBeBegunAgainIsAnError) {
  connected();
  server.forget();
  server.on("initialize", [](HttpExchange& exchange, json) { return test::send_page(exchange, 404); });
  EXPECT_FALSE(call("t"));
  EXPECT_FALSE(call("t"));
  server.speak_legacy();
  server.answer("tools/call", test::said("ok"));
  EXPECT_EQ(text_of(call("t")), "ok");
}

TEST_F(LegacyTest, AServerThatKeepsNoSessionIsNotAskedForEver) {
  connected();
  server.on("tools/call", [](HttpExchange& exchange, json) { return test::send_page(exchange, 404); });
  EXPECT_EQ(call("t").error().code, Errc::unavailable);
  EXPECT_EQ(server.count("tools/call"), 2U);
}

TEST_F(LegacyTest, AMethodThatIsNotKnownIsNoLostSession) {
  connected();
  server.on("tools/call", [](HttpExchange& exchange, json message) {
    return send_error(exchange, std::move(message), 404, -32601, "Method not found");
  });
  EXPECT_EQ(call("t").error().code, Errc::invalid_input);
  EXPECT_EQ(server.count("initialize"), 1U);
}

TEST_F(LegacyTest, AnswersRequestsOfTheServerMeanwhile) {
  server.on("tools/call", [this](HttpExchange& exchange, json message) -> Task<> {
    co_await exchange.begin("text/event-stream");
    const auto ask = [](json id, const std::string& method, json params) {
      return test::event({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
    };
    co_await exchange.chunk(ask(0, "ping", json::object()));
    co_await exchange.chunk(ask("text", "elicitation/create",
                                {{"requestedSchema", {{"properties", {{"a", {{"default", 1}}}}}}}}));
    co_await exchange.chunk(ask(1, "sampling/createMessage", json::object()));
    co_await exchange.chunk(ask(2, "roots/list", json::object()));
    co_await reply_is_due.pass();
    co_await exchange.chunk(reply(message, "ok"));
    co_await exchange.end();
  });
  connected();
  const auto result = start_call("t");
  until_heard("reply", 4);
  reply_is_due.open();
  ASSERT_TRUE(live.until([&] { return result->done(); }));
  EXPECT_EQ(text_of(*result->result), "ok");
  std::map<json, json> by_id;
  for (const auto& answer : answers()) by_id[answer["id"]] = answer;
  EXPECT_EQ(by_id.at(0)["result"], json::object());
  EXPECT_EQ(by_id.at("text")["result"]["action"], "accept");
  EXPECT_EQ(by_id.at(1)["error"]["code"], -32601);
  EXPECT_EQ(by_id.at(2)["error"]["code"], -32601);
  EXPECT_EQ(server.heard("reply").at(0).http.headers.at("mcp-session-id"), "s1");
}

TEST_F(LegacyTest, AStormOfRequestsIsAnsweredInPart) {
  server.on("reply", [](HttpExchange& exchange, json) { return exchange.until_closed(); });
  server.on("tools/call", [](HttpExchange& exchange, json message) -> Task<> {
    co_await exchange.begin("text/event-stream");
    std::string pings;
    for (int i = 0; i < 500; ++i) pings += test::event({{"jsonrpc", "2.0"}, {"id", i}, {"method", "ping"}});
    co_await exchange.chunk(pings);
    co_await exchange.chunk(reply(message, "ok"));
    co_await exchange.end();
  });
  connected();
  EXPECT_EQ(text_of(call("t")), "ok");
  quiet();
  EXPECT_LE(server.count("reply"), 32U);
}

TEST_F(LegacyTest, CancellingTellsTheServer) {
  never_answer("tools/call");
  connected();
  const auto signal = start_cancellable(live.io, link().call_tool("t", json::object(), {}));
  until_heard("tools/call");
  signal->emit(asio::cancellation_type::terminal);
  until_heard("notifications/cancelled");
  const auto told = server.heard("notifications/cancelled").at(0).message;
  EXPECT_EQ(told["params"]["requestId"], server.heard("tools/call").at(0).message["id"]);
  EXPECT_FALSE(told.contains("id"));
}

TEST_F(LegacyTest, ATimeoutTellsTheServer) {
  never_answer("tools/call");
  connected();
  const auto late = start_call("t");
  until_heard("tools/call");
  quiet();
  live.pass(settings.timeout);
  ASSERT_TRUE(live.until([&] { return late->done(); }));
  EXPECT_EQ(late->result->error().code, Errc::timeout);
  EXPECT_THAT(late->result->error().message, HasSubstr("10000 ms"));
  until_heard("notifications/cancelled");
}

TEST_F(LegacyTest, AHelloIsNeverCancelled) {
  never_answer("initialize");
  const auto signal = start_cancellable(live.io, link().connect());
  until_heard("initialize");
  signal->emit(asio::cancellation_type::terminal);
  quiet();
  EXPECT_EQ(server.count("notifications/cancelled"), 0U);
}

TEST_F(LegacyTest, AnAnsweredRequestIsNotCancelled) {
  server.answer("tools/call", test::said("ok"));
  connected();
  call("t");
  server.on("tools/call", [](HttpExchange& exchange, json message) {
    return send_error(exchange, std::move(message), 200, -32602, "no");
  });
  call("t");
  quiet();
  EXPECT_EQ(server.count("notifications/cancelled"), 0U);
}

TEST_F(LegacyTest, ListensForChangesAndOpensTheStreamAgain) {
  server.on("GET", [](HttpExchange& exchange, json) -> Task<> {
    co_await exchange.begin("text/event-stream");
    co_await exchange.chunk("retry: 300\n\n");
    co_await exchange.chunk(test::event(test::notification("notifications/tools/list_changed"), "e7"));
    co_await exchange.end();
  });
  connected();
  int changes = 0;
  const auto listening = live.start(link().listen([&] { ++changes; }));
  until_armed(1);
  ASSERT_TRUE(live.until([&] { return changes == 1; }));
  quiet();
  live.pass(299ms);
  quiet();
  EXPECT_EQ(server.count("GET"), 1U);
  live.pass(1ms);
  until_heard("GET", 2);
  const auto heard = server.heard("GET");
  EXPECT_EQ(heard[0].http.headers.count("last-event-id"), 0U);
  EXPECT_EQ(heard[1].http.headers.at("last-event-id"), "e7");
  EXPECT_EQ(heard[1].http.headers.at("accept"), "text/event-stream");
  ASSERT_TRUE(live.until([&] { return changes == 2; }));
  EXPECT_FALSE(listening->done());
}

TEST_F(LegacyTest, AServerWithoutSuchAStreamIsLeftInPeace) {
  connected();
  EXPECT_TRUE(live.run(link().listen([] {})));  // 405
  server.on("GET", [](HttpExchange& exchange, json) { return test::send_page(exchange, 200); });
  EXPECT_TRUE(live.run(link().listen([] {}))) << "a page for people is no stream";
  server.on("GET", [](HttpExchange& exchange, json) { return test::send_page(exchange, 502); });
  EXPECT_FALSE(live.run(link().listen([] {})));
  server.forget();
  EXPECT_EQ(live.run(link().listen([] {})).error().code, Errc::closed);
}

}  // namespace
}  // namespace parley::mcp
