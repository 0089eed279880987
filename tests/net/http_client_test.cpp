#include "parley/net/http_client.hpp"

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>

#include "net/http_client_fixture.hpp"

namespace parley::net {
namespace {

TEST_F(HttpClientTest, SendsAndStreams) {
  HttpServer server(io, [](HttpExchange& exchange) -> Task<> {
    co_await exchange.begin("text/plain");
    for (const auto* piece : {"one ", "two ", "three"}) co_await exchange.chunk(piece);
    co_await exchange.end();
  });
  HttpRequest request;
  request.method = "POST";
  request.url = server.url() + "/path?q=1";
  request.headers = {{"X-One", "1"}, {"Content-Type", "application/json"}, {"X-Empty", ""}};
  request.body = std::string(100'000, 'b');
  const auto answer = ask(request);
  EXPECT_FALSE(answer.error);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.type, "text/plain");
  EXPECT_EQ(answer.body, "one two three");
  ASSERT_EQ(server.asked().size(), 1U);
  const auto& asked = server.asked()[0];
  EXPECT_EQ(asked.method, "POST");
  EXPECT_EQ(asked.target, "/path?q=1");
  EXPECT_EQ(asked.headers.at("x-one"), "1");
  EXPECT_EQ(asked.headers.at("x-empty"), "");
  EXPECT_EQ(asked.headers.at("content-type"), "application/json");
  EXPECT_EQ(asked.headers.count("expect"), 0U);
  EXPECT_EQ(asked.body, request.body);
}

TEST_F(HttpClientTest, GivesEachPieceWhenItIsThere) {
  asio::steady_timer more(io, asio::steady_timer::time_point::max());
  HttpServer server(io, [&](HttpExchange& exchange) -> Task<> {
    co_await exchange.begin("text/plain");
    co_await exchange.chunk("first");
    boost::system::error_code ignored;
    co_await more.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    co_await exchange.chunk("second");
    co_await exchange.end();
  });
  const auto work = [&]() -> Task<bool> {
    auto response = co_await client.send(get(server.url()));
    EXPECT_TRUE(response);
    auto first = co_await (*response)->next();
    EXPECT_EQ((**first).bytes, "first");
    EXPECT_EQ((**first).arrived, scheduler->now());
    more.cancel();
    auto second = co_await (*response)->next();
    EXPECT_EQ((**second).bytes, "second");
    auto end = co_await (*response)->next();
    EXPECT_TRUE(end && !*end);
    co_return true;
  };
  EXPECT_TRUE(run_on(io, work()));
}

TEST_F(HttpClientTest, KeepsConnections) {
  HttpServer server(io, [](HttpExchange& exchange) { return exchange.respond(200, "text/plain", "x"); });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask(get(server.url())).body, "x");
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(HttpClientTest, AsksAgainWhereAKeptConnectionWasClosedMeanwhile) {
  HttpServer server(io, [](HttpExchange& exchange) -> Task<> {
    co_await exchange.respond(200, "text/plain", "x");
    exchange.close();
  });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(get(server.url())).body, "x");
  EXPECT_EQ(server.connections(), 3);
}

TEST_F(HttpClientTest, ConnectsAhead) {
  HttpServer server(io, [](HttpExchange& exchange) -> Task<> {
    if (exchange.asked.method == "HEAD") {
      co_await exchange.write("HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\n");
    } else {
      co_await exchange.respond(200, "text/plain", "x");
    }
  });
  client.connect_ahead(server.url() + "/v1/chat", 5s);
  client.connect_ahead(server.url() + "/v1", 5s);
  ASSERT_TRUE(run_until(io, [&] { return server.asked().size() == 1; }));
  // Its answer has to be on its way back before the request finds the connection idle.
  test::run_until_quiet(io);
  EXPECT_EQ(ask(get(server.url())).body, "x");
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(server.asked().size(), 2U) << "one that is being opened is enough";
  client.connect_ahead(server.url(), 5s);
  test::run_until_quiet(io);
  EXPECT_EQ(server.asked().size(), 2U) << "it was used a moment ago";
  client.connect_ahead("nonsense", 5s);
  client.connect_ahead("http://127.0.0.1:1/", 5s);
}

TEST_F(HttpClientTest, TellsStatusesAndDoesNotFollowRedirects) {
  HttpServer server(io, [](HttpExchange& exchange) {
    return exchange.respond(302, "text/plain", "moved", "Location: http://127.0.0.1:1/secret\r\n");
  });
  auto request = get(server.url());
  request.headers = {{"Authorization", "Bearer secret"}};
  const auto answer = ask(request);
  EXPECT_FALSE(answer.error);
  EXPECT_EQ(answer.status, 302);
  EXPECT_EQ(answer.body, "moved");
}

TEST_F(HttpClientTest, TakesInformationalAnswersForWhatTheyAre) {
  HttpServer server(io, [](HttpExchange& exchange) {
    return exchange.write(
        "HTTP/1.1 100 Continue\r\nX-A: 1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  });
  const auto answer = ask(get(server.url()));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "hi");
}

TEST_F(HttpClientTest, ClosesAtOnceWhenTheResponseIsDestroyed) {
  HttpServer server(io, [](HttpExchange& exchange) -> Task<> {
    co_await exchange.begin("text/plain");
    co_await exchange.chunk("x");
    co_await exchange.until_closed();
  });
  const auto work = [&]() -> Task<bool> {
    auto response = co_await client.send(get(server.url()));
    co_await (*response)->next();
    co_return true;
  };
  run_on(io, work());
  EXPECT_TRUE(run_until(io, [&] { return server.closed() == 1; }));
}

TEST_F(HttpClientTest, ClosesAtOnceWhenTheTaskIsCancelled) {
  bool written = false;
  HttpServer server(io, [&](HttpExchange& exchange) -> Task<> {
    if (exchange.asked.target == "/body") {
      co_await exchange.begin("text/plain");
      written = true;
    }
    co_await exchange.until_closed();
  });
  int closed = 0;
  for (const auto* path : {"/head", "/body"}) {
    const auto before = server.asked().size();
    asio::cancellation_signal stop;
    bool ended = false;
    asio::co_spawn(io, read(client, get(server.url() + path)),
                   asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr thrown, const Answer&) {
                     ended = true;
                     EXPECT_TRUE(thrown);
                   }));
    ASSERT_TRUE(run_until(io, [&] {
      return server.asked().size() > before && (written || std::string_view(path) == "/head");
    }));
    stop.emit(asio::cancellation_type::terminal);
    EXPECT_TRUE(run_until(io, [&] { return ended; }));
    ++closed;
    EXPECT_TRUE(run_until(io, [&] { return server.closed() == closed; })) << path;
  }
}

TEST_F(HttpClientTest, KeepsTheConnectionWhoseRestIsDiscarded) {
  HttpServer server(io, [&](HttpExchange& exchange) -> Task<> {
    co_await exchange.begin("text/plain");
    co_await exchange.chunk("wanted");
    co_await exchange.chunk("unwanted");
    co_await exchange.end();
  });
  const auto work = [&]() -> Task<bool> {
    auto response = co_await client.send(get(server.url()));
    co_await (*response)->next();
    (*response)->discard_rest();
    co_return true;
  };
  run_on(io, work());
  test::run_until_quiet(io);
  EXPECT_EQ(ask(get(server.url())).body, "wantedunwanted");
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(HttpClientTest, DoesNotDiscardForEver) {
  HttpServer server(io, [&](HttpExchange& exchange) -> Task<> {
    co_await exchange.begin("text/plain");
    co_await exchange.chunk("wanted");
    co_await exchange.until_closed();
  });
  const auto work = [&]() -> Task<bool> {
    auto response = co_await client.send(get(server.url()));
    co_await (*response)->next();
    (*response)->discard_rest();
    co_return true;
  };
  run_on(io, work());
  scheduler->fire_next(scheduler->now() + 1s);
  EXPECT_TRUE(run_until(io, [&] { return server.closed() == 1; }));
}

TEST_F(HttpClientTest, ManyAtOnceDoNotMixUp) {
  HttpServer server(
      io, [](HttpExchange& exchange) { return exchange.respond(200, "text/plain", exchange.asked.target); });
  int right = 0;
  int ended = 0;
  for (int i = 0; i < 100; ++i) {
    const auto path = "/" + std::to_string(i);
    asio::co_spawn(io, read(client, get(server.url() + path)),
                   [&, path](std::exception_ptr, const Answer& answer) {
                     ++ended;
                     if (answer.body == path) ++right;
                   });
  }
  EXPECT_TRUE(run_until(io, [&] { return ended == 100; }));
  EXPECT_EQ(right, 100);
}

TEST(HttpClientLife, EndsWithTheContextOrBeforeIt) {
  // Declared before the context: what waits in the context refers to it.
  std::unique_ptr<HttpResponse> survivor;
  {
    asio::io_context io;
    HttpServer server(io, [](HttpExchange& exchange) -> Task<> {
      if (exchange.asked.target == "/open") co_await exchange.begin("text/plain");
      co_await exchange.until_closed();
    });
    auto& client = http_client(io.get_executor());
    EXPECT_EQ(&client, &http_client(io.get_executor())) << "one for a context";
    const auto open = [&]() -> Task<bool> {
      auto response = co_await client.send(get(server.url() + "/open"));
      survivor = std::move(*response);
      co_return true;
    };
    run_on(io, open());
    asio::co_spawn(io, read(client, get(server.url() + "/waiting")),
                   [](std::exception_ptr, const Answer&) {});
    ASSERT_TRUE(run_until(io, [&] { return server.asked().size() == 2; }));
    {
      auto own = std::make_unique<HttpClient>(io.get_executor(), make_asio_scheduler(io.get_executor()));
      std::optional<Answer> answer;
      asio::co_spawn(io, read(*own, get(server.url() + "/own")),
                     [&](std::exception_ptr, Answer got) { answer = std::move(got); });
      ASSERT_TRUE(run_until(io, [&] { return server.asked().size() == 3; }));
      own.reset();
      ASSERT_TRUE(run_until(io, [&] { return answer.has_value(); }));
      ASSERT_TRUE(answer->error);
      EXPECT_EQ(answer->error->code, Errc::closed);
    }
    survivor.reset();
  }
}

}  // namespace
}  // namespace parley::net
