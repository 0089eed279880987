#include "parley/device/mcp_server.hpp"

#include <gtest/gtest.h>

#include <set>

namespace parley::device {
namespace {

using nlohmann::json;

json request(const char* method, json params = json::object(), json id = 7) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}, {"id", std::move(id)}};
}

json answer(McpServer& server, const json& payload) {
  const auto reply = server.handle(payload);
  return reply ? json::parse(reply->payload) : json("nothing");
}

json call(McpServer& server, const char* name, json arguments = json::object()) {
  return answer(server, request("tools/call", {{"name", name}, {"arguments", std::move(arguments)}}));
}

std::string text_of(const json& reply) {
  return reply.at("result").at("content").at(0).at("text");
}

TEST(DeviceMcp, Initializes) {
  McpServer server(stock_tools());
  EXPECT_FALSE(server.initialized());
  const auto reply =
      answer(server, request("initialize", {{"capabilities", {{"vision", {{"url", "http://x"}}}}}}));
  EXPECT_EQ(reply.at("id"), 7);
  EXPECT_EQ(reply.at("result").at("protocolVersion"), "2024-11-05");
  EXPECT_TRUE(server.initialized());
  EXPECT_EQ(server.client_capabilities().at("vision").at("url"), "http://x");
}

TEST(DeviceMcp, DropsWhatTheFirmwareDrops) {
  McpServer server(stock_tools());
  const json dropped[] = {
      request("tools/list", json::object(), "7"),
      request("tools/list", json::object(), nullptr),
      request("tools/list", json::object(), 1.5),
      request("tools/list", json::array()),
      request("notifications/initialized"),
      {{"jsonrpc", "2.0"}, {"method", "tools/list"}},
      {{"jsonrpc", "1.0"}, {"method", "tools/list"}, {"id", 1}},
      {{"method", "tools/list"}, {"id", 1}},
      {{"jsonrpc", "2.0"}, {"method", 5}, {"id", 1}},
      {{"jsonrpc", "2.0"}, {"result", json::object()}, {"id", 1}},
      json::array(),
      json("text"),
      json(),
  };
  for (const auto& payload : dropped) EXPECT_FALSE(server.handle(payload)) << payload;
}

TEST(DeviceMcp, AnswersBadRequestsWithErrorsWithoutACode) {
  McpServer server(stock_tools());
  const std::pair<json, const char*> bad[] = {
      {request("resources/list"), "Method not implemented: resources/list"},
      {request("tools/call"), "Missing name"},
      {request("tools/call", {{"name", 5}}), "Missing name"},
      {request("tools/call", {{"name", "x"}, {"arguments", "text"}}), "Invalid arguments"},
      {request("tools/call", {{"name", "x"}}), "Unknown tool: x"},
      {request("tools/call", {{"name", "self.audio_speaker.set_volume"}}), "Missing valid argument: volume"},
      {request("tools/call", {{"name", "self.audio_speaker.set_volume"}, {"arguments", {{"volume", "9"}}}}),
       "Missing valid argument: volume"},
      {request("tools/call", {{"name", "self.audio_speaker.set_volume"}, {"arguments", {{"volume", 101}}}}),
       "Value exceeds maximum allowed: 100"},
      {request("tools/call", {{"name", "self.audio_speaker.set_volume"}, {"arguments", {{"volume", -1}}}}),
       "Value is below minimum allowed: 0"},
  };
  for (const auto& [payload, message] : bad) {
    const auto reply = answer(server, payload);
    ASSERT_TRUE(reply.contains("error")) << payload;
    EXPECT_EQ(reply.at("error").at("message"), message);
    EXPECT_FALSE(reply.at("error").contains("code"));
  }
}

TEST(DeviceMcp, ErrorsAreNotEscaped) {
  McpServer server(stock_tools());
  const auto reply = server.handle(request("tools/call", {{"name", "a\"b"}}));
  ASSERT_TRUE(reply);
  EXPECT_FALSE(json::accept(reply->payload));
}

TEST(DeviceMcp, StockToolsShareAState) {
  McpServer server(stock_tools());
  EXPECT_EQ(
      text_of(call(server, "self.get_device_status")),
      R"({"audio_speaker":{"volume":70},"screen":{"brightness":75,"theme":"light"},)"
      R"("battery":{"level":84,"charging":false},"network":{"type":"wifi","ssid":"home","signal":"strong"}})");
  EXPECT_EQ(text_of(call(server, "self.audio_speaker.set_volume", {{"volume", 20.9}})), "true");
  EXPECT_EQ(text_of(call(server, "self.screen.set_theme", {{"theme", "dark"}})), "true");
  EXPECT_EQ(text_of(call(server, "self.screen.set_theme", {{"theme", "pink"}})), "false");
  const auto status = json::parse(text_of(call(server, "self.get_device_status")));
  EXPECT_EQ(status.at("audio_speaker").at("volume"), 20);
  EXPECT_EQ(status.at("screen").at("theme"), "dark");
  call(server, "self.lamp.turn_on");
  EXPECT_EQ(text_of(call(server, "self.lamp.get_state")), R"({"power":true})");
  call(server, "self.lamp.turn_off");
  EXPECT_EQ(text_of(call(server, "self.lamp.get_state")), R"({"power":false})");
}

TEST(DeviceMcp, ReportsTheCall) {
  McpServer server(stock_tools());
  const auto reply = server.handle(
      request("tools/call", {{"name", "self.light.set_rgb"}, {"arguments", {{"r", 1}, {"g", 2}, {"b", 3}}}}));
  ASSERT_TRUE(reply && reply->call);
  EXPECT_EQ(reply->call->name, "self.light.set_rgb");
  EXPECT_EQ(reply->call->arguments.at("g"), 2);
  EXPECT_EQ(reply->call->result, "true");
  EXPECT_FALSE(reply->call->failed);
}

