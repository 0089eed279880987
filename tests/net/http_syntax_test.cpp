#include "parley/net/http_syntax.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace parley::net {
namespace {

using namespace std::chrono_literals;

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
