#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/mcp/tool.hpp"

namespace parley::mcp {

/// Where a device uploads its photos (PROTOCOL.md, section 8).
struct VisionEndpoint {
  std::string url;
  std::string token;
};

/// The MCP client of one device, over its WebSocket (PROTOCOL.md, section 5). Belongs to the session's I/O
/// thread.
class DeviceLink {
 public:
  /// Puts one JSON-RPC payload into the session's envelope and sends it.
  using Send = std::function<void(const nlohmann::json& payload)>;

  DeviceLink(asio::any_io_executor executor, std::shared_ptr<Scheduler> scheduler, Send send);
  ~DeviceLink();
  DeviceLink(const DeviceLink&) = delete;
  DeviceLink& operator=(const DeviceLink&) = delete;
  DeviceLink(DeviceLink&&) = delete;
  DeviceLink& operator=(DeviceLink&&) = delete;

  /// `initialize` and `notifications/initialized`. Errors: timeout, closed, invalid_input (a malformed
  /// reply), unavailable (the device answered with an error).
  Task<Result<>> initialize(const VisionEndpoint& vision, Millis timeout);

  /// `tools/list`, page by page; `timeout` is for each page. A repeated cursor, 64 pages or 1,024 tools end
  /// the list with a warning. `with_user_tools` also lists what only a person should call.
  Task<Result<std::vector<Tool>>> list_tools(bool with_user_tools, Millis timeout);

  /// Sends `tools/call` at once. The stream gives one result; failures of any kind are results that say so.
  std::unique_ptr<CallStream> call(const std::string& tool, const nlohmann::json& arguments, Millis timeout);

  /// A payload from the device. Replies to unknown ids, and notifications, are counted and ignored; requests
  /// are answered with -32601. False: it was malformed.
  bool on_message(const nlohmann::json& payload);

  /// The connection is gone: every pending call fails at once, and every later one.
  void close();

 private:
  struct Pending;
  struct State;
  class Call;
  Task<Result<nlohmann::json>> request(std::string method, nlohmann::json params, Millis timeout);
  static std::shared_ptr<Pending> begin(const std::shared_ptr<State>& state, std::string_view method,
                                        nlohmann::json params, Millis timeout);
  static Task<Result<nlohmann::json>> finish(std::shared_ptr<State> state, std::shared_ptr<Pending> pending);
  std::shared_ptr<State> state_;
};

}  // namespace parley::mcp
