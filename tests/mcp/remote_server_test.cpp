#include "parley/mcp/remote_server.hpp"

#include <atomic>
#include <thread>

#include "mcp/link_fixture.hpp"

namespace parley::mcp {
namespace {

struct RemoteServerTest : testing::Test {
  test::Live live;
  std::unique_ptr<test::McpServer> server = std::make_unique<test::McpServer>(live.io);
  config::McpServer settings;
  std::vector<std::string> offered{"lamp", "door"};
  std::shared_ptr<RemoteServer> made;
  std::vector<int> stormy;
  AsyncEvent gust{live.io.get_executor()};

  RemoteServerTest() {
    settings.url = server->url();
    settings.allow_private_network = true;
    server->speak_modern();
    server->on("tools/list", [this](HttpExchange& exchange, json message) {
      json tools = json::array();
      for (const auto& name : offered) tools.push_back(test::tool(name));
      return send_result(exchange, message, {{"tools", tools}});
    });
    server->answer("tools/call", test::said("done"));
  }
  ~RemoteServerTest() override {
    if (made) stop();
  }
  RemoteServerTest(const RemoteServerTest&) = delete;
  RemoteServerTest& operator=(const RemoteServerTest&) = delete;
  RemoteServerTest(RemoteServerTest&&) = delete;
  RemoteServerTest& operator=(RemoteServerTest&&) = delete;

