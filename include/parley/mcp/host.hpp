#pragma once

#include <memory>

#include "parley/mcp/device_link.hpp"
#include "parley/mcp/tool.hpp"

namespace parley::mcp {

/// The tools of one session under one roof: names for the model, and the way of each call to its server.
class Host {
 public:
  Host(std::shared_ptr<Scheduler> scheduler, std::string device_id, Millis call_timeout)
      : scheduler_(std::move(scheduler)), device_id_(std::move(device_id)), call_timeout_(call_timeout) {}

  /// The device's tools are known (again); `link` outlives the host's calls.
  void set_device(DeviceLink* link, const std::vector<Tool>& tools);

  /// Never null.
  const std::shared_ptr<const engine::ToolSet>& tools() const { return tools_; }

  /// Starts the call at once. An unknown name is a result that says so. One log line a call.
  std::unique_ptr<CallStream> call(const engine::ToolCall& call);

  /// Where the call of this model name goes: "device", or "" for an unknown one.
  std::string_view where(std::string_view name) const;

 private:
  std::shared_ptr<Scheduler> scheduler_;
  std::string device_id_;
  Millis call_timeout_;
  DeviceLink* device_ = nullptr;
  std::shared_ptr<const engine::ToolSet> tools_ = std::make_shared<engine::ToolSet>();
};

}  // namespace parley::mcp
