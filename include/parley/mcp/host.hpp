#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/mcp/device_link.hpp"
#include "parley/mcp/tool.hpp"
#include "parley/mcp/tool_server.hpp"

namespace parley::mcp {

/// The tools of one session under one roof: names for the model, and the way of each call to its server.
/// Belongs to the session's I/O thread.
class Host {
 public:
  Host(std::shared_ptr<Scheduler> scheduler, std::string device_id, Millis call_timeout)
      : scheduler_(std::move(scheduler)), device_id_(std::move(device_id)), call_timeout_(call_timeout) {}

  /// One more origin of tools, under a key of its own.
  void add(std::shared_ptr<ToolServer> server);
  /// The device's tools are known (again); `link` outlives the host's calls.
  void set_device(DeviceLink* link, ToolList tools);

  /// What all servers offer now. Never null; the same object until that changes.
  const std::shared_ptr<const engine::ToolSet>& tools() const;

  /// A turn begins with these words of the person, who may agree with them to what the turn before wanted.
  void begin_turn(std::string_view words);
  /// The turn was cut off: who did not hear the question cannot agree to it.
  void turn_interrupted();

  /// Starts the call at once. An unknown name is a result that says so, as is a call to which the person has
  /// to agree first: the same call is carried out in the next turn, if that begins with a yes. One log line a
  /// call.
  std::unique_ptr<CallStream> call(const engine::ToolCall& call);

  /// Where the call of this model name goes: "device", a server's key, or "" for an unknown one.
  std::string_view where(std::string_view name) const;

 private:
  ToolServer* server_of(const engine::ToolSpec& tool) const;
  bool agreed_to(const engine::ToolSpec& tool, const engine::ToolCall& call);

  std::shared_ptr<Scheduler> scheduler_;
  std::string device_id_;
  Millis call_timeout_;
  std::vector<std::shared_ptr<ToolServer>> servers_;
  std::set<std::string> asked_;   ///< calls of this turn to which nobody has agreed
  std::set<std::string> agreed_;  ///< calls of the turn before to which this one's words agree
  mutable std::vector<std::shared_ptr<const ToolList>> seen_;  ///< of each server: what tools_ was made from
  mutable std::shared_ptr<const engine::ToolSet> tools_ = std::make_shared<engine::ToolSet>();
};

}  // namespace parley::mcp
