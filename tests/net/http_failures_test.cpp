#include <gtest/gtest.h>

#include <boost/asio/steady_timer.hpp>

#include "net/http_client_fixture.hpp"

namespace parley::net {
namespace {

TEST_F(HttpClientTest, TimesOutWhereNobodyAnswers) {
  HttpServer server(io, [](HttpExchange& exchange) { return exchange.until_closed(); });
  auto request = get(server.url());
  request.deadlines = {1h, 7s, 1h, 1h};
  const auto began = scheduler->now();
  const auto answer = ask_and_wait(
      request, [&] { return !server.asked().empty(); }, 7s);
  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->code, Errc::timeout);
  EXPECT_TRUE(answer.error->retryable);
  EXPECT_NE(answer.error->message.find("did not begin to answer within 7000 ms"), std::string::npos);
  EXPECT_EQ(scheduler->now() - began, 7s);
  EXPECT_TRUE(run_until(io, [&] { return server.closed() == 1; })) << "and the request is closed";
}

TEST_F(HttpClientTest, TimesOutInTheMiddle) {
  bool written = false;
  HttpServer server(io, [&](HttpExchange& exchange) -> Task<> {
    co_await exchange.begin("text/plain");
    co_await exchange.chunk("half");
    written = true;
    co_await exchange.until_closed();
  });
  auto request = get(server.url());
  request.deadlines = {1h, 1h, 3s, 1h};
  std::optional<Answer> answer;
  std::string got;
  const auto work = [&]() -> Task<Answer> {
    auto response = co_await client.send(request);
    auto first = co_await (*response)->next();
    got = (**first).bytes;
    auto second = co_await (*response)->next();
    Answer end;
    if (!second) end.error = second.error();
    co_return end;
  };
  asio::co_spawn(io, work(), [&](std::exception_ptr, Answer end) { answer = std::move(end); });
  ASSERT_TRUE(run_until(io, [&] { return written && got == "half"; }));
  const auto began = scheduler->now();
  while (!answer && scheduler->fire_next(began + 3s)) {
    while (io.poll() > 0) {
    }
  }
  ASSERT_TRUE(answer && answer->error);
  EXPECT_EQ(answer->error->code, Errc::timeout);
  EXPECT_NE(answer->error->message.find("in the middle"), std::string::npos);
}

TEST_F(HttpClientTest, TimesOutInTotalHoweverOftenATrickleComes) {
  asio::steady_timer tick(io);
  HttpServer server(io, [&](HttpExchange& exchange) -> Task<> {
    co_await exchange.begin("text/plain");
    while (true) {
      co_await exchange.chunk("x");
      tick.expires_after(1ms);
      co_await tick.async_wait(asio::use_awaitable);
    }
  });
  auto request = get(server.url());
  request.deadlines = {10s, 10s, 2s, 5s};
  std::optional<Answer> answer;
  asio::co_spawn(io, read(client, request), [&](std::exception_ptr, Answer got) { answer = std::move(got); });
  ASSERT_TRUE(run_until(io, [&] {
    // Each second of the clock lets more bytes in than one, so that idle is never reached.
    if (!server.asked().empty()) scheduler->fire_next(scheduler->now() + 1ms);
    return answer.has_value();
  }));
  ASSERT_TRUE(answer->error);
  EXPECT_EQ(answer->error->code, Errc::timeout);
  EXPECT_NE(answer->error->message.find("did not complete"), std::string::npos);
}

TEST_F(HttpClientTest, TellsABodyThatWasCutOff) {
  HttpServer server(io, [](HttpExchange& exchange) -> Task<> {
    if (exchange.asked.target == "/length") {
      co_await exchange.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    } else {
      co_await exchange.begin("text/plain");
      co_await exchange.chunk("half");
    }
    exchange.close();
  });
  for (const auto* path : {"/length", "/chunks"}) {
    const auto answer = ask(get(server.url() + path));
    EXPECT_EQ(answer.body, "half") << path;
    ASSERT_TRUE(answer.error) << path;
    EXPECT_EQ(answer.error->code, Errc::closed) << answer.error->message;
    EXPECT_TRUE(answer.error->retryable);
  }
}

TEST_F(HttpClientTest, LimitsTheBodyAndTheHeaders) {
  HttpServer server(io, [](HttpExchange& exchange) -> Task<> {
    if (exchange.asked.target == "/body") {
      co_await exchange.respond(200, "text/plain", std::string(std::size_t{10} * 1024 * 1024, 'x'));
    } else {
      std::string head = "HTTP/1.1 200 OK\r\n";
      for (int i = 0; i < 2000; ++i)
        head += "X-Header-" + std::to_string(i) + ": " + std::string(50, 'x') + "\r\n";
      co_await exchange.write(head + "\r\n");
    }
  });
  auto request = get(server.url() + "/body");
  request.max_response = 1'000'000;
  const auto body = ask(request);
  ASSERT_TRUE(body.error);
  EXPECT_EQ(body.error->code, Errc::limit);
  EXPECT_LE(body.body.size(), 1'000'000U);
  const auto head = ask(get(server.url() + "/head"));
  ASSERT_TRUE(head.error);
  EXPECT_EQ(head.error->code, Errc::limit);
}

TEST_F(HttpClientTest, MakesTheServerWaitForASlowReader) {
  constexpr std::size_t kMegabytes = 64;
  std::size_t written = 0;
  HttpServer server(io, [&](HttpExchange& exchange) -> Task<> {
    co_await exchange.begin("text/plain");
    for (std::size_t i = 0; i < kMegabytes; ++i) {
      co_await exchange.chunk(std::string(std::size_t{1024} * 1024, 'x'));
      ++written;
    }
    co_await exchange.end();
  });
  auto request = get(server.url());
  request.max_response = 2 * kMegabytes * 1024 * 1024;
  request.deadlines = {1s, 1s, 2s, 4s};
  std::unique_ptr<HttpResponse> response;
  const auto open = [&]() -> Task<bool> {
    auto opened = co_await client.send(request);
    response = std::move(*opened);
    co_return true;
  };
  ASSERT_TRUE(run_on(io, open()));
  test::run_until_quiet(io);
  EXPECT_LT(written, kMegabytes / 2) << "what the sockets between take, and no more";
  while (scheduler->fire_next(scheduler->now() + 60s)) {
  }
  const auto rest = [&]() -> Task<std::size_t> {
    std::size_t bytes = 0;
    while (true) {
      auto chunk = co_await response->next();
      if (!chunk) ADD_FAILURE() << chunk.error().message;
      if (!chunk || !*chunk) co_return bytes;
      EXPECT_LE((*chunk)->bytes.size(), 512U * 1024);
      bytes += (*chunk)->bytes.size();
    }
  };
  EXPECT_EQ(run_on(io, rest()), kMegabytes * 1024 * 1024)
      << "no deadline counts while the reader holds it up";
}

TEST_F(HttpClientTest, SaysWhyThereIsNoConnection) {
  const auto refused = ask(get("http://127.0.0.1:1/x?key=secret"));
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->code, Errc::unavailable);
  EXPECT_TRUE(refused.error->retryable);
  EXPECT_NE(refused.error->message.find("http://127.0.0.1:1"), std::string::npos);
  EXPECT_EQ(refused.error->message.find("secret"), std::string::npos);
}

