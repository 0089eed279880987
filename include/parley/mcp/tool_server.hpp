#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/mcp/tool.hpp"

namespace parley::mcp {

using ToolList = std::vector<Tool>;

/// One origin of tools as the host of a session sees it: the device, an MCP server behind HTTP, or Parley
/// itself. Belongs to the session's I/O thread.
class ToolServer {
 public:
  ToolServer() = default;
  ToolServer(const ToolServer&) = delete;
  ToolServer& operator=(const ToolServer&) = delete;
  ToolServer(ToolServer&&) = delete;
  ToolServer& operator=(ToolServer&&) = delete;
  virtual ~ToolServer() = default;

  /// Its name in the configuration and the prefix of its tools' names for the model; empty: the device.
  virtual const std::string& key() const = 0;
  /// What it offers now; never null, and another object whenever that changed. Never waits: a server that is
  /// not there has no tools.
  virtual std::shared_ptr<const ToolList> tools() const = 0;
  /// Starts the call at once; `tool` by its own name. The stream gives one result; failures of any kind,
  /// after `timeout` at the latest, are results that say so. Destroying it cancels the call.
  virtual std::unique_ptr<CallStream> call(const std::string& tool, const nlohmann::json& arguments,
                                           Millis timeout) = 0;
};

/// A call whose result is known already.
std::unique_ptr<CallStream> answered(engine::ToolResult result);

}  // namespace parley::mcp
