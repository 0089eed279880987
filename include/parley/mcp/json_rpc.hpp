#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/core/error.hpp"

// JSON-RPC 2.0 as MCP uses it over HTTP.
namespace parley::mcp {

struct RpcError {
  int code = 0;
  std::string message;
  nlohmann::json data;
};

struct RpcMessage {
  enum class Kind { request, notification, result, error };
  Kind kind = Kind::notification;
  nlohmann::json id;    ///< a number or a text; null where the other side could not tell (errors)
  std::string method;   ///< of requests and notifications
  nlohmann::json body;  ///< `params` or `result`
  RpcError error;
};

/// What came back for a request: exactly one of the two.
struct RpcReply {
  nlohmann::json result;
  std::optional<RpcError> error = std::nullopt;
};

/// One message, or those of a batch. Errc::invalid_input: not JSON, nested over 64 levels, or no JSON-RPC.
Result<std::vector<RpcMessage>> parse_rpc(std::string_view text);

/// The texts of messages, on one line; invalid UTF-8 becomes U+FFFD.
std::string rpc_request(std::int64_t id, const std::string& method, const nlohmann::json& params);
std::string rpc_notification(const std::string& method, const nlohmann::json& params);
std::string rpc_result(const nlohmann::json& id, const nlohmann::json& result);
std::string rpc_error(const nlohmann::json& id, int code, const std::string& message);

/// An error of the other side as a sentence of at most 300 bytes.
std::string describe(const RpcError& error);

}  // namespace parley::mcp
