#include "parley/net/http_client.hpp"

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "fakes/http_server.hpp"
#include "fakes/world.hpp"

namespace parley::net {
namespace {

using namespace std::chrono_literals;
using test::HttpExchange;
using test::HttpServer;
using test::ManualScheduler;
using test::run_on;
using test::run_until;

struct Answer {
  int status = 0;
  std::string type;
  std::string body;
  std::optional<Error> error;
};

Task<Answer> read(HttpClient& client, HttpRequest request) {
  Answer answer;
  auto response = co_await client.send(std::move(request));
  if (!response) {
    answer.error = response.error();
    co_return answer;
  }
  answer.status = (*response)->status();
  answer.type = (*response)->header("content-TYPE");
  while (true) {
    auto chunk = co_await (*response)->next();
    if (!chunk) answer.error = chunk.error();
    if (!chunk || !*chunk) co_return answer;
    EXPECT_FALSE((*chunk)->bytes.empty());
    answer.body += (*chunk)->bytes;
  }
}

HttpRequest get(const std::string& url) {
  HttpRequest request;
  request.url = url;
  return request;
}

/// A client with the real sockets and a clock that stands still until a deadline is to pass.
struct HttpClientTest : testing::Test {
  asio::io_context io;
  std::shared_ptr<ManualScheduler> scheduler = std::make_shared<ManualScheduler>();
  HttpClient client{io.get_executor(), scheduler};

  Answer ask(HttpRequest request) { return run_on(io, read(client, std::move(request))); }

  /// Asks, waits until the server says so, and lets a deadline of at most `limit` pass.
  Answer ask_and_wait(HttpRequest request, const std::function<bool()>& ready, Duration limit) {
    std::optional<Answer> answer;
    asio::co_spawn(io, read(client, std::move(request)),
                   [&](std::exception_ptr, Answer got) { answer = std::move(got); });
    EXPECT_TRUE(run_until(io, ready));
    EXPECT_FALSE(answer);
    while (!answer && scheduler->fire_next(scheduler->now() + limit)) {
      while (io.poll() > 0) {
      }
    }
    return answer.value_or(Answer{});
  }
};

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
  while (io.run_one_for(50ms) > 0) {
  }
  EXPECT_EQ(ask(get(server.url())).body, "x");
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(server.asked().size(), 2U) << "one that is being opened is enough";
  client.connect_ahead(server.url(), 5s);
  while (io.run_one_for(50ms) > 0) {
  }
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

TEST_F(HttpClientTest, TimesOutWhereNobodyAnswers) {
  HttpServer server(io, [](HttpExchange& exchange) { return exchange.until_closed(); });
  auto request = get(server.url());
  request.deadlines.first_byte = 7s;
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
  request.deadlines = {1s, 1s, 3s, 60s};
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
  while (io.run_one_for(300ms) > 0) {
  }
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
  while (io.run_one_for(50ms) > 0) {
  }
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

TEST(RetryAfter, IsSecondsOrADate) {
  EXPECT_EQ(retry_after("3", 0), 3s);
  EXPECT_EQ(retry_after("0", 0), 0s);
  EXPECT_EQ(retry_after("-3", 0), 0s);
  EXPECT_EQ(retry_after("99999999999999999999999", 0), 24h);
  EXPECT_EQ(retry_after("100000000", 0), 24h);
  EXPECT_EQ(retry_after("Thu, 01 Jan 1970 00:00:10 GMT", 4), 6s);
  EXPECT_EQ(retry_after("Thu, 01 Jan 1970 00:00:10 GMT", 40), 0s);
  for (const auto* nonsense : {"", "soon", "3 days", "1.5"})
    EXPECT_EQ(retry_after(nonsense, 0), 0s) << nonsense;
}

TEST(UrlEscaped, LeavesOnlyWhatIsPlain) {
  EXPECT_EQ(url_escaped("aZ09-_.~"), "aZ09-_.~");
  EXPECT_EQ(url_escaped("a/b?c d\xC3\xA9"), "a%2Fb%3Fc%20d%C3%A9");
}

TEST(OriginOf, ShowsNoSecrets) {
  EXPECT_EQ(origin_of("https://host/a?b=c"), "https://host");
  EXPECT_EQ(origin_of("http://host:8080"), "http://host:8080");
  EXPECT_EQ(origin_of("http://[::1]:80/x"), "http://[::1]:80");
  EXPECT_FALSE(origin_of("http://me@host/"));
}

}  // namespace
}  // namespace parley::net
