#include "parley/net/websocket_client.hpp"

#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <chrono>

#include "fakes/live.hpp"
#include "fakes/websocket_server.hpp"

namespace parley::net {
namespace {

using namespace std::chrono_literals;
using test::WebSocketPeer;
using test::WebSocketServer;

struct Received {
  std::vector<WebSocketMessage> messages;
  std::optional<Error> error;
};

Task<Received> drain(WebSocketClient& client) {
  Received received;
  while (true) {
    auto message = co_await client.next();
    if (!message) received.error = message.error();
    if (!message || !*message) co_return received;
    received.messages.push_back(std::move(**message));
  }
}

struct WebSocketClientTest : testing::Test, test::Live {
  WebSocketRequest request;

  std::unique_ptr<WebSocketClient> open(const std::string& url) {
    request.url = url;
    return std::make_unique<WebSocketClient>(io.get_executor(), scheduler, request);
  }

  /// Until its end.
  Received receive(const std::string& url) {
    const auto client = open(url);
    return run(drain(*client));
  }

  /// Until its end, which a deadline of at most `limit` brings once the server is `ready`.
  Received receive_late(WebSocketClient& client, const std::function<bool()>& ready, Duration limit) {
    const auto receiving = start(drain(client));
    EXPECT_TRUE(until(ready));
    EXPECT_FALSE(receiving->done());
    EXPECT_TRUE(scheduler->fire_next(scheduler->now() + limit));
    EXPECT_TRUE(until([&] { return receiving->done(); }));
    return receiving->result.value_or(Received{});
  }
};

TEST_F(WebSocketClientTest, SendsWhatWaitedAndReceives) {
  std::vector<WebSocketPeer::Message> got;
  std::map<std::string, std::string> headers;
  std::string target;
  WebSocketServer server(io, [&](WebSocketPeer& peer) -> Task<> {
    headers = peer.headers;
    target = peer.target;
    co_await peer.accept("binary");
    for (int i = 0; i < 3; ++i) got.push_back((co_await peer.read()).value());
    co_await peer.send_text("one");
    co_await peer.send_binary(std::string("\0\1", 2));
    co_await peer.close(1000, "");
  });
  request.headers = {{"Authorization", "Bearer secret"}};
  request.subprotocol = "binary";
  const auto client = open(server.url() + "/v1/realtime?intent=x");
  client->send_text("hello");
  client->send_binary(std::string("\0\2", 2));
  client->send_text("");
  const auto received = run(drain(*client));
  EXPECT_FALSE(received.error);
  ASSERT_EQ(received.messages.size(), 2U);
  EXPECT_TRUE(received.messages[0].is_text);
  EXPECT_EQ(received.messages[0].bytes, "one");
  EXPECT_FALSE(received.messages[1].is_text);
  EXPECT_EQ(received.messages[1].bytes, std::string("\0\1", 2));
  EXPECT_EQ(target, "/v1/realtime?intent=x");
  EXPECT_EQ(headers["authorization"], "Bearer secret");
  EXPECT_EQ(headers["sec-websocket-protocol"], "binary");
  EXPECT_EQ(headers["host"], server.url().substr(5));
  ASSERT_EQ(got.size(), 3U);
  EXPECT_TRUE(got[0].is_text);
  EXPECT_EQ(got[0].bytes, "hello");
  EXPECT_FALSE(got[1].is_text);
  EXPECT_EQ(got[1].bytes, std::string("\0\2", 2));
  EXPECT_EQ(got[2].bytes, "");
  client->send_text("after the end");
  EXPECT_FALSE(run(drain(*client)).error) << "the end stays the end";
}

TEST_F(WebSocketClientTest, TellsRefusals) {
  WebSocketServer server(io, [](WebSocketPeer& peer) { return peer.refuse(401, "no such key"); });
  auto received = receive(server.url());
  ASSERT_TRUE(received.error);
  EXPECT_EQ(received.error->code, Errc::unavailable);
  EXPECT_NE(received.error->message.find("401"), std::string::npos) << received.error->message;
  request.refused = [](int status, const std::string& body) {
    return Error(Errc::unauthorized, std::to_string(status) + ": " + body);
  };
  received = receive(server.url());
  EXPECT_EQ(received.error->code, Errc::unauthorized);
  EXPECT_EQ(received.error->message, "401: no such key");
}

TEST_F(WebSocketClientTest, RefusesWhatIsNoAddress) {
  for (const auto* url :
       {"", "http://127.0.0.1", "ws://", "ws://me:secret@127.0.0.1/", "wss//x", "ws://127.0.0.1:99999/"}) {
    const auto received = receive(url);
    ASSERT_TRUE(received.error) << url;
    EXPECT_EQ(received.error->code, Errc::configuration) << url;
    EXPECT_EQ(received.error->message.find("secret"), std::string::npos);
  }
}

TEST_F(WebSocketClientTest, TellsWhereNobodyListens) {
  asio::ip::tcp::acceptor closed(io, {asio::ip::address_v4::loopback(), 0});
  const auto port = std::to_string(closed.local_endpoint().port());
  closed.close();
  const auto received = receive("ws://127.0.0.1:" + port);
  ASSERT_TRUE(received.error);
  EXPECT_EQ(received.error->code, Errc::unavailable);
  EXPECT_TRUE(received.error->retryable);
  EXPECT_NE(received.error->message.find("127.0.0.1:" + port), std::string::npos);
}

TEST_F(WebSocketClientTest, TellsWhatIsNoWebSocket) {
  for (const auto* answer : {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 101 Yes\r\n\r\n", ""}) {
    WebSocketServer server(io, [&](WebSocketPeer& peer) { return peer.raw(answer); });
    const auto received = receive(server.url());
    ASSERT_TRUE(received.error) << answer;
    EXPECT_EQ(received.error->code, Errc::unavailable) << received.error->message;
  }
}

TEST_F(WebSocketClientTest, GivesUpWaitingForTheConnection) {
  bool asked = false;
  WebSocketServer server(io, [&](WebSocketPeer& peer) -> Task<> {
    asked = true;
    co_await peer.until_closed();
  });
  const auto client = open(server.url());
  client->send_text("never sent");
  const auto received = receive_late(
      *client, [&] { return asked; }, request.connect_timeout);
  ASSERT_TRUE(received.error);
  EXPECT_EQ(received.error->code, Errc::timeout);
  EXPECT_TRUE(until([&] { return server.ended() == 1; })) << "the connection was not closed";
}

TEST_F(WebSocketClientTest, EndsAtItsDeadline) {
  bool accepted = false;
  WebSocketServer server(io, [&](WebSocketPeer& peer) -> Task<> {
    co_await peer.accept();
    co_await peer.send_text("one");
    accepted = (co_await peer.read()).has_value();
    co_await peer.read();
  });
  const auto client = open(server.url());
  client->set_deadline(scheduler->now() + 1s, "too early");
  client->set_deadline(scheduler->now() + 7s, "nothing came");
  client->send_text("x");
  const auto received = receive_late(
      *client, [&] { return accepted; }, 7s);
  EXPECT_EQ(received.messages.size(), 1U) << "what came before counts";
  ASSERT_TRUE(received.error);
  EXPECT_EQ(received.error->code, Errc::timeout);
  EXPECT_EQ(received.error->message, "nothing came");
  EXPECT_TRUE(until([&] { return server.ended() == 1; })) << "the connection was not closed";
  EXPECT_EQ(run(drain(*client)).error->code, Errc::timeout) << "the same again";
}

TEST_F(WebSocketClientTest, ClosesAtOnceWhenDestroyed) {
  bool accepted = false;
  WebSocketServer server(io, [&](WebSocketPeer& peer) -> Task<> {
    co_await peer.accept();
    accepted = true;
    co_await peer.read();
  });
  auto client = open(server.url());
  ASSERT_TRUE(until([&] { return accepted; }));
  client.reset();
  EXPECT_TRUE(until([&] { return server.ended() == 1; }));
  open(server.url()).reset();  // before it is connected
  accepted = false;
  auto reader = open(server.url());
  const auto reading = start(drain(*reader));
  ASSERT_TRUE(until([&] { return accepted; }));
  reader.reset();
  EXPECT_TRUE(until([&] { return reading->done(); }));
  EXPECT_EQ(reading->result->error->code, Errc::cancelled);
}

TEST_F(WebSocketClientTest, TellsHowItWasClosed) {
  struct Case {
    std::uint16_t code;
    bool is_error;
  };
  for (const auto [code, is_error] :
       {Case{1000, false}, Case{1001, false}, Case{1011, true}, Case{1008, true}}) {
    WebSocketServer server(io, [&, code = code](WebSocketPeer& peer) -> Task<> {
      co_await peer.accept();
      co_await peer.send_text("one");
      co_await peer.close(code, "because");
    });
    const auto received = receive(server.url());
    EXPECT_EQ(received.messages.size(), 1U) << code;
    ASSERT_EQ(received.error.has_value(), is_error) << code;
    if (!is_error) continue;
    EXPECT_EQ(received.error->code, Errc::closed);
    EXPECT_NE(received.error->message.find(std::to_string(code) + ", because"), std::string::npos)
        << received.error->message;
  }
}

TEST_F(WebSocketClientTest, TellsWhatWasCutOff) {
  WebSocketServer server(io, [&](WebSocketPeer& peer) -> Task<> {
    co_await peer.accept();
    co_await peer.raw("\x81\x7DHalf of a mes");
  });
  const auto received = receive(server.url());
  EXPECT_TRUE(received.messages.empty());
  ASSERT_TRUE(received.error);
  EXPECT_EQ(received.error->code, Errc::closed);
}

TEST_F(WebSocketClientTest, BoundsMessages) {
  WebSocketServer server(io, [&](WebSocketPeer& peer) -> Task<> {
    co_await peer.accept();
    co_await peer.send_text(std::string(1000, 'x'));
    co_await peer.send_text(std::string(1001, 'x'));
    co_await peer.read();
  });
  request.max_message = 1000;
  const auto received = receive(server.url());
  EXPECT_EQ(received.messages.size(), 1U);
  ASSERT_TRUE(received.error);
  EXPECT_EQ(received.error->code, Errc::limit);
}

TEST_F(WebSocketClientTest, BoundsWhatWaits) {
  WebSocketServer server(io, [&](WebSocketPeer& peer) { return peer.until_closed(); });
  request.max_unsent = 1000;
  const auto client = open(server.url());
  client->send_binary(std::string(999, 'x'));
  client->send_text("xx");
  const auto received = run(drain(*client));
  ASSERT_TRUE(received.error);
  EXPECT_EQ(received.error->code, Errc::limit);
}

TEST_F(WebSocketClientTest, ASlowServerGetsEverything) {
  constexpr int kMessages = 200;
  constexpr std::size_t kSize = 10'000;
  int got = 0;
  WebSocketServer server(io, [&](WebSocketPeer& peer) -> Task<> {
    co_await peer.accept();
    while (got < kMessages) got += (co_await peer.read()).value().bytes.size() == kSize ? 1 : 1000;
    co_await peer.close(1000, "");
  });
  const auto client = open(server.url());
  for (int i = 0; i < kMessages; ++i) client->send_binary(std::string(kSize, 'x'));
  EXPECT_FALSE(run(drain(*client)).error);
  EXPECT_EQ(got, kMessages);
}

TEST_F(WebSocketClientTest, KnowsASignOfLife) {
  WebSocketServer server(io, [&](WebSocketPeer& peer) -> Task<> {
    co_await peer.accept();
    co_await peer.read();
  });
  const auto client = open(server.url());
  const auto reading = start(drain(*client));
  EXPECT_FALSE(client->alive());
  client->ping();
  EXPECT_FALSE(client->alive());
  EXPECT_TRUE(until([&] { return client->alive(); }));
  client->ping();
  EXPECT_FALSE(client->alive()) << "each ping asks anew";
  client->send_text("enough");
  EXPECT_TRUE(until([&] { return reading->done(); }));
}

TEST(WebSocketUrl, IsTakenApart) {
  const auto parse = [](const char* text) { return parse_websocket_url(text); };
  const auto plain = parse("ws://asr.local");
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->tls);
  EXPECT_EQ(plain->host, "asr.local");
  EXPECT_EQ(plain->port, "80");
  EXPECT_EQ(plain->target, "/");
  EXPECT_EQ(plain->authority(), "asr.local");
  const auto full = parse("wss://[::1]:10095/a/b?x=1&y=2#z");
  ASSERT_TRUE(full);
  EXPECT_TRUE(full->tls);
  EXPECT_EQ(full->host, "::1");
  EXPECT_EQ(full->port, "10095");
  EXPECT_EQ(full->target, "/a/b?x=1&y=2");
  EXPECT_EQ(full->origin(), "wss://[::1]:10095");
  EXPECT_EQ(parse("wss://h/")->port, "443");
  EXPECT_FALSE(parse("https://h/"));
  EXPECT_FALSE(parse("ws://user@h/"));
  EXPECT_FALSE(parse("ws://h h/"));
}

}  // namespace
}  // namespace parley::net
