#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "parley/config/node.hpp"
#include "parley/core/clock.hpp"
#include "parley/engine/http_endpoint.hpp"

namespace parley::providers {

/// Where a Wyoming server is and how long it may take.
struct WyomingEndpoint {
  std::string host;  ///< a name or an address, an IPv6 one without brackets
  std::uint16_t port = 0;
  engine::NetworkLimits limits;
  std::function<std::shared_ptr<Scheduler>(const asio::any_io_executor&)> clock = make_asio_scheduler;

  /// `tcp://host:port`
  std::string uri() const;
};

/// Reads `tcp://host:port` or `tcp://[ipv6]:port`. The error is for whoever wrote it.
Result<WyomingEndpoint> parse_wyoming_uri(std::string_view uri);

/// Reads `uri`, which is required, and the keys of network_limits_from_config().
WyomingEndpoint wyoming_endpoint_from_config(const config::Node& node);

}  // namespace parley::providers
