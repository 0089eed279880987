#include "providers/wyoming/link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <chrono>

#include "fakes/live.hpp"
#include "fakes/wyoming_server.hpp"

namespace parley::providers::wyoming {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::WyomingPeer;
using test::WyomingServer;
using testing::HasSubstr;

constexpr std::size_t kMaxUnsent = 1024 * 1024;

struct WyomingLink : testing::Test {
  test::Live live;

  WyomingEndpoint at(const WyomingServer& server) {
    auto endpoint = server.endpoint();
    endpoint.clock = live.clock();
    return endpoint;
  }
  std::unique_ptr<Link> link(const WyomingEndpoint& endpoint, std::size_t max_unsent = kMaxUnsent) {
    return std::make_unique<Link>(live.io.get_executor(), endpoint, max_unsent);
  }
};

TEST(WyomingUri, IsReadAndWritten) {
  const std::vector<std::pair<std::string, std::string>> good = {
      {"tcp://127.0.0.1:10300", "127.0.0.1"},
      {"tcp://whisper.local:10300/", "whisper.local"},
      {"tcp://[::1]:10300", "::1"},
      {"tcp://[fe80::1%eth0]:1", "fe80::1%eth0"},
  };
  for (const auto& [uri, host] : good) {
    const auto endpoint = parse_wyoming_uri(uri);
    ASSERT_TRUE(endpoint) << uri;
    EXPECT_EQ(endpoint->host, host);
    EXPECT_EQ(endpoint->uri() + (uri.ends_with('/') ? "/" : ""), uri);
  }
  for (const auto* uri :
       {"", "host:1", "http://host:1", "tcp://", "tcp://host", "tcp://:10300", "tcp://host:", "tcp://host:0",
        "tcp://host:65536", "tcp://host:-1", "tcp://host:1x", "tcp://::1:10300", "tcp://[::1]", "tcp://[]:1",
        "tcp://[::1:10300", "tcp://user@host:1", "tcp://host/path:1", "tcp://ho st:1", "unix:///run/piper"}) {
    EXPECT_FALSE(parse_wyoming_uri(uri)) << uri;
  }
}

TEST_F(WyomingLink, SendsWhatWasSaidBeforeItWasConnectedAndGivesTheAnswers) {
  WyomingServer server(live.io, [](WyomingPeer& peer) -> Task<> {
    co_await peer.until("describe");
    co_await peer.send({"info", {{"tts", json::array()}}, {}});
    co_await peer.send({"more", json::object(), "bytes"});
  });
  const auto connection = link(at(server));
  connection->send({"first", {{"a", 1}}, "payload"});
  connection->send({"describe", json::object(), {}});
  connection->expect_answer();
  EXPECT_EQ(live.run(connection->next())->type, "info");
  EXPECT_EQ(live.run(connection->next())->payload, "bytes");
  const auto end = live.run(connection->next());
  EXPECT_EQ(end.error().code, Errc::closed);
  EXPECT_TRUE(end.error().retryable);
  EXPECT_EQ(server.peers().at(0)->seen_types(), "first describe");
  EXPECT_EQ(live.scheduler->armed(), 0U);
}

TEST_F(WyomingLink, ToNobodyFails) {
  WyomingServer server(live.io, [](WyomingPeer&) -> Task<> { co_return; });
  const auto endpoint = at(server);
  server.stop_listening();
  const auto refused = live.run(link(endpoint)->next());
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_THAT(refused.error().message, HasSubstr(endpoint.uri() + " cannot be reached: "));
  auto nowhere = endpoint;
  nowhere.host = "no-such-host.invalid";
  EXPECT_EQ(live.run(link(nowhere)->next()).error().code, Errc::unavailable);
}

TEST_F(WyomingLink, ThatIsNotConnectedInTimeEnds) {
  WyomingServer server(live.io, [](WyomingPeer&) -> Task<> { co_return; });
  // The name is never looked up: time stands still but for the deadline.
  auto endpoint = at(server);
  const auto connection = link(endpoint);
  const auto waiting = live.start(connection->next());
  while (live.scheduler->fire_next(live.scheduler->now() + 5s)) {
  }
  ASSERT_TRUE(live.until([&] { return waiting->done(); }));
  EXPECT_EQ(waiting->result->error().code, Errc::timeout);
  EXPECT_THAT(waiting->result->error().message, HasSubstr("cannot be reached in time"));
}

TEST_F(WyomingLink, WhoseServerIsSilentEnds) {
  WyomingServer server(live.io, [](WyomingPeer& peer) { return peer.until_closed(); });
  const auto connection = link(at(server));
  connection->send({"describe", json::object(), {}});
  const auto waiting = live.start(connection->next());
  ASSERT_TRUE(live.until([&] { return !server.peers().empty() && !server.peers()[0]->seen.empty(); }));
  live.pass(1h);
  EXPECT_FALSE(waiting->done()) << "nothing is expected yet";
  connection->expect_answer();
  live.pass(29s);
  EXPECT_FALSE(waiting->done());
  live.pass(2s);
  ASSERT_TRUE(live.until([&] { return waiting->done(); }));
  EXPECT_EQ(waiting->result->error().code, Errc::timeout);
  EXPECT_THAT(waiting->result->error().message, HasSubstr("did not answer in time"));
  EXPECT_TRUE(live.until([&] { return server.peers()[0]->closed_by_client; }));
}

TEST_F(WyomingLink, HasDeadlinesBetweenEventsAndForAllOfThem) {
  WyomingServer server(live.io, [](WyomingPeer& peer) -> Task<> {
    while (const auto event = co_await peer.read()) co_await peer.send({"tick", json::object(), {}});
  });
  auto endpoint = at(server);
  endpoint.limits.deadlines.idle = 10s;
  endpoint.limits.deadlines.total = 25s;
  const auto tick = [&](Link& connection) {
    connection.send({"tick", json::object(), {}});
    return live.run(connection.next());
  };
  {
    const auto connection = link(endpoint);
    connection->expect_answer();
    ASSERT_TRUE(tick(*connection));
    live.pass(1h);  // Nobody waits.
    ASSERT_TRUE(tick(*connection));
    const auto waiting = live.start(connection->next());
    live.pass(11s);
    ASSERT_TRUE(live.until([&] { return waiting->done(); }));
    EXPECT_THAT(waiting->result->error().message, HasSubstr("stopped in the middle of its answer"));
  }
  const auto connection = link(endpoint);
  connection->expect_answer();
  ASSERT_TRUE(tick(*connection));
  for (int i = 0; i < 3; ++i) {
    const auto waiting = live.start(connection->next());
    live.pass(9s);
    if (i == 2) {
      ASSERT_TRUE(live.until([&] { return waiting->done(); }));
      EXPECT_EQ(waiting->result->error().code, Errc::timeout) << "27 s of waiting";
      break;
    }
    connection->send({"tick", json::object(), {}});
    ASSERT_TRUE(live.until([&] { return waiting->done(); }));
    EXPECT_TRUE(*waiting->result);
  }
}

TEST_F(WyomingLink, EndsWithWhatIsWrong) {
  struct Case {
    std::string bytes;
    Errc code;
    std::string why;
  };
  const std::vector<Case> cases = {
      {"garbage\n", Errc::invalid_input, "no Wyoming event"},
      {"{\"type\": \"x\", \"payload_length\": -1}\n", Errc::invalid_input, "no length"},
      {"{\"type\": \"x\", \"payload_length\": 1000000000}\n", Errc::limit, "payload_length"},
      {"{\"type\": \"x\", \"payload_length\": 10}\nfive.", Errc::closed, "in the middle of an event"},
      {std::string(5000, 'x'), Errc::limit, "max_response"},
      {"", Errc::closed, "closed the connection"},
  };
  for (const auto& wrong : cases) {
    WyomingServer server(live.io, [&](WyomingPeer& peer) -> Task<> { co_await peer.write(wrong.bytes); });
    auto endpoint = at(server);
    endpoint.limits.max_response = 4096;
    const auto connection = link(endpoint);
    const auto got = live.run(connection->next());
    EXPECT_EQ(got.error().code, wrong.code) << wrong.bytes;
    EXPECT_THAT(got.error().message, HasSubstr(wrong.why));
    EXPECT_THAT(got.error().message, HasSubstr(endpoint.uri()));
    EXPECT_EQ(got.error().retryable, wrong.code == Errc::closed);
    EXPECT_EQ(live.run(connection->next()).error().code, wrong.code) << "it stays so";
  }
}

TEST_F(WyomingLink, HoldsNoMoreThanItMay) {
  WyomingServer server(live.io, [](WyomingPeer& peer) { return peer.until_closed(); });
  const auto connection = link(at(server), 4096);
  connection->send({"x", json::object(), std::string(3000, 'x')});
  EXPECT_FALSE(connection->is_stale());
  connection->send({"x", json::object(), std::string(3000, 'x')});
  EXPECT_EQ(live.run(connection->next()).error().code, Errc::overloaded);
}

TEST_F(WyomingLink, ThatIsDroppedClosesAtOnce) {
  WyomingServer server(live.io, [](WyomingPeer& peer) { return peer.until_closed(); });
  auto connection = link(at(server));
  connection->send({"describe", json::object(), {}});
  asio::cancellation_signal stop;
  bool ended = false;
  asio::co_spawn(live.io, connection->next(),
                 asio::bind_cancellation_slot(
                     stop.slot(), [&](const std::exception_ptr&, const Result<Event>&) { ended = true; }));
  ASSERT_TRUE(live.until([&] { return !server.peers().empty() && !server.peers()[0]->seen.empty(); }));
  stop.emit(asio::cancellation_type::terminal);
  connection.reset();
  EXPECT_TRUE(live.until([&] { return ended && server.peers()[0]->closed_by_client; }));
  // Also while it connects.
  link(at(server)).reset();
  live.pass(1h);
  EXPECT_EQ(live.scheduler->armed(), 0U);
}

TEST_F(WyomingLink, KnowsThatItIsStale) {
  for (const bool speaks : {true, false}) {
    WyomingServer server(live.io, [&](WyomingPeer& peer) -> Task<> {
      co_await peer.until("go");
      if (!speaks) co_return;
      co_await peer.send({"word", json::object(), {}});
      co_await peer.until_closed();
    });
    const auto connection = link(at(server));
    EXPECT_FALSE(connection->is_stale()) << "still connecting";
    connection->send({"hello", json::object(), {}});
    ASSERT_TRUE(live.until([&] { return !server.peers().empty() && !server.peers()[0]->seen.empty(); }));
    EXPECT_FALSE(connection->is_stale());
    connection->send({"go", json::object(), {}});
    EXPECT_TRUE(live.until([&] { return connection->is_stale(); })) << speaks;
  }
}

}  // namespace
}  // namespace parley::providers::wyoming
