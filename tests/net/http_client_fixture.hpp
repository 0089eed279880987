#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <chrono>

#include "fakes/http_server.hpp"
#include "fakes/world.hpp"
#include "parley/net/http_client.hpp"

namespace parley::net {

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

inline Task<Answer> read(HttpClient& client, HttpRequest request) {
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

inline HttpRequest get(const std::string& url) {
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

}  // namespace parley::net
