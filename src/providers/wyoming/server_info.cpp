#include "providers/wyoming/server_info.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>

#include "parley/core/log.hpp"

namespace parley::providers::wyoming {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr auto kExpiry = 10min;
constexpr auto kRetry = 1min;
constexpr std::size_t kMaxUnsent = 4096;

/// The objects of `object[key]`; none where it is no list.
std::vector<json> objects(const json& object, const char* key) {
  std::vector<json> found;
  const auto list = object.find(key);
  if (list == object.end() || !list->is_array()) return found;
  for (const auto& item : *list) {
    if (item.is_object()) found.push_back(item);
  }
  return found;
}

}  // namespace

void ServerInfo::refresh(const asio::any_io_executor& executor) {
  const auto now = endpoint_.clock(executor)->now();
  {
    const std::scoped_lock lock(mutex_);
    if (asked_ && now - *asked_ < (known_ ? kExpiry : kRetry)) return;
    asked_ = now;
  }
  asio::co_spawn(executor, ask(shared_from_this()), asio::detached);
}

bool ServerInfo::supports_streaming() const {
  const std::scoped_lock lock(mutex_);
  return streaming_;
}

Task<> ServerInfo::ask(std::shared_ptr<ServerInfo> self) {
  Link link(co_await asio::this_coro::executor, self->endpoint_, kMaxUnsent);
  link.send({"describe", json::object(), {}});
  link.expect_answer();
  while (true) {
    const auto event = co_await link.next();
    if (!event) {
      // Speech will tell.
      log::debug("a Wyoming server does not describe itself", {{"why", event.error().message}});
      co_return;
    }
    if (event->type != "info") continue;
    self->take(event->data);
    co_return;
  }
}

void ServerInfo::take(const json& data) {
  bool streaming = false;
  bool has_voice = voice_.empty();
  for (const auto& program : objects(data, "tts")) {
    streaming = streaming || program.value("supports_synthesize_streaming", json()) == true;
    for (const auto& voice : objects(program, "voices"))
      has_voice = has_voice || voice.value("name", json()) == voice_;
  }
  const std::scoped_lock lock(mutex_);
  known_ = true;
  streaming_ = streaming;
  if (!has_voice && !std::exchange(warned_, true))
    log::warn("a Wyoming server does not list the voice", {{"server", endpoint_.uri()}, {"voice", voice_}});
}

}  // namespace parley::providers::wyoming
