#include "parley/mcp/host.hpp"

#include <algorithm>
#include <utility>

#include "parley/core/hex.hpp"
#include "parley/core/log.hpp"
#include "parley/mcp/consent.hpp"

namespace parley::mcp {
namespace {

constexpr std::string_view kDevice = "device";

std::string_view shown(std::string_view key) {
  return key.empty() ? kDevice : key;
}

/// Enough to find equal calls in the log, without what they say.
std::string digest(const nlohmann::json& arguments) {
  return sha256_hex(arguments.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)).substr(0, 12);
}

class Answered final : public CallStream {
 public:
  explicit Answered(engine::ToolResult result) : result_(std::move(result)) {}
  Task<Result<std::optional<engine::ToolResult>>> next() override {
    co_return Result<std::optional<engine::ToolResult>>(std::exchange(result_, std::nullopt));
  }

 private:
  std::optional<engine::ToolResult> result_;
};

class DeviceServer final : public ToolServer {
 public:
  DeviceServer(DeviceLink* link, ToolList tools)
      : link_(link), tools_(std::make_shared<const ToolList>(std::move(tools))) {}
  const std::string& key() const override { return key_; }
  std::shared_ptr<const ToolList> tools() const override { return tools_; }
  std::unique_ptr<CallStream> call(const std::string& tool, const nlohmann::json& arguments,
                                   Millis timeout) override {
    return link_->call(tool, arguments, timeout);
  }

 private:
  std::string key_;
  DeviceLink* link_;
  std::shared_ptr<const ToolList> tools_;
};

/// One call's line in the log, written when its result is there or when it was abandoned.
struct Audit {
  std::string device;
  std::string server;
  std::string tool;
  std::string arguments;
};

class Audited final : public CallStream {
 public:
  Audited(std::unique_ptr<CallStream> inner, std::shared_ptr<Scheduler> scheduler, Audit audit)
      : inner_(std::move(inner)),
        scheduler_(std::move(scheduler)),
        audit_(std::move(audit)),
        began_(scheduler_->now()) {}
  ~Audited() override {
    if (!said_) say("abandoned");
  }
  Audited(const Audited&) = delete;
  Audited& operator=(const Audited&) = delete;
  Audited(Audited&&) = delete;
  Audited& operator=(Audited&&) = delete;

  Task<Result<std::optional<engine::ToolResult>>> next() override {
    auto result = co_await inner_->next();
    if (!said_) say(result && *result && !(*result)->failed ? "ok" : "failed");
    co_return result;
  }

 private:
  void say(std::string_view outcome) {
    said_ = true;
    log::info("tool call", {{"device", audit_.device},
                            {"server", audit_.server},
                            {"tool", audit_.tool},
                            {"arguments", audit_.arguments},
                            {"decision", "allowed"},
                            {"outcome", outcome},
                            {"ms", to_ms(scheduler_->now() - began_)}});
  }

  std::unique_ptr<CallStream> inner_;
  std::shared_ptr<Scheduler> scheduler_;
  Audit audit_;
  TimePoint began_;
  bool said_ = false;
};

}  // namespace

std::unique_ptr<CallStream> answered(engine::ToolResult result) {
  return std::make_unique<Answered>(std::move(result));
}

void Host::add(std::shared_ptr<ToolServer> server) {
  std::erase_if(servers_, [&](const auto& known) { return known->key() == server->key(); });
  servers_.push_back(std::move(server));
  tools();
}

void Host::set_device(DeviceLink* link, ToolList tools) {
  add(std::make_shared<DeviceServer>(link, std::move(tools)));
}

const std::shared_ptr<const engine::ToolSet>& Host::tools() const {
  std::vector<std::shared_ptr<const ToolList>> now;
  now.reserve(servers_.size());
  for (const auto& server : servers_) now.push_back(server->tools());
  if (now == seen_) return tools_;
  std::vector<Offer> offers;
  for (std::size_t i = 0; i < servers_.size(); ++i) offers.push_back({servers_[i]->key(), now[i].get()});
  tools_ = make_tool_set(offers);
  seen_ = std::move(now);
  return tools_;
}

ToolServer* Host::server_of(const engine::ToolSpec& tool) const {
  const auto found =
      std::ranges::find(servers_, tool.server, [](const auto& server) { return server->key(); });
  return found == servers_.end() ? nullptr : found->get();
}

void Host::turn_interrupted() {
  asked_.clear();
}

void Host::begin_turn(std::string_view words) {
  agreed_ = agrees(words) ? std::exchange(asked_, {}) : std::set<std::string>();
  asked_.clear();
}

bool Host::agreed_to(const engine::ToolSpec& tool, const engine::ToolCall& call) {
  if (!tool.confirm || call.agreed) return true;
  const auto what = tool.name + ' ' + digest(call.arguments);
  if (agreed_.erase(what) > 0) return true;  // Once: a second one is asked for again.
  asked_.insert(what);
  return false;
}

std::string_view Host::where(std::string_view name) const {
  const auto* tool = tools_->find(name);
  return tool != nullptr ? shown(tool->server) : std::string_view();
}

std::unique_ptr<CallStream> Host::call(const engine::ToolCall& call) {
  const auto set = tools_;  // The call itself may lead to another one.
  const auto* tool = set->find(call.name);
  auto* server = tool == nullptr ? nullptr : server_of(*tool);
  const auto refused = [&](std::string_view why, std::string text) {
    log::info("tool call", {{"device", device_id_},
                            {"server", tool == nullptr ? "" : shown(tool->server)},
                            {"tool", tool == nullptr ? call.name : tool->wire_name},
                            {"decision", "refused"},
                            {"why", why}});
    return answered({std::move(text), true});
  };
  if (server == nullptr) return refused("unknown tool", "There is no tool named " + call.name + ".");
  if (call.malformed) {
    return refused("malformed arguments",
                   "The arguments were not a JSON object. Call the tool again with one.");
  }
  if (!agreed_to(*tool, call)) {
    return refused("nobody has agreed yet",
                   "Not done: the person has to agree first. Say in one sentence what would be done and ask "
                   "for a yes; after it, call the tool again with the same arguments.");
  }
  Audit audit{device_id_, std::string(shown(tool->server)), tool->wire_name, digest(call.arguments)};
  return std::make_unique<Audited>(server->call(tool->wire_name, call.arguments, call_timeout_), scheduler_,
                                   std::move(audit));
}

}  // namespace parley::mcp
