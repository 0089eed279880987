#include "parley/mcp/device_link.hpp"

#include <set>
#include <utility>

#include "parley/core/async_event.hpp"
#include "parley/core/log.hpp"

namespace parley::mcp {

using nlohmann::json;

namespace {

constexpr int kMaxPages = 64;
constexpr std::size_t kMaxTools = 1024;
constexpr int kMethodNotFound = -32601;

std::string error_text(const json& error) {
  // Firmware errors have no code; some are a bare string.
  if (error.is_string()) return error.get<std::string>();
  if (error.is_object()) {
    const auto message = error.find("message");
    if (message != error.end() && message->is_string()) return message->get<std::string>();
  }
  return "the device answered with an error";
}

/// Empty at the end of the list: absent, null and "" all occur.
Result<std::string> next_cursor(const json& result) {
  const auto cursor = result.find("nextCursor");
  if (cursor == result.end() || cursor->is_null()) return std::string();
  if (!cursor->is_string()) return Error(Errc::invalid_input, "nextCursor is not a string");
  return cursor->get<std::string>();
}

}  // namespace

struct DeviceLink::Pending {
  Pending(const asio::any_io_executor& executor, std::int64_t number) : id(number), answered(executor) {}
  std::int64_t id;
  AsyncEvent answered;
  std::unique_ptr<Timer> deadline;
  std::optional<Result<json>> reply;

  void complete(Result<json> value) {
    if (reply) return;
    reply = std::move(value);
    if (deadline) deadline->cancel();
    answered.notify();
  }
};

struct DeviceLink::State {
  asio::any_io_executor executor;
  std::shared_ptr<Scheduler> scheduler;
  Send send;
  bool closed = false;
  std::int64_t next_id = 1;
  std::map<std::int64_t, std::weak_ptr<Pending>> pending;
};

/// Keeps the pending entry alive; what comes after its end finds nobody.
class DeviceLink::Call final : public CallStream {
 public:
  Call(std::shared_ptr<State> state, std::shared_ptr<Pending> pending)
      : state_(std::move(state)), pending_(std::move(pending)) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  Call(Call&&) = delete;
  Call& operator=(Call&&) = delete;
  ~Call() override { state_->pending.erase(pending_->id); }

  Task<Result<std::optional<engine::ToolResult>>> next() override {
    using Value = Result<std::optional<engine::ToolResult>>;
    if (std::exchange(delivered_, true)) co_return Value(std::optional<engine::ToolResult>());
    const auto reply = co_await finish(state_, pending_);
    engine::ToolResult result;
    if (reply) {
      result = read_call_result(*reply);
    } else {
      result = {reply.error().message, true};
    }
    co_return Value(std::optional(std::move(result)));
  }

 private:
  std::shared_ptr<State> state_;
  std::shared_ptr<Pending> pending_;
  bool delivered_ = false;
};

DeviceLink::DeviceLink(asio::any_io_executor executor, std::shared_ptr<Scheduler> scheduler, Send send)
    : state_(std::make_shared<State>()) {
  state_->executor = std::move(executor);
  state_->scheduler = std::move(scheduler);
  state_->send = std::move(send);
}

DeviceLink::~DeviceLink() {
  close();
}

std::shared_ptr<DeviceLink::Pending> DeviceLink::begin(const std::shared_ptr<State>& state,
                                                       std::string_view method, json params, Millis timeout) {
  // The firmware drops every id that is not an integer.
  const auto pending = std::make_shared<Pending>(state->executor, state->next_id++);
  if (state->closed) {
    pending->complete(Error(Errc::closed, "the device is not connected"));
    return pending;
  }
  // Registered before it is sent: a reply may come back within send().
  state->pending[pending->id] = pending;
  pending->deadline = state->scheduler->make_timer();
  pending->deadline->arm(state->scheduler->now() + timeout, [weak = std::weak_ptr(pending)] {
    if (const auto late = weak.lock()) {
      late->complete(Error(Errc::timeout, "the device did not answer in time"));
    }
  });
  state->send({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}, {"id", pending->id}});
  return pending;
}

Task<Result<json>> DeviceLink::finish(std::shared_ptr<State> state, std::shared_ptr<Pending> pending) {
  while (!pending->reply) co_await pending->answered.wait();
  state->pending.erase(pending->id);
  co_return std::move(*pending->reply);
}

