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
  EXPECT_EQ(origin_of("http://[::1]:81/x"), "http://[::1]:81");
  EXPECT_FALSE(origin_of("http://me@host/"));
}

TEST(OriginOf, IsTheSameHoweverItIsWritten) {
  EXPECT_EQ(origin_of("http://host:80/"), "http://host");
  EXPECT_EQ(origin_of("https://host:443"), origin_of("https://host/a"));
  EXPECT_EQ(origin_of("https://host:80"), "https://host:80");
  EXPECT_EQ(origin_of("HTTPS://host"), "https://host");
  EXPECT_EQ(origin_of("https://HOST"), "https://host");
}

TEST(ResolvedUrl, FollowsTheRulesForReferences) {
  const std::string base = "https://host:8443/a/b?q=1";
  EXPECT_EQ(resolved_url(base, "c"), "https://host:8443/a/c");
  EXPECT_EQ(resolved_url(base, "/c?x=2"), "https://host:8443/c?x=2");
  EXPECT_EQ(resolved_url(base, "?x=2"), "https://host:8443/a/b?x=2");
  EXPECT_EQ(resolved_url(base, "../c"), "https://host:8443/c");
  EXPECT_EQ(resolved_url(base, "//other/c"), "https://other/c");
  EXPECT_EQ(resolved_url(base, "http://other/c"), "http://other/c");
  for (const std::string& none : {std::string("ftp://other/"), std::string("file:///etc/passwd"),
                                  std::string("http://"), std::string("/a\0b", 4), std::string("/a\r\nb")}) {
    EXPECT_FALSE(resolved_url(base, none)) << none << " gave " << resolved_url(base, none).value_or("");
  }
  EXPECT_FALSE(resolved_url("nonsense", "://"));
}

}  // namespace
}  // namespace parley::net
