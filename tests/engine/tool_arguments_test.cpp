#include "parley/engine/tool_arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parley::engine {
namespace {

using nlohmann::json;
using testing::HasSubstr;

ToolSpec tool(json schema) {
  ToolSpec spec;
  spec.name = "set_volume";
  spec.input_schema = std::move(schema);
  return spec;
}

const json kVolume = R"({"type": "object", "required": ["level"], "additionalProperties": false,
  "properties": {"level": {"type": "integer", "minimum": 0, "maximum": 100}, "format": {"enum": ["a", "b"]}}})"_json;

TEST(ToolArgumentsTest, WhatFitsIsTaken) {
  EXPECT_TRUE(check_arguments(tool(kVolume), {{"level", 50}}));
  EXPECT_TRUE(check_arguments(tool(kVolume), {{"level", 0}, {"format", "a"}}));
  EXPECT_TRUE(check_arguments(tool(json::object()), {{"any", {1, 2}}}));
  EXPECT_TRUE(check_arguments(tool(nullptr), json::object()));
}

TEST(ToolArgumentsTest, WhatDoesNotFitIsRefusedWithAReason) {
  const auto why = [](const json& arguments) {
    const auto checked = check_arguments(tool(kVolume), arguments);
    EXPECT_FALSE(checked) << arguments;
    return checked ? "" : checked.error().message;
  };
  EXPECT_THAT(why(json::object()), HasSubstr("level"));
  EXPECT_THAT(why({{"level", "loud"}}), HasSubstr("level: "));
  EXPECT_THAT(why({{"level", 101}}), HasSubstr("level: "));
  EXPECT_THAT(why({{"level", 1.5}}), HasSubstr("level: "));
  EXPECT_THAT(why({{"level", 1}, {"format", "c"}}), HasSubstr("format: "))
      << "an argument's name is no keyword";
  EXPECT_THAT(why({{"level", 1}, {"other", 1}}), HasSubstr("set_volume"));
  EXPECT_THAT(why(json::array()), HasSubstr("not a JSON object"));
  EXPECT_THAT(why(nullptr), HasSubstr("not a JSON object"));
  EXPECT_THAT(why("{"), HasSubstr("not a JSON object"));
}

TEST(ToolArgumentsTest, ABadSchemaHarmsNobody) {
  EXPECT_TRUE(check_arguments(tool({{"type", 5}}), {{"a", 1}}));
  EXPECT_TRUE(check_arguments(tool({{"properties", 5}}), {{"a", 1}}));
  EXPECT_TRUE(check_arguments(tool({{"$ref", "#"}}), {{"a", 1}}));
  EXPECT_TRUE(check_arguments(tool({{"properties", {{"a", {{"pattern", "(a+)+$"}}}}}}),
                              {{"a", std::string(64, 'a') + "!"}}));
  json deep = {{"type", "object"}};
  for (int i = 0; i < 2000; ++i) deep = json{{"properties", {{"a", std::move(deep)}}}};
  EXPECT_TRUE(check_arguments(tool(std::move(deep)), {{"a", {{"a", 1}}}}));
}

}  // namespace
}  // namespace parley::engine