TEST_F(HttpClientTest, RefusesWhatIsNoHttp) {
  HttpServer server(io, [](HttpExchange& exchange) -> Task<> {
    if (exchange.asked.target != "/nothing") co_await exchange.write("220 smtp.example ESMTP\r\n\r\n");
    exchange.close();
  });
  const auto garbage = ask(get(server.url() + "/garbage"));
  ASSERT_TRUE(garbage.error);
  EXPECT_EQ(garbage.error->code, Errc::invalid_input) << garbage.error->message;
  const auto nothing = ask(get(server.url() + "/nothing"));
  ASSERT_TRUE(nothing.error);
  EXPECT_EQ(nothing.error->code, Errc::closed) << nothing.error->message;
}

TEST_F(HttpClientTest, RefusesBadAddressesAndHeaders) {
  for (const auto* url : {"", "nonsense", "ftp://host/x", "file:///etc/passwd", "http://user:secret@host/",
                          "http://", "http://ho st/"}) {
    const auto answer = ask(get(url));
    ASSERT_TRUE(answer.error) << url;
    EXPECT_EQ(answer.error->code, Errc::configuration) << url;
    EXPECT_EQ(answer.error->message.find("secret"), std::string::npos);
  }
  for (const auto& header : std::vector<HttpHeader>{{"", "x"},
                                                    {"A B", "x"},
                                                    {"A:", "x"},
                                                    {"A", "x\r\nB: y"},
                                                    {"A", "x\ny"},
                                                    {"A", std::string("x\0y", 3)}}) {
    auto request = get("http://127.0.0.1:1/");
    request.headers = {header};
    const auto answer = ask(request);
    ASSERT_TRUE(answer.error);
    EXPECT_EQ(answer.error->code, Errc::invalid_input) << header.name;
  }
}

TEST_F(HttpClientTest, SendsAgainWhatIsLostWithAKeptConnectionUnlessItIsToBeSentOnce) {
  for (const bool once : {false, true}) {
    int asked = 0;
    HttpServer server(io, [&](HttpExchange& exchange) -> Task<> {
      ++asked;
      if (asked == 2) {
        exchange.close();
      } else {
        co_await exchange.respond(200, "text/plain", exchange.asked.body);
      }
    });
    HttpClient fresh{io.get_executor(), scheduler};
    auto request = get(server.url());
    request.method = "POST";
    request.body = "the order";
    request.once = once;
    EXPECT_EQ(run_on(io, read(fresh, request)).body, "the order");
    const auto second = run_on(io, read(fresh, request));
    EXPECT_EQ(asked, once ? 2 : 3);
    EXPECT_EQ(second.body, once ? "" : "the order");
    ASSERT_EQ(second.error.has_value(), once);
    if (once) {
      EXPECT_EQ(second.error->code, Errc::closed);
      EXPECT_TRUE(second.error->retryable);
    }
    EXPECT_EQ(run_on(io, read(fresh, request)).body, "the order") << "and the client goes on";
  }
}

}  // namespace
}  // namespace parley::net
