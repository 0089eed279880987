// Every MCP payload of proto-fixtures, given to the client as the answer to a request of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "fakes/world.hpp"
#include "parley/mcp/device_link.hpp"

namespace parley::mcp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

json read(const std::string& file) {
  std::ifstream in(PARLEY_SOURCE_DIR "/proto-fixtures/" + file);
  return json::parse(in);
}

struct Peer {
  test::World world;
  std::vector<json> sent;
  DeviceLink link{world.io.get_executor(), world.scheduler,
                  [this](const json& payload) { sent.push_back(payload); }};

  /// Uses up the ids before `id`.
  void skip_to(std::int64_t id) {
    for (std::int64_t used = 1; used < id; ++used) link.call("unused", json::object(), 1s);
    sent.clear();
  }
};

void expect_answered(const json& entry, const json& payload) {
  Peer peer;
  peer.skip_to(entry["id"].get<std::int64_t>());
  const bool matches = entry.value("matches", true);
  if (entry.contains("tools")) {
    std::optional<Result<std::vector<Tool>>> listed;
    asio::co_spawn(
        peer.world.io, peer.link.list_tools(false, 1s),
        [&](const std::exception_ptr&, Result<std::vector<Tool>> tools) { listed = std::move(tools); });
    peer.world.settle();
    peer.link.on_message(payload);
    peer.world.settle();
    if (!entry["next_cursor"].is_null()) {
      ASSERT_EQ(peer.sent.size(), 2U) << "the next page is asked for";
      EXPECT_EQ(peer.sent[1]["params"]["cursor"], entry["next_cursor"]);
      const json empty = {{"tools", json::array()}};
      peer.link.on_message({{"jsonrpc", "2.0"}, {"id", peer.sent[1]["id"]}, {"result", empty}});
      peer.world.settle();
    }
    ASSERT_TRUE(listed && listed->has_value());
    std::vector<std::string> names;
    for (const auto& tool : **listed) names.push_back(tool.name);
    EXPECT_EQ(json(names), entry["tools"]);
    return;
  }
  const auto call = peer.link.call("tool", json::object(), 1s);
  peer.link.on_message(payload);
  const auto result = peer.world.run(call->next());
  ASSERT_TRUE(result && *result && **result);
  if (!matches) {
    EXPECT_EQ((**result)->text, "the device did not answer in time")
        << "nothing that does not match may answer it";
  } else {
    EXPECT_NE((**result)->text, "the device did not answer in time");
    EXPECT_FALSE((**result)->text.empty() && (**result)->failed) << "a failure says why";
    if (entry["mcp"] == "error") {
      EXPECT_TRUE((**result)->failed);
    }
  }
}

TEST(McpFixturesTest, EveryPayloadIsDealtWith) {
  int seen = 0;
  for (const auto& entry : read("index.json")) {
    if (!entry.contains("mcp") || entry["direction"] != "device-to-server") continue;
    const auto file = entry["file"].get<std::string>();
    SCOPED_TRACE(file);
    const auto payload = read(file)["payload"];
    ++seen;
    const bool has_id =
        entry.contains("id") && entry["id"].is_number_integer() && entry["id"] > 0 && entry["id"] < 100;
    if ((entry["mcp"] == "response" || entry["mcp"] == "error") && has_id) {
      expect_answered(entry, payload);
      continue;
    }
    Peer peer;
    const auto pending = peer.link.call("tool", json::object(), 1s);
    peer.sent.clear();
    peer.link.on_message(payload);
    if (entry["mcp"] == "request") {
      ASSERT_EQ(peer.sent.size(), 1U);
      EXPECT_EQ(peer.sent[0]["error"]["code"], -32601);
    } else {
      EXPECT_TRUE(peer.sent.empty());
    }
  }
  EXPECT_GT(seen, 40);
}

}  // namespace
}  // namespace parley::mcp
