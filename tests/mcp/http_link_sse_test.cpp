#include "mcp/link_fixture.hpp"

namespace parley::mcp {
namespace {

/// The deprecated transport: a stream, and an address to post to.
struct SseLinkTest : HttpLinkTest {
  /// What is to be written to the stream.
  std::deque<std::string> waiting;
  AsyncEvent written{live.io.get_executor()};
  bool cut = false;

  SseLinkTest() {
    settings.era = Era::sse;
    server.on("GET", [this](HttpExchange& exchange, json) { return stream(exchange); });
    accept("notifications/initialized");
    accept("notifications/cancelled");
    accept("reply");
    accept("tools/call");
    server.on("initialize", [this](HttpExchange& exchange, json message) {
      send(test::result_of(message,
                           {{"protocolVersion", "2024-11-05"}, {"serverInfo", {{"name", "oldest"}}}}));
      return exchange.respond(202, "text/plain", "Accepted");
    });
    write("event: endpoint\ndata: /messages?id=1\n\n");
  }
  void accept(const std::string& what) {
    server.on(what,
              [](HttpExchange& exchange, json) { return exchange.respond(202, "text/plain", "Accepted"); });
  }
  void write(std::string text) {
    waiting.push_back(std::move(text));
    written.notify();
  }
  void send(const json& message) { write("event: message\n" + test::event(message)); }
  void cut_stream() {
    cut = true;
    written.notify();
  }
  Task<> stream(HttpExchange& exchange) {
    co_await exchange.begin("text/event-stream");
    while (!cut || !waiting.empty()) {
      if (waiting.empty()) {
        co_await written.wait();
        continue;
      }
      auto text = std::move(waiting.front());
      waiting.pop_front();
      co_await exchange.chunk(text);
    }
    exchange.close();
  }
  /// Whether the client has closed it, which shows when something is written.
  bool stream_is_closed() {
    return live.until([&] {
      write(": there?\n\n");
      return server.http().closed() == 1;
    });
  }
  json asked(std::size_t which) { return server.heard("tools/call").at(which).message; }
};

TEST_F(SseLinkTest, PostsWhereTheServerSaysAndListensToTheStream) {
  const auto info = connected();
  EXPECT_EQ(info.era, Era::sse);
  EXPECT_EQ(info.protocol_version, "2024-11-05");
  EXPECT_EQ(info.name, "oldest");
  EXPECT_EQ(server.heard("initialize").at(0).http.target, "/messages?id=1");
  EXPECT_EQ(server.heard("GET").at(0).http.headers.at("accept"), "text/event-stream");
}

TEST_F(SseLinkTest, RepliesMayComeInAnyOrder) {
  connected();
  const auto a = start_call("a");
  until_heard("tools/call", 1);
  const auto b = start_call("b");
  until_heard("tools/call", 2);
  send({{"jsonrpc", "2.0"}, {"id", 999}, {"result", {}}});
  send({{"jsonrpc", "2.0"}, {"id", "1"}, {"result", {}}});
  send(test::result_of(asked(1), test::said("b")));
  send(test::result_of(asked(1), test::said("twice")));
  ASSERT_TRUE(live.until([&] { return b->done(); }));
  EXPECT_FALSE(a->done());
  send(test::error_of(asked(0), -32602, "no a"));
  ASSERT_TRUE(live.until([&] { return a->done(); }));
  EXPECT_EQ(text_of(*b->result), "b");
  EXPECT_EQ(text_of(*a->result), "no a (-32602)");
  EXPECT_EQ(server.count("notifications/cancelled"), 0U);
}

TEST_F(SseLinkTest, AnEndpointOfAnotherOriginIsRefused) {
  const test::McpServer other(live.io);
  for (const auto& endpoint :
       {other.url(), std::string("https://127.0.0.1/x"), std::string("//evil.example/x"), std::string(),
        std::string("http://user:pw@") + server.url().substr(7), std::string("file:///etc/passwd")}) {
    waiting = {"event: endpoint\ndata: " + endpoint + "\n\n"};
    const auto info = connect();
    ASSERT_FALSE(info) << endpoint;
    EXPECT_EQ(info.error().code, Errc::invalid_input) << endpoint;
  }
  EXPECT_TRUE(other.heard().empty());
  EXPECT_EQ(server.count("initialize"), 0U);
}

TEST_F(SseLinkTest, AnEndpointThatNeverComesIsATimeout) {
  waiting = {": hello\n\n", "event: message\ndata:\n\n"};
  const auto info = live.start(link().connect());
  until_heard("GET");
  quiet();
  live.pass(settings.connect_timeout + settings.timeout);
  ASSERT_TRUE(live.until([&] { return info->done(); }));
  EXPECT_EQ(info->result->error().code, Errc::timeout);
  EXPECT_TRUE(stream_is_closed());
}

TEST_F(SseLinkTest, AbandonedWhileItConnectsItClosesItsStream) {
  waiting.clear();
  const auto signal = start_cancellable(live.io, link().connect());
  until_heard("GET");
  quiet();
  signal->emit(asio::cancellation_type::terminal);
  EXPECT_TRUE(stream_is_closed());
}

TEST_F(SseLinkTest, ALostStreamEndsEverythingThatWaits) {
  connected();
  const auto listening = live.start(link().listen([] {}));
  const auto a = start_call("a");
  const auto b = start_call("b");
  until_heard("tools/call", 2);
  cut_stream();
  ASSERT_TRUE(live.until([&] { return a->done() && b->done() && listening->done(); }));
  EXPECT_EQ(a->result->error().code, Errc::closed);
  EXPECT_EQ(listening->result->error().code, Errc::closed);
  EXPECT_EQ(call("c").error().code, Errc::closed) << "and what comes later";
  quiet();
  EXPECT_EQ(server.count("notifications/cancelled"), 0U);
  EXPECT_EQ(server.count("tools/call"), 2U);
}

TEST_F(SseLinkTest, GarbageOnTheStreamEndsIt) {
  connected();
  const auto a = start_call("a");
  until_heard("tools/call");
  write("data: {nonsense\n\n");
  ASSERT_TRUE(live.until([&] { return a->done(); }));
  EXPECT_EQ(a->result->error().code, Errc::invalid_input);
}

TEST_F(SseLinkTest, ARefusedPostIsTheEndOfThatRequestOnly) {
  connected();
  server.on("tools/call", [](HttpExchange& exchange, json) { return test::send_page(exchange, 500); });
  EXPECT_EQ(call("a").error().code, Errc::unavailable);
  accept("tools/call");
  const auto b = start_call("b");
  until_heard("tools/call", 2);
  send(test::result_of(asked(1), test::said("b")));
  ASSERT_TRUE(live.until([&] { return b->done(); }));
  EXPECT_EQ(text_of(*b->result), "b");
}

TEST_F(SseLinkTest, TellsTheServerWhatNobodyWaitsForAnyMore) {
  connected();
  const auto signal = start_cancellable(live.io, link().call_tool("t", json::object(), {}));
  until_heard("tools/call");
  quiet();
  signal->emit(asio::cancellation_type::terminal);
  until_heard("notifications/cancelled");
  EXPECT_EQ(server.heard("notifications/cancelled").at(0).message["params"]["requestId"], asked(0)["id"]);
  EXPECT_EQ(server.heard("notifications/cancelled").at(0).http.target, "/messages?id=1");
}

TEST_F(SseLinkTest, HearsOfChangesAndAnswersRequests) {
  connected();
  int changes = 0;
  const auto listening = live.start(link().listen([&] { ++changes; }));
  quiet();
  send(test::notification("notifications/tools/list_changed"));
  send({{"jsonrpc", "2.0"}, {"id", 0}, {"method", "ping"}});
  until_heard("reply");
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(server.heard("reply").at(0).message["result"], json::object());
  EXPECT_FALSE(listening->done());
}

TEST_F(SseLinkTest, AnotherAnswerThanAStreamOrAVersionIsNoHello) {
  server.on("initialize", [this](HttpExchange& exchange, json message) {
    send(test::result_of(message, {{"protocolVersion", "1.0"}}));
    return exchange.respond(202, "text/plain", "");
  });
  EXPECT_EQ(connect().error().code, Errc::unsupported);
  server.on("GET", [](HttpExchange& exchange, json) { return exchange.respond(200, "text/plain", "hi"); });
  EXPECT_EQ(connect().error().code, Errc::unsupported);
}

TEST_F(SseLinkTest, IsFoundWhereNothingElseIsSpoken) {
  settings.era = Era::automatic;
  server.on("server/discover", [](HttpExchange& exchange, json) { return test::send_page(exchange, 405); });
  int hellos = 0;
  server.on("initialize", [&](HttpExchange& exchange, json message) {
    if (++hellos == 1) return test::send_page(exchange, 405);
    send(test::result_of(message, {{"protocolVersion", "2024-11-05"}}));
    return exchange.respond(202, "text/plain", "");
  });
  EXPECT_EQ(connected().era, Era::sse);
}

}  // namespace
}  // namespace parley::mcp
