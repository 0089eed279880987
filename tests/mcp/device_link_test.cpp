#include "parley/mcp/device_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/world.hpp"
#include "parley/mcp/host.hpp"
#include "parley/mcp/tool_server.hpp"

namespace parley::mcp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

struct DeviceLinkTest : testing::Test {
  test::World world;
  std::vector<json> sent;
  std::function<void(const json&)> device = [](const json&) {};
  DeviceLink link{world.io.get_executor(), world.scheduler, [this](const json& payload) {
                    sent.push_back(payload);
                    device(payload);
                  }};

  void answer(const json& request, json result) {
    link.on_message({{"jsonrpc", "2.0"}, {"id", request["id"]}, {"result", std::move(result)}});
  }
  static json tool(const std::string& name) {
    return {{"name", name}, {"description", "d"}, {"inputSchema", {{"type", "object"}}}};
  }
  engine::ToolResult result_of(std::unique_ptr<CallStream> call) {
    auto outcome = world.run(call->next());
    EXPECT_TRUE(outcome && *outcome && **outcome);
    return ***outcome;
  }
};

TEST_F(DeviceLinkTest, InitialisesWithIntegerIdsAndObjects) {
  device = [this](const json& message) {
    if (message.value("method", "") == "initialize") answer(message, {{"protocolVersion", "2024-11-05"}});
  };
  const auto done = world.run(link.initialize({"http://host/vision", "secret"}, 1s));
  ASSERT_TRUE(done && done->has_value());
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_TRUE(sent[0]["id"].is_number_integer());
  EXPECT_EQ(sent[0]["params"]["capabilities"]["vision"]["url"], "http://host/vision");
  EXPECT_EQ(sent[1]["method"], "notifications/initialized");
  EXPECT_FALSE(sent[1].contains("id"));
}

TEST_F(DeviceLinkTest, ListsPageByPage) {
  for (const auto& end : {json(nullptr), json(""), json()}) {
    sent.clear();
    device = [&](const json& message) {
      const auto cursor = message["params"]["cursor"].get<std::string>();
      json page = {{"tools", json::array({tool("self.t" + cursor)})}};
      if (cursor.empty()) {
        page["nextCursor"] = "2";
      } else if (!end.is_null() || sent.size() % 2 == 0) {
        page["nextCursor"] = end;
      }
      answer(message, page);
    };
    const auto tools = world.run(link.list_tools(false, 1s));
    ASSERT_TRUE(tools && tools->has_value());
    ASSERT_EQ((*tools)->size(), 2U);
    EXPECT_EQ((**tools)[1].name, "self.t2");
    EXPECT_FALSE(sent[0]["params"].contains("withUserTools"));
  }
}

TEST_F(DeviceLinkTest, UserToolsAreListedOnlyWhenAskedForAndNeverShownToTheModel) {
  device = [this](const json& message) {
    auto reboot = tool("self.reboot");
    reboot["annotations"] = {{"audience", {"user"}}};
    answer(message, {{"tools", {tool("self.lamp"), reboot}}});
  };
  const auto tools = world.run(link.list_tools(true, 1s));
  EXPECT_EQ(sent[0]["params"]["withUserTools"], true);
  ASSERT_EQ((*tools)->size(), 2U);
  const auto set = make_tool_set({{"", &**tools}});
  ASSERT_EQ(set->tools.size(), 1U);
  EXPECT_EQ(set->tools[0].wire_name, "self.lamp");
}

TEST_F(DeviceLinkTest, ARepeatedCursorEndsTheList) {
  device = [this](const json& message) {
    answer(message, {{"tools", {tool("a")}}, {"nextCursor", "again"}});
  };
  const auto tools = world.run(link.list_tools(false, 1s));
  ASSERT_TRUE(tools && tools->has_value());
  EXPECT_EQ(sent.size(), 2U);
}

