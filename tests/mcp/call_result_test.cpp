#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parley/mcp/tool.hpp"

namespace parley::mcp {
namespace {

using nlohmann::json;

constexpr std::size_t kLimit = std::size_t{16} * 1024;

std::string text_of(const std::string& result) {
  const auto read = read_call_result(json::parse(result));
  return (read.failed ? "failed: " : "") + read.text;
}

Tool named(std::string name, std::string description = {}) {
  Tool tool;
  tool.name = std::move(name);
  tool.description = std::move(description);
  return tool;
}

std::string content(const std::string& items) {
  return text_of(R"({"content":[)" + items + "]}");
}

TEST(CallResult, JoinsItsTexts) {
  EXPECT_EQ(content(R"({"type":"text","text":"a"},{"type":"text","text":""},{"type":"text","text":"b"})"),
            "a\nb");
  EXPECT_EQ(text_of(R"({"content":"plain"})"), "plain");
  EXPECT_EQ(content(""), "");
  EXPECT_EQ(text_of(R"({"isError":true,"content":[{"type":"text","text":"no"}]})"), "failed: no");
  EXPECT_EQ(text_of(R"({"isError":true,"content":[]})"), "failed: The tool failed and did not say why.");
  EXPECT_EQ(text_of(R"({"isError":"yes","content":"x"})"), "x");
}

TEST(CallResult, StructuredContentStandsInForText) {
  EXPECT_EQ(text_of(R"({"structuredContent":{"b":[1, 2],"a":"ü"}})"), R"({"a":"ü","b":[1,2]})");
  EXPECT_EQ(text_of(R"({"content":[],"structuredContent":[1]})"), "[1]");
  EXPECT_EQ(text_of(R"({"content":[{"type":"text","text":""}],"structuredContent":7})"), "7");
  EXPECT_EQ(text_of(R"({"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}})"),
            R"({"a":1})");
  EXPECT_EQ(text_of(R"({"content":[{"type":"image","mimeType":"image/png"}],"structuredContent":{"a":1}})"),
            "{\"a\":1}\n[an image, image/png]");
  EXPECT_EQ(text_of(R"({"structuredContent":{"why":"x"},"isError":true})"), R"(failed: {"why":"x"})");
}

TEST(CallResult, NamesWhatCannotBeRead) {
  EXPECT_EQ(content(R"({"type":"image","data":"QUJD","mimeType":"image/png"})"), "[an image, image/png]");
  EXPECT_EQ(content(R"({"type":"image","image":{"data":"QUJD","mimeType":"image/jpeg"}})"),
            "[an image, image/jpeg]");
  EXPECT_EQ(content(R"({"type":"image"})"), "[an image, of unknown type]");
  EXPECT_EQ(content(R"({"type":"audio","data":"QUJD","mimeType":"audio/wav"})"), "[a sound, audio/wav]");
  EXPECT_EQ(content(R"({"type":"audio"})"), "[a sound]");
  EXPECT_EQ(content(R"({"type":"hologram","data":"QUJD"})"), "[hologram]");
}

