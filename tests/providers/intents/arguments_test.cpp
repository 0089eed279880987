#include "providers/intents/arguments.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace parley::providers::intents {
namespace {

using nlohmann::json;

Step step_with(const json& arguments) {
  Step out{.tool = "t"};
  for (const auto& [name, value] : arguments.items())
    out.arguments.emplace_back(name, ArgumentValue::parse(value).value());
  return out;
}

struct Case {
  std::string properties;
  json arguments;
  json expected;  ///< null: refused
};

TEST(Arguments, AreTypedByTheSchema) {
  const json scope =
      json::parse(R"({"n": 7, "text": "12", "real": 2.5, "whole": 3.0, "on": true, "word": "red"})");
  const std::vector<Case> cases{
      {R"({"a": {"type": "integer"}})", {{"a", "{n}"}}, {{"a", 7}}},
      {R"({"a": {"type": "integer"}})", {{"a", "{text}"}}, {{"a", 12}}},
      {R"({"a": {"type": "integer"}})", {{"a", "{whole}"}}, {{"a", 3}}},
      {R"({"a": {"type": "integer"}})", {{"a", "{real}"}}, nullptr},
      {R"({"a": {"type": "integer"}})", {{"a", "{word}"}}, nullptr},
      {R"({"a": {"type": "integer", "minimum": 0, "maximum": 5}})", {{"a", "{n}"}}, nullptr},
      {R"({"a": {"type": "integer", "minimum": 0, "maximum": 5}})", {{"a", -1}}, nullptr},
      {R"({"a": {"type": "number"}})", {{"a", "2.5"}}, {{"a", 2.5}}},
      {R"({"a": {"type": "number"}})", {{"a", "1e999"}}, nullptr},
      {R"({"a": {"type": "boolean"}})", {{"a", "true"}}, {{"a", true}}},
      {R"({"a": {"type": "boolean"}})", {{"a", "yes"}}, nullptr},
      {R"({"a": {"type": "string"}})", {{"a", "{n}"}}, {{"a", "7"}}},
      {R"({"a": {"type": "string"}})", {{"a", "{text}"}}, {{"a", "12"}}},
      {R"({"a": {"type": ["string", "integer"]}})", {{"a", "{n}"}}, {{"a", 7}}},
      {R"({"a": {"type": "string", "enum": ["red", "green"]}})", {{"a", "{word}"}}, {{"a", "red"}}},
      {R"({"a": {"type": "string", "enum": ["blue"]}})", {{"a", "{word}"}}, nullptr},
      {R"({"a": {}})", {{"a", "{n}"}}, {{"a", 7}}},
      {R"({"a": {"type": "integer"}, "b": {"type": "string"}})", {{"a", 1}, {"b", "{gone}"}}, {{"a", 1}}},
      {R"({"a": {"type": "integer"}})", {{"a", "{gone}"}}, nullptr},  // it is required
  };
  for (const Case& one : cases) {
    const auto tool = test::tool("t", one.properties, R"(["a"])");
    const auto made = make_arguments(step_with(one.arguments), tool, scope);
    if (one.expected.is_null()) {
      EXPECT_FALSE(made) << one.properties << one.arguments;
      if (!made) EXPECT_EQ(made.error().code, Errc::invalid_input);
    } else {
      ASSERT_TRUE(made) << one.properties << one.arguments << made.error().message;
      EXPECT_EQ(*made, one.expected) << one.properties;
    }
  }
}

TEST(Arguments, NeedNoSchema) {
  for (const json& schema : {json(nullptr), json::object()}) {
    const engine::ToolSpec tool{.name = "t", .wire_name = "t", .description = "", .input_schema = schema};
    EXPECT_EQ(make_arguments(step_with({{"a", 1}}), tool, {}).value(), (json{{"a", 1}}));
  }
}

TEST(Arguments, ASchemaThatCannotBeCheckedIsNotTrusted) {
  for (const char* schema : {R"({"type": 5})"}) {
    const engine::ToolSpec tool{
        .name = "t", .wire_name = "t", .description = "", .input_schema = json::parse(schema)};
    const auto made = make_arguments(step_with({{"a", 1}}), tool, {});
    ASSERT_FALSE(made) << schema;
    EXPECT_EQ(made.error().code, Errc::unsupported) << schema;
  }
}

TEST(Arguments, ASchemaCannotKillOrHoldUpTheServer) {
  for (
      const auto* schema :
      {R"({"$ref": "#"})", R"({"allOf": [{"$ref": "#"}]})",
       R"({"properties": {"a": {"$ref": "#/definitions/d"}}, "definitions": {"d": {"$ref": "#/definitions/d"}}})",
       R"({"properties": {"a": {"type": "string", "pattern": "(a+)+$"}}})"}) {
    const engine::ToolSpec tool{
        .name = "t", .wire_name = "t", .description = "", .input_schema = json::parse(schema)};
    const auto made = make_arguments(step_with({{"a", std::string(40, 'a') + "!"}}), tool, {});
    EXPECT_TRUE(made) << schema;
  }
}

}  // namespace
}  // namespace parley::providers::intents
