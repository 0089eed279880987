#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/core/error.hpp"

// The device's side of PROTOCOL.md, section 5.
namespace parley::device {

/// One tool of the device.
struct Tool {
  std::string name;
  std::string description;
  nlohmann::ordered_json input_schema;  ///< an object
  bool user_only = false;               ///< listed with `withUserTools` only
  Millis delay{};                       ///< from the request to the reply
  bool stalls = false;                  ///< runs on the main loop: the microphone is mute meanwhile
  /// Gets arguments that fit the schema. A string is the result's text as it is, an object with a `content`
  /// array is the result itself, anything else is put into words as JSON. An error's message is the reply's
  /// error.
  std::function<Result<nlohmann::ordered_json>(const nlohmann::json& arguments)> run;
};

/// What one `tools/call` came to, for the person who watches.
struct ToolCall {
  std::string name;
  nlohmann::json arguments;
  std::string result;  ///< its text, or the error's message
  bool failed = false;
};

struct McpReply {
  /// JSON-RPC text. As in the firmware the message of an error is not escaped, so this may not be valid JSON.
  std::string payload;
  Millis delay{};
  bool stalls = false;
  std::optional<ToolCall> call;
};

/// The firmware's page size.
inline constexpr std::size_t kToolPage = 8000;

/// An MCP server (2024-11-05) as strict and as lax as the firmware's: integer ids only, `params` must be an
/// object, errors carry no code. Pure but for what the tools do.
class McpServer {
 public:
  /// `page_bytes`: the largest JSON text of one `tools/list` result.
  explicit McpServer(std::vector<Tool> tools, std::size_t page_bytes = kToolPage);

  /// Nothing is sent for notifications, replies, and requests that the firmware drops.
  std::optional<McpReply> handle(const nlohmann::json& payload);

  bool initialized() const { return initialized_; }
  /// `params.capabilities` of the last `initialize`.
  const nlohmann::json& client_capabilities() const { return capabilities_; }
  const std::vector<Tool>& tools() const { return tools_; }

 private:
  std::string list(const nlohmann::json& params, std::int64_t id) const;
  McpReply call(const nlohmann::json& params, std::int64_t id) const;

  std::vector<Tool> tools_;
  std::size_t page_bytes_;
  bool initialized_ = false;
  nlohmann::json capabilities_ = nlohmann::json::object();
};

/// `{"session_id":…,"type":"mcp","payload":…}` around a reply.
std::string mcp_envelope(std::string_view payload, std::string_view session_id);

/// The tools of a usual board, with a state that they share: speaker, screen, lamp, light, camera, reboot.
std::vector<Tool> stock_tools();

/// `[{name, description, inputSchema, result?, error?, delay_ms?, user_only?}]`; `result` is a text or JSON,
/// `error` a text; neither: the result is `true`. Errc::invalid_input says which entry is wrong and why.
Result<std::vector<Tool>> parse_tools(std::string_view json);
Result<std::vector<Tool>> read_tools(const std::filesystem::path& file);

}  // namespace parley::device
