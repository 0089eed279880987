#include "providers/wyoming/ready_links.hpp"

#include <chrono>
#include <utility>

namespace parley::providers::wyoming {
namespace {

using namespace std::chrono_literals;

/// From the beginning of a turn to its first sentence; some servers have room for few connections.
constexpr auto kKeep = 60s;

/// Gone with the execution context, before what still waits in it is destroyed.
class ReadyLinksService final : public asio::execution_context::service {
 public:
  using key_type = ReadyLinksService;
  static inline asio::execution_context::id id;
  explicit ReadyLinksService(asio::execution_context& context) : service(context) {}
  ReadyLinks links;

 private:
  void shutdown() override { links = {}; }
};

/// Engines with other limits have links of their own.
std::string key_of(const WyomingEndpoint& endpoint) {
  const auto& limits = endpoint.limits;
  auto key = endpoint.uri();
  for (const auto span :
       {limits.deadlines.connect, limits.deadlines.first_byte, limits.deadlines.idle, limits.deadlines.total})
    key += ' ' + std::to_string(span.count());
  return key + ' ' + std::to_string(limits.max_response);
}

}  // namespace

void ReadyLinks::prepare(const asio::any_io_executor& executor, const WyomingEndpoint& endpoint,
                         std::size_t max_unsent) {
  const auto key = key_of(endpoint);
  const auto there = links_.find(key);
  if (there != links_.end() && !there->second.link->is_stale()) return;
  const auto clock = endpoint.clock(executor);
  Ready ready{std::make_unique<Link>(executor, endpoint, max_unsent), clock->make_timer()};
  ready.expiry->arm(clock->now() + kKeep, [this, key] {
    // The timer is destroyed with its entry, and may be.
    const auto expired = links_.extract(key);
  });
  links_[key] = std::move(ready);
}

std::unique_ptr<Link> ReadyLinks::take(const WyomingEndpoint& endpoint) {
  auto node = links_.extract(key_of(endpoint));
  if (!node || node.mapped().link->is_stale()) return nullptr;
  return std::move(node.mapped().link);
}

ReadyLinks& ready_links(const asio::any_io_executor& executor) {
  auto& context = asio::query(executor, asio::execution::context);
  return asio::use_service<ReadyLinksService>(context).links;
}

}  // namespace parley::providers::wyoming
