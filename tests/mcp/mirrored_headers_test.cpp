#include "parley/mcp/mirrored_headers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parley/mcp/elicitation.hpp"

namespace parley::mcp {
namespace {

using nlohmann::json;

json object_with(json property) {
  return {{"type", "object"}, {"properties", {{"a", std::move(property)}}}};
}

std::string first_value(json argument) {
  const auto headers =
      headers_for({{{"a"}, "Mcp-Param-A"}}, {{"a", std::move(argument)}, {"b", "not asked for"}});
  return headers.empty() ? "(none)" : headers.front().name + ": " + headers.front().value;
}

TEST(MirroredHeaders, AreFoundBelowProperties) {
  const auto schema = json::parse(R"({"type":"object","properties":{
      "region":{"type":"string","x-mcp-header":"Region"},
      "deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},
      "plain":{"type":"string"}}})");
  const auto found = mirrored_headers(schema);
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, testing::UnorderedElementsAre(MirroredHeader{{"region"}, "Mcp-Param-Region"},
                                                    MirroredHeader{{"deep", "n"}, "Mcp-Param-N"}));
  const auto headers = headers_for(*found, json::parse(R"({"region":"eu","deep":{"n":3}})"));
  ASSERT_EQ(headers.size(), 2U);
  EXPECT_TRUE(headers_for(*found, json::parse(R"({"region":null,"deep":7})")).empty());
  EXPECT_TRUE(headers_for(*found, json::array()).empty());
  EXPECT_TRUE(headers_for(*found, nullptr).empty());
}

TEST(MirroredHeaders, MalformedOnesSpoilTheTool) {
  for (const char* property :
       {R"({"type":"string","x-mcp-header":""})", R"({"type":"string","x-mcp-header":"a b"})",
        R"({"type":"string","x-mcp-header":"a\r\nb"})", R"({"type":"string","x-mcp-header":"é"})",
        R"({"type":"string","x-mcp-header":7})", R"({"type":"string","x-mcp-header":null})",
        R"({"type":"number","x-mcp-header":"A"})", R"({"type":"object","x-mcp-header":"A"})",
        R"({"type":["string","null"],"x-mcp-header":"A"})", R"({"x-mcp-header":"A"})",
        R"({"type":"array","items":{"type":"string","x-mcp-header":"A"}})",
        R"({"items":[{"type":"string","x-mcp-header":"A"}]})",
        R"({"anyOf":[{"type":"string","x-mcp-header":"A"}]})",
        R"({"not":{"properties":{"q":{"type":"string","x-mcp-header":"A"}}}})",
        R"({"additionalProperties":{"type":"string","x-mcp-header":"A"}})",
        R"({"patternProperties":{"^a":{"type":"string","x-mcp-header":"A"}}})",
        R"({"$defs":{"d":{"type":"string","x-mcp-header":"A"}}})"}) {
    const auto found = mirrored_headers(object_with(json::parse(property)));
    ASSERT_FALSE(found) << property;
    EXPECT_EQ(found.error().code, Errc::invalid_input);
  }
  EXPECT_FALSE(mirrored_headers({{"type", "string"}, {"x-mcp-header", "Root"}}));
  EXPECT_FALSE(mirrored_headers(json::parse(R"({"properties":{"a":{"type":"string","x-mcp-header":"Same"},
      "b":{"type":"string","x-mcp-header":"sAME"}}})")));
}

TEST(MirroredHeaders, SchemasThatAreNoneHaveNone) {
  for (const char* schema : {"{}", "[]", "7", R"({"properties":[1]})", R"({"properties":{"a":7}})",
                             R"({"items":7,"anyOf":"x","$defs":[{"x-mcp-header":5}]})"}) {
    const auto found = mirrored_headers(json::parse(schema));
    ASSERT_TRUE(found) << schema;
    EXPECT_TRUE(found->empty());
  }
}

TEST(MirroredHeaders, ADeepSchemaIsReadOnce) {
  json schema = {{"type", "string"}};
  for (int i = 0; i < 60; ++i) schema = {{"items", std::move(schema)}};
  EXPECT_TRUE(mirrored_headers(schema));  // Reading each level twice would take years.
}

TEST(MirroredHeaders, ValuesAreWrittenPlainlyOrEncoded) {
  EXPECT_EQ(first_value("eu west"), "Mcp-Param-A: eu west");
  EXPECT_EQ(first_value(true), "Mcp-Param-A: true");
  EXPECT_EQ(first_value(-7), "Mcp-Param-A: -7");
  EXPECT_EQ(first_value(7.0), "Mcp-Param-A: 7");
  EXPECT_EQ(first_value(18446744073709551615ULL), "Mcp-Param-A: 18446744073709551615");
  EXPECT_EQ(first_value(7.5), "(none)");
  EXPECT_EQ(first_value(1e300), "(none)");
  EXPECT_EQ(first_value(nullptr), "(none)");
  EXPECT_EQ(first_value(json::array({1})), "(none)");
  EXPECT_EQ(first_value(""),
            "Mcp-Param-A: =?base64?"
            "?=");
  EXPECT_EQ(first_value(" a"), "Mcp-Param-A: =?base64?IGE=?=");
  EXPECT_EQ(first_value("a\t"), "Mcp-Param-A: =?base64?YQk=?=");
  EXPECT_EQ(first_value("ü"), "Mcp-Param-A: =?base64?w7w=?=");
  EXPECT_EQ(first_value("a\r\nEvil: 1"), "Mcp-Param-A: =?base64?YQ0KRXZpbDogMQ==?=");
  EXPECT_EQ(first_value("=?base64?YQ==?="), "Mcp-Param-A: =?base64?PT9iYXNlNjQ/WVE9PT89?=");
  EXPECT_EQ(first_value("=?base64?YQ=="), "Mcp-Param-A: =?base64?YQ==");
}

TEST(Elicitation, AcceptsWithTheDefaults) {
  const auto params = json::parse(R"({"mode":"form","requestedSchema":{"type":"object","required":["size"],
      "properties":{"size":{"type":"integer","default":3},"note":{"type":"string"},"odd":5}}})");
  EXPECT_EQ(elicited(params), json::parse(R"({"action":"accept","content":{"size":3}})"));
}

TEST(Elicitation, DeclinesWhatOnlyAPersonCanAnswer) {
  for (const char* params :
       {"null", "[]", "{}", R"({"mode":"url","url":"https://evil"})", R"({"requestedSchema":7})",
        R"({"requestedSchema":{"properties":{}}})", R"({"requestedSchema":{"properties":[1]}})",
        R"({"requestedSchema":{"properties":{"a":{"type":"boolean"}}}})",
        R"({"requestedSchema":{"required":["b"],"properties":{"a":{"default":1}}}})",
        R"({"requestedSchema":{"required":[7],"properties":{"a":{"default":1}}}})"}) {
    EXPECT_EQ(elicited(json::parse(params)), json::parse(R"({"action":"decline"})")) << params;
  }
}

}  // namespace
}  // namespace parley::mcp
