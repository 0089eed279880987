#include "parley/mcp/host.hpp"

#include <utility>

#include "parley/core/log.hpp"

namespace parley::mcp {
namespace {

class Answered final : public CallStream {
 public:
  explicit Answered(engine::ToolResult result) : result_(std::move(result)) {}
  Task<Result<std::optional<engine::ToolResult>>> next() override {
    co_return Result<std::optional<engine::ToolResult>>(std::exchange(result_, std::nullopt));
  }

 private:
  std::optional<engine::ToolResult> result_;
};

/// Writes the call's one log line when its result is there.
class Audited final : public CallStream {
 public:
  Audited(std::unique_ptr<CallStream> inner, std::shared_ptr<Scheduler> scheduler, std::string device,
          std::string tool)
      : inner_(std::move(inner)),
        scheduler_(std::move(scheduler)),
        device_(std::move(device)),
        tool_(std::move(tool)),
        began_(scheduler_->now()) {}
  Task<Result<std::optional<engine::ToolResult>>> next() override {
    auto result = co_await inner_->next();
    if (result && *result) {
      log::info("tool call", {{"device", device_},
                              {"server", "device"},
                              {"tool", tool_},
                              {"ok", !(*result)->failed},
                              {"ms", to_ms(scheduler_->now() - began_)}});
    }
    co_return result;
  }

 private:
  std::unique_ptr<CallStream> inner_;
  std::shared_ptr<Scheduler> scheduler_;
  std::string device_;
  std::string tool_;
  TimePoint began_;
};

}  // namespace

void Host::set_device(DeviceLink* link, const std::vector<Tool>& tools) {
  device_ = link;
  tools_ = make_tool_set(tools);
}

std::string_view Host::where(std::string_view name) const {
  return tools_->find(name) != nullptr ? "device" : "";
}

std::unique_ptr<CallStream> Host::call(const engine::ToolCall& call) {
  const auto* tool = tools_->find(call.name);
  if (tool == nullptr || device_ == nullptr) {
    log::info("tool call refused: unknown tool", {{"device", device_id_}, {"tool", call.name}});
    return std::make_unique<Answered>(engine::ToolResult{"There is no tool named " + call.name + ".", true});
  }
  if (call.malformed) {
    log::info("tool call refused: malformed arguments", {{"device", device_id_}, {"tool", tool->wire_name}});
    return std::make_unique<Answered>(
        engine::ToolResult{"The arguments were not a JSON object. Call the tool again with one.", true});
  }
  return std::make_unique<Audited>(device_->call(tool->wire_name, call.arguments, call_timeout_), scheduler_,
                                   device_id_, tool->wire_name);
}

}  // namespace parley::mcp