  RemoteServer& remote() {
    if (!made) {
      made = std::make_shared<RemoteServer>(live.io.get_executor(), live.scheduler, "home", settings, nullptr,
                                            nullptr);
      made->start();
    }
    return *made;
  }
  bool stop() {
    bool done = false;
    made->stop([&] { done = true; });
    return live.until([&] { return done; });
  }
  std::vector<std::string> names() {
    std::vector<std::string> out;
    const auto tools = remote().tools();
    for (const auto& tool : *tools) out.push_back(tool.name);
    return out;
  }
  bool until_tools(std::size_t count) {
    remote();
    return live.until([&] { return made->tools()->size() == count; });
  }
  /// Lets sleeps of the server end, whatever their jitter, and gives sockets their turn.
  void pass(Duration span) {
    quiet();
    live.pass(span);
    quiet();
  }
  /// Second by second, with a moment for the sockets after each.
  void pass_slowly(int seconds) {
    for (int second = 0; second < seconds; ++second) {
      live.pass(1s);
      live.io.restart();
      while (live.io.run_one_for(5ms) > 0) {
      }
    }
  }
  void quiet() { test::run_until_quiet(live.io); }
  std::unique_ptr<CallStream> begin(const std::string& tool, Millis timeout = 30s) {
    return remote().for_session(live.io.get_executor(), nullptr)->call(tool, json::object(), timeout);
  }
  engine::ToolResult result_of(CallStream& stream) {
    auto result = live.run(stream.next());
    EXPECT_TRUE(result && *result);
    return result && *result ? **result : engine::ToolResult{"nothing", true};
  }
};

TEST_F(RemoteServerTest, HasItsToolsOnceItIsConnected) {
  EXPECT_TRUE(remote().tools()->empty());
  ASSERT_TRUE(until_tools(2));
  EXPECT_THAT(names(), testing::ElementsAre("lamp", "door"));
  EXPECT_EQ(result_of(*begin("lamp")).text, "done");
}

TEST_F(RemoteServerTest, TheConfigurationSaysWhichToolsThereAre) {
  offered = {"lamp_on", "lamp_off", "lamp_explode", "door", "Lamp_on"};
  settings.allow = {"lamp_*", "d??r"};
  settings.deny = {"*explode"};
  settings.confirm = {"d[aeiou]*"};
  ASSERT_TRUE(until_tools(3));
  EXPECT_THAT(names(), testing::ElementsAre("lamp_on", "lamp_off", "door"));
  EXPECT_FALSE(remote().tools()->at(0).confirm);
  EXPECT_TRUE(remote().tools()->at(2).confirm);
  settings.allow.clear();
  EXPECT_TRUE(admitted({Tool{}}, settings).empty());
}

TEST_F(RemoteServerTest, DevicesAreChosenByTheirIds) {
  EXPECT_TRUE(remote().serves("aa:bb:cc:dd:ee:ff"));
  settings.devices = {"aa:*", "kitchen"};
  const RemoteServer some(live.io.get_executor(), live.scheduler, "some", settings, nullptr, nullptr);
  EXPECT_TRUE(some.serves("aa:bb:cc:dd:ee:ff"));
  EXPECT_TRUE(some.serves("kitchen"));
  EXPECT_FALSE(some.serves("kitchen2"));
  EXPECT_FALSE(some.serves("ab:aa:"));
}

TEST_F(RemoteServerTest, SettingsReachTheLink) {
  settings.headers = {{"X-Key", "v"}};
  settings.timeout = 5min;
  settings.connect_timeout = 3s;
  for (const auto& [name, era] : {std::pair("auto", Era::automatic),
                                  {"modern", Era::modern},
                                  {"legacy", Era::legacy},
                                  {"sse", Era::sse}}) {
    settings.era = name;
    EXPECT_EQ(link_settings(settings).era, era);
  }
  const auto link = link_settings(settings);
  EXPECT_EQ(link.url, settings.url);
  EXPECT_EQ(link.headers.at(0).name, "X-Key");
  EXPECT_EQ(link.timeout, 5min);
  EXPECT_GE(link.max_timeout, link.timeout);
  EXPECT_EQ(link.connect_timeout, 3s);
  EXPECT_TRUE(link.allow_private_network);
}

TEST_F(RemoteServerTest, ConnectsAgainMoreAndMoreSeldom) {
  server->on("server/discover", [](HttpExchange& exchange, json) { return test::send_page(exchange, 503); });
  remote();
  std::vector<std::size_t> tries;
  for (int minute = 0; minute < 4; ++minute) {
    const auto before = server->count("server/discover");
    pass_slowly(60);
    tries.push_back(server->count("server/discover") - before);
  }
  EXPECT_GE(tries.front(), 4U);
  EXPECT_LE(tries.front(), 8U);
  EXPECT_LE(tries.back(), 2U);
  EXPECT_GE(tries[2] + tries[3], 1U);
  server->speak_modern();
  pass(90s);
  EXPECT_TRUE(until_tools(2));
}

TEST_F(RemoteServerTest, AServerThatSaysHelloButListsNothingIsNotBesieged) {
  server->on("tools/list", [](HttpExchange& exchange, json) { return test::send_page(exchange, 500); });
  remote();
  pass_slowly(60);
  EXPECT_LE(server->count("server/discover"), 9U);
}

TEST_F(RemoteServerTest, ToolsVanishWhenItIsLostAndComeBack) {
  ASSERT_TRUE(until_tools(2));
  auto list = [](HttpExchange& exchange, json message) {
    return send_result(exchange, message, {{"tools", {test::tool("lamp")}}});
  };
  for (const char* what : {"server/discover", "tools/list", "tools/call"})
    server->on(what, [](HttpExchange& exchange, json) { return test::send_page(exchange, 503); });
  const auto failed = result_of(*begin("lamp"));
  EXPECT_TRUE(failed.failed);
  EXPECT_THAT(failed.text, HasSubstr("503"));
  pass(1s);  // no sooner than a second after the last list
  EXPECT_TRUE(until_tools(0));
  EXPECT_TRUE(result_of(*begin("lamp")).failed) << "at once: nobody waits for it";
  server->speak_modern();
  server->on("tools/list", list);
  server->answer("tools/call", test::said("back"));
  pass(5s);
  ASSERT_TRUE(until_tools(1));
  EXPECT_EQ(result_of(*begin("lamp")).text, "back");
}

TEST_F(RemoteServerTest, AFailedToolIsNoReasonToDoubtTheServer) {
  ASSERT_TRUE(until_tools(2));
  server->on("tools/call", [](HttpExchange& exchange, json message) {
    return send_error(exchange, std::move(message), 200, -32602, "bad arguments");
  });
  const auto failed = result_of(*begin("lamp"));
  EXPECT_TRUE(failed.failed);
  EXPECT_EQ(failed.text, "bad arguments (-32602)");
  const auto lists = server->count("tools/list");
  pass(5s);
  EXPECT_EQ(server->count("tools/list"), lists);
}

TEST_F(RemoteServerTest, AnEqualListStaysTheSameObject) {
  ASSERT_TRUE(until_tools(2));
  const auto before = remote().tools();
  pass(10min);
  ASSERT_TRUE(live.until([&] { return server->count("tools/list") >= 2; }));
  quiet();
  EXPECT_EQ(remote().tools(), before);
  offered.push_back("new");
  pass(10min);
  EXPECT_TRUE(until_tools(3));
  EXPECT_NE(remote().tools(), before);
}

TEST_F(RemoteServerTest, AListIsKeptAsLongAsTheServerSaysWithinReason) {
  server->on("tools/list", [](HttpExchange& exchange, json message) {
    return send_result(exchange, message, {{"tools", {test::tool("a")}}, {"ttlMs", 1}});
  });
  ASSERT_TRUE(until_tools(1));
  pass(9s);
  EXPECT_EQ(server->count("tools/list"), 1U);
  pass(1s);
  EXPECT_TRUE(live.until([&] { return server->count("tools/list") == 2; }));
}

TEST_F(RemoteServerTest, StormsOfChangesAreOneListASecond) {
  HttpExchange* stream = nullptr;
  server->on("subscriptions/listen", [&](HttpExchange& exchange, json) -> Task<> {
    co_await exchange.begin("text/event-stream");
    stream = &exchange;
    std::string storm;
    for (int i = 0; i < 1000; ++i)
      storm += test::event(test::notification("notifications/tools/list_changed"));
    while (true) {
      if (!stormy.empty()) {
        stormy.pop_back();
        co_await exchange.chunk(storm);
      } else {
        co_await gust.wait();
      }
    }
  });
  ASSERT_TRUE(until_tools(2));
  ASSERT_TRUE(live.until([&] { return stream != nullptr; }));
  offered.push_back("new");
  stormy = {1, 1, 1};
  gust.notify();
  quiet();
  const auto lists = server->count("tools/list");
  pass(1s);
  EXPECT_TRUE(until_tools(3));
  quiet();
  EXPECT_LE(server->count("tools/list"), lists + 1);
}

TEST_F(RemoteServerTest, AStreamThatAlwaysEndsIsOpenedMoreAndMoreSeldom) {
  server->on("subscriptions/listen", [](HttpExchange& exchange, json) -> Task<> {
    co_await exchange.begin("text/event-stream");
    co_await exchange.end();
  });
  ASSERT_TRUE(until_tools(2));
  pass_slowly(120);
  EXPECT_GE(server->count("subscriptions/listen"), 3U);
  EXPECT_LE(server->count("subscriptions/listen"), 9U);
}

TEST_F(RemoteServerTest, CallsOfOtherThreadsEndThere) {
  ASSERT_TRUE(until_tools(2));
  asio::io_context other;
  const auto view = remote().for_session(other.get_executor(), nullptr);
  const auto call = view->call("lamp", {{"on", true}}, 30s);
  std::optional<std::thread::id> where;
  std::string text;
  asio::co_spawn(
      other,
      [](CallStream& stream, std::string& into) -> Task<> {
        auto result = co_await stream.next();
        if (result && *result) into = (*result)->text;
        result = co_await stream.next();
        EXPECT_TRUE(result && !*result) << "one result";
      }(*call, text),
      [&](const std::exception_ptr&) { where = std::this_thread::get_id(); });
  std::atomic<bool> over = false;
  std::thread session([&] {
    other.run_for(20s);
    over = true;
  });
  const auto id = session.get_id();
  EXPECT_TRUE(live.until([&] { return over.load(); }));
  session.join();
  EXPECT_EQ(where, id);
  EXPECT_EQ(text, "done");
  EXPECT_EQ(server->heard("tools/call").at(0).message["params"]["arguments"]["on"], true);
}

TEST_F(RemoteServerTest, ACallAbandonedBeforeItRunsIsNotMade) {
  ASSERT_TRUE(until_tools(2));
  quiet();
  begin("lamp").reset();
  quiet();
  EXPECT_EQ(server->count("tools/call"), 0U);
}

TEST_F(RemoteServerTest, ACallAbandonedWhileItRunsIsCancelled) {
  server->on("tools/call", [](HttpExchange& exchange, json) { return exchange.until_closed(); });
  ASSERT_TRUE(until_tools(2));
  auto call = begin("lamp");
  ASSERT_TRUE(live.until([&] { return server->count("tools/call") == 1; }));
  const auto closed = server->http().closed();
  call.reset();
  EXPECT_TRUE(live.until([&] { return server->http().closed() > closed; }));
}

TEST_F(RemoteServerTest, ACallAbandonedAfterItRanIsNothing) {
  ASSERT_TRUE(until_tools(2));
  auto call = begin("lamp");
  ASSERT_TRUE(live.until([&] { return server->count("tools/call") == 1; }));
  quiet();
  call.reset();
  quiet();
  EXPECT_EQ(result_of(*begin("lamp")).text, "done");
}

TEST_F(RemoteServerTest, AServerThatGoesInTheMiddleOfACall) {
  server->on("tools/call", [](HttpExchange& exchange, json) -> Task<> {
    exchange.close();
    co_return;
  });
  ASSERT_TRUE(until_tools(2));
  const auto result = result_of(*begin("lamp"));
  EXPECT_TRUE(result.failed);
  EXPECT_THAT(result.text, HasSubstr("broke"));
  EXPECT_EQ(server->count("tools/call"), 1U) << "it may have been carried out";
}

TEST_F(RemoteServerTest, IdempotentToolsAreAskedAgain) {
  server->on("tools/list", [](HttpExchange& exchange, json message) {
    auto tool = test::tool("read");
    tool["annotations"] = {{"readOnlyHint", true}};
    return send_result(exchange, message, {{"tools", {tool}}});
  });
  int calls = 0;
  server->on("tools/call", [&](HttpExchange& exchange, json message) -> Task<> {
    if (++calls == 1) {
      exchange.close();
      co_return;
    }
    co_await send_result(exchange, message, test::said("read"));
  });
  ASSERT_TRUE(until_tools(1));
  EXPECT_EQ(result_of(*begin("read")).text, "read");
}

TEST_F(RemoteServerTest, ACallHasOneDeadlineWhateverItTakes) {
  server->on("tools/call", [](HttpExchange& exchange, json message) {
    return send_error(exchange, std::move(message), 400, -32020, "Header mismatch");
  });
  ASSERT_TRUE(until_tools(2));
  server->on("tools/list", [](HttpExchange& exchange, json) { return exchange.until_closed(); });
  const auto call = begin("lamp", 7s);
  ASSERT_TRUE(live.until([&] { return server->count("tools/list") == 2; }));
  const auto result = live.start(call->next());
  pass(7s);
  ASSERT_TRUE(live.until([&] { return result->done(); }));
  EXPECT_THAT((**result->result)->text, HasSubstr("did not answer within 7000 ms"));
}

TEST_F(RemoteServerTest, StopsWhileItConnects) {
  server->on("server/discover", [](HttpExchange& exchange, json) { return exchange.until_closed(); });
  remote();
  ASSERT_TRUE(live.until([&] { return server->count("server/discover") == 1; }));
  EXPECT_TRUE(stop());
  EXPECT_TRUE(live.until([&] { return server->http().closed() == 1; }));
  const std::weak_ptr<RemoteServer> gone = made;
  made.reset();
  quiet();
  EXPECT_TRUE(gone.expired());
}

TEST_F(RemoteServerTest, StopsWhileItWaits) {
  server->on("server/discover", [](HttpExchange& exchange, json) { return test::send_page(exchange, 503); });
  remote();
  ASSERT_TRUE(live.until([&] { return live.scheduler->armed() == 1; }));
  EXPECT_TRUE(stop());
  const std::weak_ptr<RemoteServer> gone = made;
  made.reset();
  quiet();
  EXPECT_TRUE(gone.expired());
}

TEST_F(RemoteServerTest, SaysGoodbyeToASession) {
  server->speak_legacy();
  ASSERT_TRUE(until_tools(2));
  EXPECT_TRUE(stop());
  EXPECT_EQ(server->count("DELETE"), 1U);
  EXPECT_TRUE(remote().tools()->empty());
  EXPECT_TRUE(result_of(*begin("lamp")).failed);
}

TEST(RemoteServers, LiveOnAThreadOfTheirOwn) {
  test::Live live;
  test::McpServer server(live.io);
  server.speak_modern();
  server.answer("tools/list", {{"tools", {test::tool("lamp")}}});
  server.answer("tools/call", test::said("done"));
  config::McpServers settings;
  settings["home"].url = server.url();
  settings["home"].allow_private_network = true;
  settings["office"].url = server.url();
  settings["office"].devices = {"office-*"};
  auto servers = std::make_shared<RemoteServers>(settings, nullptr, nullptr);
  auto views = servers->for_session("kitchen", live.io.get_executor());
  ASSERT_EQ(views.size(), 1U);
  EXPECT_EQ(views[0]->key(), "home");
  EXPECT_EQ(servers->for_session("office-7", live.io.get_executor()).size(), 2U);
  ASSERT_TRUE(live.until([&] { return views[0]->tools()->size() == 1; }));
  auto call = views[0]->call("lamp", json::object(), 10s);
  servers.reset();
  views.clear();
  const auto result = live.run(call->next());
  EXPECT_EQ((*result)->text, "done") << "a call keeps alive what it needs";
  call.reset();
}

}  // namespace
}  // namespace parley::mcp
