#include "mcp/link_fixture.hpp"

namespace parley::mcp {
namespace {

struct LimitsTest : HttpLinkTest {
  LimitsTest() { server.speak_modern(); }

  Result<ToolPage> list() { return live.run(link().list_tools()); }
  std::vector<std::string> names() {
    const auto page = list();
    EXPECT_TRUE(page) << page.error().message;
    std::vector<std::string> out;
    if (page) {
      for (const auto& tool : page->tools) out.push_back(tool.name);
    }
    return out;
  }
  /// The tools of a page by the cursor that asks for it, "-" for the first.
  void pages(std::function<json(std::string)> page) {
    server.on("tools/list", [page](HttpExchange& exchange, json message) {
      const auto& params = message["params"];
      return send_result(exchange, message, page(params.value("cursor", "-")));
    });
  }
  static json sized(const std::string& name, std::size_t bytes) {
    auto tool = test::tool(name);
    tool["inputSchema"]["x"] = "";
    const auto rest = tool["inputSchema"].dump().size();
    tool["inputSchema"]["x"] = std::string(bytes - rest, 'x');
    return tool;
  }
};

TEST_F(LimitsTest, ListsPageByPageAlsoWithAnEmptyCursor) {
  pages([](const std::string& cursor) -> json {
    if (cursor == "-") return {{"tools", {test::tool("a")}}, {"nextCursor", ""}, {"ttlMs", 5}};
    if (cursor.empty()) return {{"tools", {test::tool("b")}}, {"nextCursor", "2"}};
    return {{"tools", {test::tool("c")}}, {"nextCursor", nullptr}, {"ttlMs", 7000}};
  });
  connected();
  const auto page = list();
  ASSERT_TRUE(page);
  EXPECT_EQ(page->tools.size(), 3U);
  EXPECT_EQ(page->ttl, 7s);
  EXPECT_FALSE(server.heard("tools/list").at(0).message["params"].contains("cursor"));
}

TEST_F(LimitsTest, RepeatedCursorsAndEndlessPagesEnd) {
  pages([](const std::string&) -> json { return {{"tools", {test::tool("a")}}, {"nextCursor", ""}}; });
  connected();
  EXPECT_EQ(names().size(), 2U);
  EXPECT_EQ(server.count("tools/list"), 2U);
  int page = 0;
  pages([&](const std::string&) -> json {
    return {{"tools", json::array()}, {"nextCursor", std::to_string(++page)}};
  });
  EXPECT_TRUE(names().empty());
  EXPECT_EQ(page, 64);
}

TEST_F(LimitsTest, TakesNoMoreThan512Tools) {
  pages([](const std::string&) -> json {
    json tools = json::array();
    for (int i = 0; i < 600; ++i) tools.push_back(test::tool("t" + std::to_string(i)));
    return {{"tools", tools}, {"nextCursor", "more"}};
  });
  connected();
  EXPECT_EQ(names().size(), 512U);
  EXPECT_EQ(server.count("tools/list"), 1U);
}

TEST_F(LimitsTest, LeavesOutWhatIsMalformedOrTooLong) {
  auto odd = test::tool("odd");
  odd["inputSchema"]["properties"]["a"] = {{"type", "string"}, {"x-mcp-header", "a b"}};
  auto wordy = test::tool("wordy");
  wordy["description"] = std::string(8191, 'x') + "ü";
  pages([&](const std::string&) -> json {
    return {{"tools",
             {7,
              json::object(),
              {{"name", 5}},
              {{"name", ""}},
              test::tool(std::string(257, 'n')),
              odd,
              sized("fits", 65536),
              sized("large", 65537),
              wordy,
              {{"name", "bare"}}}}};
  });
  connected();
  EXPECT_THAT(names(), testing::ElementsAre("fits", "wordy", "bare"));
  EXPECT_EQ(list()->tools[1].description, std::string(8191, 'x'));
  EXPECT_EQ(list()->tools[2].input_schema["type"], "object");
}

TEST_F(LimitsTest, MalformedListsAreErrors) {
  connected();
  for (const json& result : {json::object(), json{{"tools", 7}}, json(nullptr), json("x"),
                             json{{"tools", json::array()}, {"nextCursor", 7}}}) {
    pages([result](const std::string&) { return result; });
    const auto page = list();
    ASSERT_FALSE(page) << result;
    EXPECT_EQ(page.error().code, Errc::invalid_input);
  }
  server.on("tools/list", [](HttpExchange& exchange, json message) {
    return send_error(exchange, message, 200, -32603, "Internal error");
  });
  EXPECT_THAT(list().error().message, HasSubstr("Internal error (-32603)"));
}

TEST_F(LimitsTest, AServerThatDoesNotKnowTheMethodHasNoTools) {
  server.on("tools/list", [](HttpExchange& exchange, json message) {
    return send_error(exchange, message, 404, -32601, "Method not found");
  });
  connected();
  EXPECT_TRUE(names().empty());
}

TEST_F(LimitsTest, ABodyOfMoreThan4MiBIsRefused) {
  connected();
  server.on("tools/call", [](HttpExchange& exchange, json message) {
    return send_result(exchange, message, test::said(std::string(4'194'304 - 200, 'x')));
  });
  EXPECT_TRUE(call("t"));
  server.on("tools/call", [](HttpExchange& exchange, json message) {
    return send_result(exchange, message, test::said(std::string(4'194'304, 'x')));
  });
  EXPECT_EQ(call("t").error().code, Errc::limit);
}

TEST_F(LimitsTest, AnEventOfMoreThan1MiBIsRefused) {
  connected();
  const auto stream_of = [this](std::size_t bytes) {
    server.on("tools/call", [bytes](HttpExchange& exchange, json message) -> Task<> {
      co_await exchange.begin("text/event-stream");
      co_await exchange.chunk(test::event(test::result_of(message, test::said(std::string(bytes, 'x')))));
      co_await exchange.end();
    });
  };
  stream_of(1'048'576 - 200);
  EXPECT_TRUE(call("t"));
  stream_of(1'048'576);
  EXPECT_EQ(call("t").error().code, Errc::limit);
}

TEST_F(LimitsTest, AnswersThatNestTooDeepAreRefused) {
  connected();
  server.on("tools/call", [](HttpExchange& exchange, json message) {
    return exchange.respond(200, "application/json",
                            R"({"jsonrpc":"2.0","id":)" + message["id"].dump() + R"(,"result":)" +
                                std::string(70, '[') + std::string(70, ']') + "}");
  });
  const auto result = call("t");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("nests deeper than 64 levels"));
}

TEST_F(LimitsTest, TheFifthRequestWaitsForItsTurn) {
  test::Gate gate(live.io.get_executor());
  server.on("tools/call", [&](HttpExchange& exchange, json message) -> Task<> {
    co_await gate.pass();
    co_await send_result(exchange, message, test::said("ok"));
  });
  connected();
  std::vector<decltype(start_call(""))> calls;
  for (int i = 0; i < 6; ++i) calls.push_back(start_call("t"));
  until_heard("tools/call", 4);
  quiet();
  EXPECT_EQ(server.count("tools/call"), 4U);
  const auto abandoned = start_cancellable(live.io, link().call_tool("never", json::object(), {}));
  quiet();
  abandoned->emit(asio::cancellation_type::terminal);
  gate.open();
  ASSERT_TRUE(live.until([&] { return std::ranges::all_of(calls, [](auto& one) { return one->done(); }); }));
  for (const auto& one : calls) EXPECT_EQ(text_of(*one->result), "ok");
  EXPECT_EQ(server.count("tools/call"), 6U);
}

TEST_F(LimitsTest, WaitingForATurnCountsToo) {
  server.on("tools/call", [](HttpExchange& exchange, json) { return exchange.until_closed(); });
  connected();
  RequestOptions slow;
  slow.timeout = slow.max_timeout = 1h;
  for (int i = 0; i < 4; ++i) start_call("t", slow);
  until_heard("tools/call", 4);
  const auto fifth = start_call("t");
  quiet();
  live.pass(10s);
  ASSERT_TRUE(live.until([&] { return fifth->done(); }));
  EXPECT_EQ(fifth->result->error().code, Errc::timeout);
}

TEST_F(LimitsTest, ProgressExtendsTheDeadlineUpToTheMaximum) {
  HttpExchange* open = nullptr;
  std::deque<std::string> waiting;
  AsyncEvent written(live.io.get_executor());
  server.on("tools/call", [&](HttpExchange& exchange, json) -> Task<> {
    co_await exchange.begin("text/event-stream");
    open = &exchange;
    while (true) {
      while (waiting.empty()) co_await written.wait();
      const auto text = std::exchange(waiting.front(), {});
      waiting.pop_front();
      co_await exchange.chunk(text);
    }
  });
  connected();
  std::vector<std::string> seen;
  RequestOptions options;
  options.timeout = 10s;
  options.max_timeout = 25s;
  options.on_progress = [&](double progress, const std::string& message) {
    seen.push_back(message + " " + std::to_string(static_cast<int>(progress)));
  };
  const auto result = start_call("t", options);
  ASSERT_TRUE(live.until([&] { return open != nullptr; }));
  const auto report = [&](json params) {
    const auto before = seen.size();
    waiting.push_back(test::event(test::notification("notifications/progress", std::move(params))));
    written.notify();
    EXPECT_TRUE(live.until([&] { return seen.size() > before; }));
  };
  live.pass(9s);
  report({{"progress", 1}, {"message", "a"}});
  live.pass(9s);
  EXPECT_FALSE(result->done());
  report({{"progress", "x"}, {"message", 5}});
  live.pass(6s);
  quiet();
  EXPECT_FALSE(result->done());
  live.pass(1s);
  ASSERT_TRUE(live.until([&] { return result->done(); }));
  EXPECT_EQ(result->result->error().code, Errc::timeout);
  EXPECT_THAT(result->result->error().message, HasSubstr("25000 ms"));
  EXPECT_THAT(seen, testing::ElementsAre("a 1", " 0"));
}

TEST_F(LimitsTest, ARequestMayTakeLongerThanTheLinkUsuallyAllows) {
  test::Gate gate(live.io.get_executor());
  server.on("tools/call", [&](HttpExchange& exchange, json message) -> Task<> {
    co_await gate.pass();
    co_await send_result(exchange, message, test::said("late"));
  });
  connected();
  RequestOptions options;
  options.timeout = options.max_timeout = 5min;
  const auto result = start_call("t", options);
  until_heard("tools/call");
  quiet();
  live.pass(4min);
  gate.open();
  ASSERT_TRUE(live.until([&] { return result->done(); }));
  EXPECT_EQ(text_of(*result->result), "late");
}

}  // namespace
}  // namespace parley::mcp