std::vector<std::string> list_all(McpServer& server, bool with_user_tools, int& pages) {
  std::vector<std::string> names;
  std::string cursor;
  for (pages = 1; pages < 100; ++pages) {
    json params{{"cursor", cursor}};
    if (with_user_tools) params["withUserTools"] = true;
    const auto result = answer(server, request("tools/list", params)).at("result");
    for (const auto& tool : result.at("tools")) names.push_back(tool.at("name"));
    if (!result.contains("nextCursor")) break;
    cursor = result.at("nextCursor");
  }
  return names;
}

TEST(DeviceMcp, PagesHoldEachToolOnce) {
  for (const std::size_t page : {400UL, 700UL, 1500UL, 8000UL}) {
    McpServer server(stock_tools(), page);
    int pages = 0;
    const auto names = list_all(server, false, pages);
    EXPECT_EQ(names.size(), 9U) << page;
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
    EXPECT_EQ(pages == 1, page == 8000) << page;
    EXPECT_EQ(std::count(names.begin(), names.end(), "self.reboot"), 0);
    const auto all = list_all(server, true, pages);
    EXPECT_EQ(all.size(), 10U);
    EXPECT_EQ(all.back(), "self.reboot");
  }
}

TEST(DeviceMcp, NoPageIsLargerThanItsLimit) {
  constexpr std::size_t limit = 600;
  McpServer server(stock_tools(), limit);
  std::string cursor;
  do {
    const auto reply = answer(server, request("tools/list", {{"cursor", cursor}})).at("result");
    EXPECT_LE(reply.dump().size(), limit);
    cursor = reply.value("nextCursor", "");
  } while (!cursor.empty());
}

TEST(DeviceMcp, ToolLargerThanAPageIsAnError) {
  McpServer server(stock_tools(), 64);
  EXPECT_EQ(answer(server, request("tools/list")).at("error").at("message"),
            "Failed to add tool self.get_device_status because of payload size limit");
}

TEST(DeviceMcp, UnknownCursorIsAnEmptyList) {
  McpServer server(stock_tools());
  EXPECT_EQ(answer(server, request("tools/list", {{"cursor", "nope"}})).at("result").at("tools").size(), 0U);
}

TEST(DeviceMcp, UserOnlyToolsSaySo) {
  McpServer server(stock_tools());
  const auto tools =
      answer(server, request("tools/list", {{"withUserTools", true}})).at("result").at("tools");
  EXPECT_EQ(tools.back().at("annotations").at("audience"), json({"user"}));
}

TEST(ToolFile, ResultsErrorsAndDelays) {
  const auto tools = parse_tools(R"([
    {"name": "a", "description": "A", "result": "sunny"},
    {"name": "b", "result": {"degrees": 3}},
    {"name": "c", "error": "no sensor", "delay_ms": 250},
    {"name": "d", "result": {"content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}], "isError": true}},
    {"name": "e", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": []}},
    {"name": "f", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer", "default": 4}}}}])");
  ASSERT_TRUE(tools);
  McpServer server(*tools);
  EXPECT_EQ(text_of(call(server, "a")), "sunny");
  EXPECT_EQ(text_of(call(server, "b")), R"({"degrees":3})");
  const auto failed = server.handle(request("tools/call", {{"name", "c"}}));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->delay, Millis(250));
  EXPECT_TRUE(failed->call->failed);
  EXPECT_EQ(json::parse(failed->payload).at("error").at("message"), "no sensor");
  const auto image = call(server, "d").at("result");
  EXPECT_EQ(image.at("content").at(0).at("type"), "image");
  EXPECT_EQ(image.at("isError"), true);
  EXPECT_EQ(text_of(call(server, "e")), "true");
  EXPECT_EQ(text_of(call(server, "f")), "true");
}

TEST(ToolFile, ComplaintsNameTheEntry) {
  const std::pair<const char*, const char*> bad[] = {
      {"[", "the tools are not valid JSON"},
      {"{}", "the tools must be a JSON list"},
      {"[5]", "entry 1 of the tools: an object was expected"},
      {R"([{"name":"a"},{"name":""}])", "entry 2 of the tools: \"name\" must be a text"},
      {R"([{"name":"a"},{"name":"a"}])", "entry 2 of the tools: the name \"a\" is there twice"},
      {R"([{"name":"a","inputSchema":5}])", "entry 1 of the tools: \"inputSchema\" must be an object"},
      {R"([{"name":"a","error":5}])", "entry 1 of the tools: \"error\" must be a text"},
      {R"([{"name":"a","delay_ms":-1}])",
       "entry 1 of the tools: \"delay_ms\" must be a number from 0 to 600000"},
  };
  for (const auto& [text, message] : bad) {
    const auto tools = parse_tools(text);
    ASSERT_FALSE(tools) << text;
    EXPECT_EQ(tools.error().message, message);
  }
  EXPECT_FALSE(read_tools("/nonexistent/tools.json"));
}

TEST(Envelope, CarriesTheSession) {
  const auto text = json::parse(mcp_envelope(R"({"jsonrpc":"2.0"})", "a\"b"));
  EXPECT_EQ(text, json({{"session_id", "a\"b"}, {"type", "mcp"}, {"payload", {{"jsonrpc", "2.0"}}}}));
}

}  // namespace
}  // namespace parley::device
