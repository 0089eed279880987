#include "parley/mcp/json_rpc.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "parley/core/json_text.hpp"
#include "parley/core/text.hpp"

namespace parley::mcp {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxBatch = 256;
constexpr std::size_t kMaxText = 300;

Error invalid(std::string why) {
  return {Errc::invalid_input, "the server's answer is no JSON-RPC: " + std::move(why)};
}

std::string text(const json& message) {
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

RpcError read_error(const json& error) {
  RpcError out;
  if (error.is_string()) out.message = error.get<std::string>();
  if (!error.is_object()) return out;
  if (const auto code = error.find("code"); code != error.end() && code->is_number()) {
    constexpr double kLimit = std::numeric_limits<int>::max();
    out.code = static_cast<int>(std::clamp(code->get<double>(), -kLimit, kLimit));
  }
  if (const auto said = error.find("message"); said != error.end() && said->is_string())
    out.message = said->get<std::string>();
  if (const auto data = error.find("data"); data != error.end()) out.data = *data;
  return out;
}

Result<RpcMessage> read_message(json value) {
  if (!value.is_object()) return invalid("a message is not an object");
  const auto version = value.find("jsonrpc");
  if (version == value.end() || *version != "2.0") return invalid("\"jsonrpc\" is not \"2.0\"");
  RpcMessage message;
  if (const auto id = value.find("id"); id != value.end()) message.id = std::move(*id);
  if (!message.id.is_null() && !message.id.is_number_integer() && !message.id.is_string())
    return invalid("an id is neither a whole number nor a text");
  const auto take = [&](const char* key) {
    const auto found = value.find(key);
    return found == value.end() ? json() : std::move(*found);
  };
  if (const auto method = value.find("method"); method != value.end()) {
    if (!method->is_string()) return invalid("a method is not a text");
    message.kind = message.id.is_null() ? RpcMessage::Kind::notification : RpcMessage::Kind::request;
    message.method = method->get<std::string>();
    message.body = take("params");
  } else if (value.contains("error")) {
    message.kind = RpcMessage::Kind::error;
    message.error = read_error(value["error"]);
  } else if (value.contains("result") && !message.id.is_null()) {
    message.kind = RpcMessage::Kind::result;
    message.body = take("result");
  } else {
    return invalid("a message is neither request, result nor error");
  }
  return message;
}

}  // namespace

Result<std::vector<RpcMessage>> parse_rpc(std::string_view input) {
  if (nests_deeper(input, kMaxDepth))
    return invalid("it nests deeper than " + std::to_string(kMaxDepth) + " levels");
  auto value = json::parse(input, nullptr, false);
  if (value.is_discarded()) return invalid("it is not JSON");
  std::vector<RpcMessage> messages;
  if (!value.is_array()) {
    auto message = read_message(std::move(value));
    if (!message) return message.error();
    messages.push_back(std::move(*message));
    return messages;
  }
  if (value.empty() || value.size() > kMaxBatch) return invalid("a batch is empty or too long");
  for (auto& item : value) {
    auto message = read_message(std::move(item));
    if (!message) return message.error();
    messages.push_back(std::move(*message));
  }
  return messages;
}

std::string rpc_request(std::int64_t id, const std::string& method, const json& params) {
  return text({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
}

std::string rpc_notification(const std::string& method, const json& params) {
  json message = {{"jsonrpc", "2.0"}, {"method", method}};
  if (!params.is_null()) message["params"] = params;
  return text(message);
}

std::string rpc_result(const json& id, const json& result) {
  return text({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
}

std::string rpc_error(const json& id, int code, const std::string& message) {
  return text({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}});
}

std::string describe(const RpcError& error) {
  std::string said;
  for (const char c : head(error.message, kMaxText))
    said += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  if (said.empty()) said = "an error without a message";
  return error.code == 0 ? said : said + " (" + std::to_string(error.code) + ")";
}

}  // namespace parley::mcp
