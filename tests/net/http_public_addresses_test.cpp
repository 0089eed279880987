#include <gmock/gmock.h>

#include <cstdlib>

#include "net/http_client_fixture.hpp"

namespace parley::net {
namespace {

using testing::HasSubstr;

/// Sets the proxies of the environment for a while.
class Proxies {
 public:
  Proxies(const std::string& proxy, const char* except) {
    ::setenv("http_proxy", proxy.c_str(), 1);
    ::setenv("no_proxy", except, 1);
  }
  Proxies(const Proxies&) = delete;
  Proxies& operator=(const Proxies&) = delete;
  Proxies(Proxies&&) = delete;
  Proxies& operator=(Proxies&&) = delete;
  ~Proxies() {
    ::unsetenv("http_proxy");
    ::setenv("no_proxy", "127.0.0.1", 1);
  }
};

struct PublicAddressesTest : HttpClientTest {
  HttpServer server{io, [](HttpExchange& exchange) { return exchange.respond(200, "text/plain", "in"); }};
  std::string port = server.url().substr(server.url().rfind(':'));

  Answer ask_public(const std::string& host) {
    auto request = get("http://" + host + port + "/");
    request.public_addresses_only = true;
    return ask(std::move(request));
  }
  void expect_refused(const std::string& host) {
    const auto answer = ask_public(host);
    ASSERT_TRUE(answer.error) << host;
    EXPECT_EQ(answer.error->code, Errc::unavailable) << host;
    EXPECT_THAT(answer.error->message, HasSubstr("at an address that is not public (")) << host;
    EXPECT_FALSE(answer.error->retryable);
    EXPECT_EQ(server.connections(), 0) << host;
  }
};

TEST_F(PublicAddressesTest, OthersAreNotConnectedTo) {
  // However it is written, and also where only a resolver knows.
  for (const char* host : {"127.0.0.1", "127.1", "0x7f.0.0.1", "2130706433", "0177.0.0.1", "[::1]",
                           "[::ffff:127.0.0.1]", "localhost", "LOCALHOST"})
    expect_refused(host);
}

TEST_F(PublicAddressesTest, WithoutTheDemandTheyAre) {
  EXPECT_EQ(ask(get(server.url())).body, "in");
}

TEST_F(PublicAddressesTest, BehindAProxyItIsTheProxyThatResolves) {
  const Proxies proxies(server.url(), "");
  EXPECT_EQ(ask_public("localhost").body, "in");
  EXPECT_EQ(server.asked().at(0).target, "http://localhost" + port + "/");
}

TEST_F(PublicAddressesTest, AnAddressIsOneAlsoBehindAProxy) {
  const Proxies proxies(server.url(), "");
  expect_refused("127.0.0.1");
  expect_refused("10.1.2.3");
}

TEST_F(PublicAddressesTest, WhatGoesPastTheProxyIsLookedAt) {
  for (const char* except :
       {"localhost", "LocalHost", "x.example, localhost", ".localhost", "localhost.", "*"}) {
    const Proxies proxies(server.url(), except);
    expect_refused("localhost");
  }
  const Proxies proxies(server.url(), "ocalhost,x.localhost,host");
  EXPECT_EQ(ask_public("localhost").body, "in");
}

}  // namespace
}  // namespace parley::net