TEST(CallResult, NamesLinksWithoutTheirAddress) {
  EXPECT_EQ(content(R"({"type":"resource_link","uri":"http://10.0.0.1/x","name":"a.txt"})"),
            "[a link, a.txt]");
  EXPECT_EQ(content(R"({"type":"resource_link","uri":"u","name":"a.txt","title":"Notes"})"),
            "[a link, Notes (a.txt)]");
  EXPECT_EQ(content(R"({"type":"resource_link","uri":"u","title":"Notes"})"), "[a link, Notes]");
  EXPECT_EQ(content(R"({"type":"resource_link","name":"N","title":"N"})"), "[a link, N]");
  EXPECT_EQ(content(R"({"type":"resource_link","name":7})"), "[a link]");
}

TEST(CallResult, ReadsTheTextOfEmbeddedResources) {
  EXPECT_EQ(content(R"({"type":"resource","resource":{"uri":"u","text":"hello"}})"), "hello");
  EXPECT_EQ(content(R"({"type":"resource","resource":{"blob":"QUJD","mimeType":"application/pdf"}})"),
            "[a document, application/pdf]");
  EXPECT_EQ(content(R"({"type":"resource","resource":7})"), "[a document]");
  EXPECT_EQ(content(R"({"type":"resource"})"), "[a document]");
}

TEST(CallResult, MalformedPartsAreLeftOut) {
  EXPECT_EQ(content(R"(7,null,"x",[],{},{"type":5},{"type":"text","text":5},{"text":"no type"})"), "");
}

TEST(CallResult, MalformedResultsAreFailures) {
  for (const char* result :
       {"null", "7", "\"x\"", "[]", "{}", R"({"content":null})", R"({"content":7})", R"({"content":{}})",
        R"({"structuredContent":null})", R"({"content":7,"structuredContent":{"a":1}})"}) {
    EXPECT_EQ(text_of(result), "failed: The tool gave a malformed result.") << result;
  }
}

TEST(CallResult, HugeOnesAreCutAndSaySo) {
  const std::string mark = " […]";
  const auto of = [](const json& result) { return read_call_result(result).text; };
  const auto text = [](std::string words) -> json { return {{"type", "text"}, {"text", std::move(words)}}; };
  EXPECT_EQ(of({{"content", {text(std::string(kLimit, 'x'))}}}), std::string(kLimit, 'x'));
  EXPECT_EQ(of({{"content", {text(std::string(kLimit + 1, 'x'))}}}), std::string(kLimit, 'x') + mark);
  EXPECT_EQ(of({{"content", {text(std::string(kLimit - 1, 'x') + "ü")}}}),
            std::string(kLimit - 1, 'x') + mark);
  EXPECT_EQ(of({{"content", {text(std::string(kLimit, 'x')), text("y"), text("z")}}}),
            std::string(kLimit, 'x') + "\n" + mark);
  EXPECT_EQ(of({{"content", std::string(kLimit + 1, 'x')}}).size(), kLimit + mark.size());
  EXPECT_EQ(of({{"structuredContent", {{"a", std::string(kLimit, 'x')}}}}).size(), kLimit + mark.size());
  EXPECT_EQ(
      of({{"content", {{{"type", "resource"}, {"resource", {{"text", std::string(kLimit + 1, 'x')}}}}}}})
          .size(),
      kLimit + mark.size());
  EXPECT_LE(of({{"content", {{{"type", std::string(kLimit, 'x')}}}}}).size(), 110U);
  json many = json::array();
  for (int i = 0; i < 100'000; ++i) many.push_back(text("line"));
  EXPECT_LE(of({{"content", many}}).size(), kLimit + 1 + mark.size());
}

TEST(ToolNames, AServerCannotNameToolsTwice) {
  const auto stolen = model_name("web", "a.b", true).substr(5);
  const std::vector<Tool> tools = {named("a.b"), named("a_b"), named(stolen)};
  const auto set = make_tool_set({{"web", &tools}});
  ASSERT_EQ(set->tools.size(), 2U);
  EXPECT_NE(set->tools[0].name, set->tools[1].name);
  EXPECT_EQ(set->find(model_name("web", "a.b", true))->wire_name, "a.b");
}

TEST(ToolNames, ServersWhoseKeysRunIntoTheirToolsStayApart) {
  const std::vector<Tool> first = {named("_b")};
  const std::vector<Tool> second = {named("b")};
  const auto set = make_tool_set({{"a", &first}, {"a_", &second}});
  ASSERT_EQ(set->tools.size(), 2U);
  EXPECT_NE(set->tools[0].name, set->tools[1].name);
}

TEST(ToolNames, DifferentSetsHaveDifferentIds) {
  using namespace std::string_literals;
  const std::vector<Tool> one = {named("a", "x\0y"s)};
  const std::vector<Tool> two = {named("a", "x"s)};
  const std::vector<Tool> three = {named("a", "x\0"s)};
  EXPECT_NE(make_tool_set({{"s", &one}})->id, make_tool_set({{"s", &two}})->id);
  EXPECT_NE(make_tool_set({{"s", &two}})->id, make_tool_set({{"s", &three}})->id);
  EXPECT_EQ(make_tool_set({{"s", &one}}), make_tool_set({{"s", &one}}));
}

}  // namespace
}  // namespace parley::mcp