TEST_F(DeviceLinkTest, EndlessListsAreCut) {
  int page = 0;
  device = [&](const json& message) {
    json tools = json::array();
    for (int i = 0; i < 10; ++i) tools.push_back(tool(std::to_string(page) + "." + std::to_string(i)));
    answer(message, {{"tools", tools}, {"nextCursor", std::to_string(++page)}});
  };
  const auto pages = world.run(link.list_tools(false, 1s));
  EXPECT_EQ(sent.size(), 64U);
  EXPECT_EQ((*pages)->size(), 640U);
}

TEST_F(DeviceLinkTest, MalformedListsAreErrorsAndMalformedToolsAreLeftOut) {
  for (const auto& bad :
       {json("text"), json(7), json::object(), json{{"tools", "none"}}, json{{"tools", nullptr}}}) {
    device = [&](const json& message) { answer(message, bad); };
    const auto tools = world.run(link.list_tools(false, 1s));
    ASSERT_TRUE(tools.has_value());
    EXPECT_EQ(tools->error().code, Errc::invalid_input) << bad;
  }
  device = [&](const json& message) {
    answer(message,
           {{"tools", {1, {{"name", 2}}, {{"name", ""}}, {{"name", "ok"}, {"inputSchema", "none"}}}}});
  };
  const auto tools = world.run(link.list_tools(false, 1s));
  ASSERT_EQ((*tools)->size(), 1U);
  EXPECT_TRUE((**tools)[0].input_schema.is_object());
}

TEST_F(DeviceLinkTest, ADeviceThatNeverAnswersTimesOut) {
  auto tools = world.run(link.list_tools(false, 3s));
  ASSERT_TRUE(tools.has_value());
  EXPECT_EQ(tools->error().code, Errc::timeout);
  const auto result = result_of(link.call("self.slow", json::object(), 5s));
  EXPECT_TRUE(result.failed);
  EXPECT_EQ(result.text, "the device did not answer in time");
  EXPECT_EQ(world.scheduler->armed(), 0U);
}

TEST_F(DeviceLinkTest, ResultsErrorsAndImagesComeBackAsText) {
  struct Case {
    json reply;
    std::string text;
    bool failed;
  };
  const std::vector<Case> cases = {
      {{{"result", {{"content", {{{"type", "text"}, {"text", "true"}}}}, {"isError", false}}}},
       "true",
       false},
      {{{"result", {{"content", {{{"type", "text"}, {"text", "no"}}}}, {"isError", true}}}}, "no", true},
      {{{"error", {{"message", "Unknown tool: x"}}}}, "Unknown tool: x", true},
      {{{"error", {{"code", -32603}, {"message", 5}}}}, "the device answered with an error", true},
      {{{"result", {{"content", {{{"type", "image"}, {"data", "AAAA"}, {"mimeType", "image/png"}}}}}}},
       "[an image, image/png]",
       false},
      {{{"result",
         {{"content", {{{"type", "image"}, {"image", {{"mimeType", "image/jpeg"}, {"data", "AA"}}}}}}}}},
       "[an image, image/jpeg]",
       false},
      {{{"result", "text"}}, "The tool gave a malformed result.", true},
      {{{"result", nullptr}}, "The tool gave a malformed result.", true},
      {json::object(), "the device's reply has neither a result nor an error", true},
  };
  for (const auto& [reply, text, failed] : cases) {
    device = [&](const json& message) {
      auto whole = reply;
      whole["jsonrpc"] = "2.0";
      whole["id"] = message["id"];
      link.on_message(whole);
    };
    const auto result = result_of(link.call("t", json::object(), 1s));
    EXPECT_EQ(result.text, text);
    EXPECT_EQ(result.failed, failed) << reply;
  }
}

