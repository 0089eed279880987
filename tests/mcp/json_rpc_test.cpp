#include "parley/mcp/json_rpc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parley/core/json_text.hpp"
#include "parley/core/text.hpp"

namespace parley::mcp {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using Kind = RpcMessage::Kind;

RpcMessage one(const std::string& text) {
  auto messages = parse_rpc(text);
  EXPECT_TRUE(messages) << text;
  return messages && messages->size() == 1 ? std::move(messages->front()) : RpcMessage{};
}

TEST(JsonRpc, TellsTheFourKindsApart) {
  EXPECT_EQ(one(R"({"jsonrpc":"2.0","id":0,"method":"ping"})").kind, Kind::request);
  EXPECT_EQ(one(R"({"jsonrpc":"2.0","id":"a-1","method":"ping","params":{"x":1}})").id, "a-1");
  EXPECT_EQ(one(R"({"jsonrpc":"2.0","method":"n"})").kind, Kind::notification);
  EXPECT_EQ(one(R"({"jsonrpc":"2.0","method":"n","id":null})").kind, Kind::notification);
  const auto result = one(R"({"jsonrpc":"2.0","id":7,"result":{"a":[1]}})");
  EXPECT_EQ(result.kind, Kind::result);
  EXPECT_EQ(result.body, json::parse(R"({"a":[1]})"));
  EXPECT_EQ(one(R"({"jsonrpc":"2.0","id":7,"result":null})").kind, Kind::result);
  const auto error = one(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no","data":[1]}})");
  EXPECT_EQ(error.kind, Kind::error);
  EXPECT_TRUE(error.id.is_null());
  EXPECT_EQ(error.error.code, -32022);
  EXPECT_EQ(error.error.data, json::array({1}));
}

TEST(JsonRpc, ReadsErrorsOfAnyForm) {
  EXPECT_EQ(one(R"({"jsonrpc":"2.0","id":1,"error":"broken"})").error.message, "broken");
  EXPECT_EQ(one(R"({"jsonrpc":"2.0","id":1,"error":{"code":1e300,"message":7}})").error.code, 2147483647);
  EXPECT_EQ(one(R"({"jsonrpc":"2.0","id":1,"error":{"code":-1e300}})").error.code, -2147483647);
  EXPECT_EQ(one(R"({"jsonrpc":"2.0","id":1,"error":{"code":"x"}})").error.code, 0);
  EXPECT_EQ(one(R"({"jsonrpc":"2.0","id":1,"error":null})").kind, Kind::error);
}

TEST(JsonRpc, ReadsBatches) {
  const auto messages = parse_rpc(R"([{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","id":1,"result":{}}])");
  ASSERT_TRUE(messages);
  ASSERT_EQ(messages->size(), 2U);
  EXPECT_EQ((*messages)[1].kind, Kind::result);
}

TEST(JsonRpc, RefusesWhatIsNone) {
  std::string long_batch = "[";
  for (int i = 0; i < 257; ++i) long_batch += R"({"jsonrpc":"2.0","method":"a"},)";
  long_batch.back() = ']';
  for (const std::string& text : {std::string(),
                                  std::string("{"),
                                  std::string("nonsense"),
                                  std::string("<html>"),
                                  std::string("[]"),
                                  std::string("[1]"),
                                  std::string("1"),
                                  std::string("null"),
                                  std::string(R"({"id":1,"result":{}})"),
                                  std::string(R"({"jsonrpc":"1.0","id":1,"result":{}})"),
                                  std::string(R"({"jsonrpc":2.0,"id":1,"result":{}})"),
                                  std::string(R"({"jsonrpc":"2.0","id":1.5,"result":{}})"),
                                  std::string(R"({"jsonrpc":"2.0","id":{},"result":{}})"),
                                  std::string(R"({"jsonrpc":"2.0","result":{}})"),
                                  std::string(R"({"jsonrpc":"2.0","id":null,"result":{}})"),
                                  std::string(R"({"jsonrpc":"2.0","id":1})"),
                                  std::string(R"({"jsonrpc":"2.0","id":1,"method":5})"),
                                  std::string(R"({"jsonrpc":"2.0","method":"a"} trailing)"),
                                  std::string("{\"jsonrpc\":\"2.0\",\"method\":\"\xFF\"}"),
                                  std::string(100'000, '['),
                                  long_batch}) {
    const auto messages = parse_rpc(text);
    ASSERT_FALSE(messages) << text.substr(0, 80);
    EXPECT_EQ(messages.error().code, Errc::invalid_input);
    EXPECT_THAT(messages.error().message, HasSubstr("is no JSON-RPC: "));
  }
}

TEST(JsonRpc, WritesMessagesThatItReads) {
  const auto request = one(rpc_request(9, "tools/call", {{"name", "a\nb"}}));
  EXPECT_EQ(request.id, 9);
  EXPECT_EQ(request.body["name"], "a\nb");
  EXPECT_EQ(rpc_request(9, "x", {{"name", "a\nb"}}).find('\n'), std::string::npos);
  EXPECT_EQ(one(rpc_notification("n", nullptr)).kind, Kind::notification);
  EXPECT_THAT(rpc_notification("n", nullptr), testing::Not(HasSubstr("params")));
  EXPECT_EQ(one(rpc_result("id", {{"action", "decline"}})).body["action"], "decline");
  EXPECT_EQ(one(rpc_error(0, -32601, "no")).error.code, -32601);
  EXPECT_THAT(rpc_error(0, -1, "\xFF"), HasSubstr("\xEF\xBF\xBD"));
}

TEST(JsonRpc, DescribesErrorsInOneShortLine) {
  EXPECT_EQ(describe({-32602, "a\r\nb\x7F", {}}), "a  b  (-32602)");
  EXPECT_EQ(describe({0, "", {}}), "an error without a message");
  std::string long_text(299, 'x');
  long_text += "ü and more";
  EXPECT_EQ(describe({0, long_text, {}}), std::string(299, 'x')) << "not half of a character";
}

TEST(JsonText, CountsBracketsOutsideOfStrings) {
  EXPECT_FALSE(nests_deeper(R"([[["[[[[[\"[[["]]])", 3));
  EXPECT_TRUE(nests_deeper(R"([[{"a":[]}]])", 3));
  EXPECT_FALSE(nests_deeper(R"([[],[],[],[]])", 2));
  EXPECT_FALSE(nests_deeper("", 0));
}

TEST(Text, IsNotCutWithinACharacter) {
  EXPECT_EQ(head("aü", 3), "aü");
  EXPECT_EQ(head("aü", 2), "a");
  EXPECT_EQ(head("€", 2), "");
  EXPECT_EQ(head("", 0), "");
}

}  // namespace
}  // namespace parley::mcp