Task<Result<json>> DeviceLink::request(std::string method, json params, Millis timeout) {
  const auto state = state_;
  const auto pending = begin(state, method, std::move(params), timeout);
  co_return co_await finish(state, pending);
}

Task<Result<>> DeviceLink::initialize(const VisionEndpoint& vision, Millis timeout) {
  const auto state = state_;
  json capabilities = json::object();
  if (!vision.url.empty()) capabilities["vision"] = {{"url", vision.url}, {"token", vision.token}};
  json params = json::object();
  params["protocolVersion"] = "2024-11-05";
  params["capabilities"] = std::move(capabilities);
  params["clientInfo"] = {{"name", "parley"}, {"version", PARLEY_VERSION}};
  const auto reply = co_await request("initialize", std::move(params), timeout);
  if (!reply) co_return reply.error();
  if (!reply->is_object())
    co_return Error(Errc::invalid_input, "the device's initialize result is not an object");
  if (!state->closed) {
    state->send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}, {"params", json::object()}});
  }
  co_return Result<>();
}

Task<Result<std::vector<Tool>>> DeviceLink::list_tools(bool with_user_tools, Millis timeout) {
  std::vector<Tool> tools;
  std::set<std::string> seen;
  std::string cursor;
  for (int page = 0;; ++page) {
    if (page == kMaxPages) {
      log::warn("a device's tool list has too many pages; the rest is left out", {{"pages", page}});
      co_return tools;
    }
    json params = {{"cursor", cursor}};
    if (with_user_tools) params["withUserTools"] = true;
    const auto reply = co_await request("tools/list", std::move(params), timeout);
    if (!reply) co_return reply.error();
    const auto list = reply->is_object() ? reply->find("tools") : reply->end();
    if (list == reply->end() || !list->is_array()) {
      co_return Error(Errc::invalid_input, "the device's tools/list result has no list of tools");
    }
    for (const auto& item : *list) {
      auto tool = read_tool(item);
      if (!tool) {
        log::warn("a device's tool is left out", {{"why", tool.error().message}});
        continue;
      }
      if (tools.size() == kMaxTools) {
        log::warn("a device lists too many tools; the rest is left out", {{"tools", tools.size()}});
        co_return tools;
      }
      tools.push_back(std::move(*tool));
    }
    auto next = next_cursor(*reply);
    if (!next) {
      log::warn("a device's tool list ends early", {{"why", next.error().message}});
      co_return tools;
    }
    if (next->empty()) co_return tools;
    if (!seen.insert(*next).second) {
      log::warn("a device repeats a cursor of its tool list; the rest is left out", {{"cursor", *next}});
      co_return tools;
    }
    cursor = std::move(*next);
  }
}

std::unique_ptr<CallStream> DeviceLink::call(const std::string& tool, const json& arguments, Millis timeout) {
  json params = {{"name", tool}, {"arguments", arguments.is_object() ? arguments : json::object()}};
  auto pending = begin(state_, "tools/call", std::move(params), timeout);
  return std::make_unique<Call>(state_, std::move(pending));
}

bool DeviceLink::on_message(const json& payload) {
  if (!payload.is_object()) return false;
  const auto id = payload.find("id");
  const auto method = payload.find("method");
  if (method != payload.end()) {
    if (!method->is_string()) return false;
    if (id != payload.end()) {
      json error = {{"code", kMethodNotFound}, {"message", "method not found"}};
      if (!state_->closed) state_->send({{"jsonrpc", "2.0"}, {"id", *id}, {"error", std::move(error)}});
    }
    return true;
  }
  if (id == payload.end() || !id->is_number_integer()) return false;
  const auto found = state_->pending.find(id->get<std::int64_t>());
  const auto pending = found == state_->pending.end() ? nullptr : found->second.lock();
  if (!pending) return true;  // Late, or answered twice.
  if (const auto error = payload.find("error"); error != payload.end() && !error->is_null()) {
    pending->complete(Error(Errc::unavailable, error_text(*error)));
  } else if (const auto result = payload.find("result"); result != payload.end()) {
    pending->complete(*result);
  } else {
    pending->complete(Error(Errc::invalid_input, "the device's reply has neither a result nor an error"));
    return false;
  }
  return true;
}

void DeviceLink::close() {
  state_->closed = true;
  const auto pending = std::exchange(state_->pending, {});
  for (const auto& [id, weak] : pending) {
    if (const auto waiting = weak.lock()) waiting->complete(Error(Errc::closed, "the device is gone"));
  }
}

}  // namespace parley::mcp