TEST_F(DeviceLinkTest, SecondAndUnknownAnswersAreIgnored) {
  device = [this](const json& message) {
    answer(message, {{"content", {{{"type", "text"}, {"text", "first"}}}}});
    answer(message, {{"content", {{{"type", "text"}, {"text", "second"}}}}});
  };
  EXPECT_EQ(result_of(link.call("t", json::object(), 1s)).text, "first");
  EXPECT_TRUE(link.on_message({{"jsonrpc", "2.0"}, {"id", 4711}, {"result", json::object()}}));
  EXPECT_FALSE(link.on_message({{"jsonrpc", "2.0"}, {"id", "1"}, {"result", json::object()}}));
  EXPECT_FALSE(link.on_message({{"jsonrpc", "2.0"}}));
  EXPECT_FALSE(link.on_message(json::array()));
}

TEST_F(DeviceLinkTest, RequestsOfTheDeviceAreRefusedAndNotificationsNotAnswered) {
  EXPECT_TRUE(link.on_message({{"jsonrpc", "2.0"}, {"id", "x"}, {"method", "sampling/createMessage"}}));
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0]["error"]["code"], -32601);
  EXPECT_EQ(sent[0]["id"], "x");
  EXPECT_TRUE(link.on_message({{"jsonrpc", "2.0"}, {"method", "notifications/state_changed"}}));
  EXPECT_EQ(sent.size(), 1U);
}

TEST_F(DeviceLinkTest, AClosedLinkFailsEveryCall) {
  auto running = link.call("t", json::object(), 30s);
  link.close();
  EXPECT_EQ(result_of(std::move(running)).text, "the device is gone");
  EXPECT_EQ(result_of(link.call("t", json::object(), 30s)).text, "the device is not connected");
}

TEST_F(DeviceLinkTest, AnAbandonedCallLeavesNothingBehind) {
  link.call("t", json::object(), 30s).reset();
  EXPECT_EQ(world.scheduler->armed(), 0U);
  answer(sent[0], json::object());
}

TEST(ToolNameTest, NamesFitTheModelsAlphabetAndNeverCollide) {
  EXPECT_EQ(model_name("", "self.audio_speaker.set_volume"), "self_audio_speaker_set_volume");
  EXPECT_EQ(model_name("web", "search"), "web__search");
  const auto longer = model_name("", std::string(100, 'x'));
  EXPECT_EQ(longer.size(), 64U);
  EXPECT_NE(longer, model_name("", std::string(101, 'x')));
  Tool dot;
  dot.name = "a.b";
  Tool underscore;
  underscore.name = "a_b";
  const ToolList three = {dot, underscore, dot};
  const auto set = make_tool_set({{"", &three}});
  ASSERT_EQ(set->tools.size(), 2U);
  EXPECT_NE(set->tools[0].name, set->tools[1].name);
  const ToolList two = {dot, underscore};
  EXPECT_EQ(make_tool_set({{"", &two}}), set) << "equal lists are one object";
}

TEST_F(DeviceLinkTest, TheHostRoutesByModelNameAndRefusesUnknownOnes) {
  Host host(world.scheduler, "device", 30s);
  Tool lamp;
  lamp.name = "self.lamp.turn_on";
  host.set_device(&link, {lamp});
  device = [this](const json& message) {
    answer(message, {{"content", {{{"type", "text"}, {"text", "true"}}}}});
  };
  EXPECT_EQ(result_of(host.call({"1", "self_lamp_turn_on", json::object()})).text, "true");
  EXPECT_EQ(sent[0]["params"]["name"], "self.lamp.turn_on");
  EXPECT_TRUE(result_of(host.call({"2", "self.lamp.turn_on", json::object()})).failed);
  EXPECT_EQ(sent.size(), 1U);
  const auto malformed = result_of(host.call({"3", "self_lamp_turn_on", json::object(), "{\"on\":"}));
  EXPECT_TRUE(malformed.failed) << "the model is told, the device is not asked";
  EXPECT_NE(malformed.text.find("JSON object"), std::string::npos);
  EXPECT_EQ(sent.size(), 1U);
}

}  // namespace
}  // namespace parley::mcp
