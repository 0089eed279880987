#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "fakes/live.hpp"
#include "fakes/mcp_server.hpp"
#include "parley/mcp/http_link.hpp"

namespace parley::mcp {

using namespace std::chrono_literals;
using nlohmann::json;
using test::HttpExchange;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A link to a server that does what the test says; the clock stands still.
struct HttpLinkTest : testing::Test {
  test::Live live;
  test::McpServer server{live.io};
  HttpLinkSettings settings = [this] {
    HttpLinkSettings with;
    with.url = server.url();
    with.allow_private_network = true;
    return with;
  }();
  std::shared_ptr<Authorization> authorization;
  std::optional<HttpLink> made;

  HttpLink& link() {
    if (!made) made.emplace(live.io.get_executor(), live.scheduler, settings, authorization);
    return *made;
  }
  Result<ServerInfo> connect() { return live.run(link().connect()); }
  ServerInfo connected() {
    auto info = connect();
    EXPECT_TRUE(info) << info.error().message;
    return info ? *info : ServerInfo{};
  }
  Result<json> call(std::string tool, RequestOptions options = {}) {
    return live.run(link().call_tool(std::move(tool), json::object(), std::move(options)));
  }
  auto start_call(std::string tool, RequestOptions options = {}) {
    return live.start(link().call_tool(std::move(tool), json::object(), std::move(options)));
  }
  static std::string text_of(const Result<json>& result) {
    return result ? (*result)["content"][0]["text"].get<std::string>() : result.error().message;
  }
  /// Waits, by the real clock, until the server was asked so often.
  void until_heard(const std::string& what, std::size_t times = 1) {
    EXPECT_TRUE(live.until([&] { return server.count(what) >= times; }))
        << what << ": " << server.count(what);
  }
  /// Until the link sleeps by the manual clock in `timers` places.
  void until_armed(std::size_t timers) {
    EXPECT_TRUE(live.until([&] { return live.scheduler->armed() >= timers; })) << live.scheduler->armed();
  }
  void quiet() { test::run_until_quiet(live.io); }
};

/// One that is cancelled by whoever holds the signal.
template <class T>
std::shared_ptr<asio::cancellation_signal> start_cancellable(asio::io_context& io, Task<T> task) {
  auto signal = std::make_shared<asio::cancellation_signal>();
  asio::co_spawn(io, std::move(task),
                 asio::bind_cancellation_slot(signal->slot(), [signal](std::exception_ptr, const T&) {}));
  return signal;
}

}  // namespace parley::mcp
