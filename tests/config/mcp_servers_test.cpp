#include "parley/config/mcp_servers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "parley/config/settings.hpp"

namespace parley::config {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

McpServers read(const std::string& yaml) {
  return load_text("mcp_servers:\n" + yaml, "p.yaml").mcp_servers;
}

std::string complaint(const std::string& yaml) {
  try {
    read(yaml);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, Errc::configuration);
    return failure.what();
  }
  return "no complaint";
}

std::string server(const std::string& more) {
  return "  web: {url: 'https://mcp.example/mcp', " + more + "}\n";
}

TEST(McpServers, AreReadWithTheirDefaults) {
  EXPECT_TRUE(load_text("language: en", "p.yaml").mcp_servers.empty());
  const auto servers =
      read("  web: {url: 'https://mcp.example/mcp'}\n  home-2: {url: 'http://127.0.0.1:8123'}\n");
  ASSERT_EQ(servers.size(), 2U);
  McpServer expected;
  expected.url = "https://mcp.example/mcp";
  EXPECT_EQ(servers.at("web"), expected);
  EXPECT_EQ(expected.era, "auto");
  EXPECT_THAT(expected.allow, ElementsAre("*"));
  EXPECT_THAT(expected.devices, ElementsAre("*"));
  EXPECT_FALSE(expected.allow_private_network);
}

TEST(McpServers, SayEverythingThemselves) {
  ::setenv("PARLEY_TEST_MCP_TOKEN", "hush", 1);
  const auto servers = read(R"(  web:
    url: https://mcp.example/mcp
    headers: {X-Api-Key: k1, X-Empty: ''}
    token: ${PARLEY_TEST_MCP_TOKEN}
    era: legacy
    allow: [a*, b]
    deny: [ab]
    confirm: ['*_delete']
    devices: ['AA:BB:*']
    connect_timeout: 2s
    timeout: 1m
    allow_private_network: true
)");
  const auto& web = servers.at("web");
  EXPECT_THAT(web.headers, ElementsAre(std::pair<std::string, std::string>("X-Api-Key", "k1"),
                                       std::pair<std::string, std::string>("X-Empty", ""),
                                       std::pair<std::string, std::string>("Authorization", "Bearer hush")));
  EXPECT_EQ(web.era, "legacy");
  EXPECT_THAT(web.allow, ElementsAre("a*", "b"));
  EXPECT_THAT(web.deny, ElementsAre("ab"));
  EXPECT_THAT(web.confirm, ElementsAre("*_delete"));
  EXPECT_THAT(web.devices, ElementsAre("aa:bb:*"));
  EXPECT_EQ(web.connect_timeout, 2s);
  EXPECT_EQ(web.timeout, 1min);
  EXPECT_TRUE(web.allow_private_network);
}

TEST(McpServers, WrongValuesAreRefusedWithTheirPlace) {
  struct Mistake {
    std::string yaml;
    std::string place;
    std::string why;
  };
  for (const auto& [yaml, place, why] : std::initializer_list<Mistake>{
           {"  web: {}\n", "mcp_servers.web", "url"},
           {"  web: 7\n", "mcp_servers.web", ""},
           {"  - 7\n", "mcp_servers", ""},
           {"  web: {url: 'ftp://x'}\n", "mcp_servers.web.url", "expected https://HOST/PATH"},
           {"  web: {url: mcp.example}\n", "mcp_servers.web.url", "expected https://HOST/PATH"},
           {"  web: {url: 'https://a b'}\n", "mcp_servers.web.url", "expected https://HOST/PATH"},
           {"  web: {url: \"https://a\\nb\"}\n", "mcp_servers.web.url", "expected https://HOST/PATH"},
           {"  web: {url: 'https://me:pw@x/'}\n", "mcp_servers.web.url", "`token` or `headers`"},
           {server("era: modem"), "mcp_servers.web.era", "modern"},
           {server("headers: {'X Y': a}"), "mcp_servers.web.headers.X Y", "no HTTP header"},
           {server("headers: {'X:': a}"), "mcp_servers.web.headers", "no HTTP header"},
           {server("headers: {X-A: \"a\\r\\nEvil: 1\"}"), "mcp_servers.web.headers.X-A", "no HTTP header"},
           {server("headers: [a]"), "mcp_servers.web.headers", ""},
           {server("headers: {X-A: [a]}"), "mcp_servers.web.headers.X-A", ""},
           {server("token: 'a b'"), "mcp_servers.web.token", "expected one word"},
           {server("token: \"a\\tb\""), "mcp_servers.web.token", "expected one word"},
           {server("token: ''"), "mcp_servers.web.token", ""},
           {server("allow: {a: b}"), "mcp_servers.web.allow", ""},
           {server("deny: [{a: b}]"), "mcp_servers.web.deny", ""},
           {server("confirm: [[a]]"), "mcp_servers.web.confirm", ""},
           {server("devices: [{a: b}]"), "mcp_servers.web.devices", ""},
           {server("connect_timeout: 10ms"), "mcp_servers.web.connect_timeout", "100ms"},
           {server("timeout: 2h"), "mcp_servers.web.timeout", "1h"},
           {server("timeout: 10"), "mcp_servers.web.timeout", ""},
           {server("allow_private_network: maybe"), "mcp_servers.web.allow_private_network", ""},
           {server("alow: [a]"), "mcp_servers.web", "allow"},
       }) {
    EXPECT_THAT(complaint(yaml), testing::AllOf(HasSubstr("p.yaml:"), HasSubstr(place), HasSubstr(why)))
        << yaml;
  }
}

TEST(McpServers, KeysThatNoToolCouldBeCalledByAreRefused) {
  for (const char* key : {"''", "a b", "a.b", "ü", "a__b", "abcdefghijklmnopqrstuvwxy"}) {
    EXPECT_THAT(complaint("  " + std::string(key) + ": {url: 'https://x'}\n"),
                HasSubstr("no key for an MCP server"))
        << key;
  }
  for (const char* key : {"parley", "device"})
    EXPECT_THAT(complaint("  " + std::string(key) + ": {url: 'https://x'}\n"),
                HasSubstr("taken by Parley itself"));
  EXPECT_EQ(read("  abcdefghijklmnopqrstuvwx: {url: 'https://x'}\n").size(), 1U);
}

TEST(McpServers, ComplaintsTellNoSecrets) {
  ::setenv("PARLEY_TEST_MCP_TOKEN", "hu sh", 1);
  for (const auto& yaml : {server("token: ${PARLEY_TEST_MCP_TOKEN}"), server("headers: {X-A: \"hu sh\\n\"}"),
                           std::string("  web: {url: 'https://me:hu sh@x/'}\n")}) {
    const auto said = complaint(yaml);
    EXPECT_NE(said, "no complaint");
    EXPECT_THAT(said, testing::Not(HasSubstr("hu sh")));
  }
}

}  // namespace
}  // namespace parley::config
