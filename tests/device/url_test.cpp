#include <gtest/gtest.h>

#include "parley/device/socket.hpp"

namespace parley::device {
namespace {

TEST(Url, IsTakenApart) {
  struct Case {
    const char* text;
    const char* host;
    const char* port;
    const char* path;
  };
  constexpr Case cases[] = {
      {"ws://127.0.0.1:8000/xiaozhi/v1/", "127.0.0.1", "8000", "/xiaozhi/v1/"},
      {"ws://host", "host", "80", "/"},
      {"ws://host/a?b=c#d", "host", "80", "/a?b=c"},
      {"ws://host?x", "host", "80", "/?x"},
      {"ws://[::1]:9/x", "::1", "9", "/x"},
      {"ws://[::1]", "::1", "80", "/"},
  };
  for (const auto& each : cases) {
    const auto url = parse_url(each.text);
    ASSERT_TRUE(url) << each.text;
    EXPECT_EQ(url->host, each.host);
    EXPECT_EQ(url->port, each.port);
    EXPECT_EQ(url->path, each.path);
  }
}

TEST(Url, BadOnesAreRefusedWithASentence) {
  for (const auto* const text :
       {"", "http://host/", "wss://host/", "ws://", "ws:///x", "ws://host:0", "ws://host:65536",
        "ws://host:8o", "ws://host:", "ws://user@host", "ws://[::1", "ws://a b/", "ws://a/\r\nX: y"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_NE(url.error().message.find("is not a usable URL: "), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace parley::device
