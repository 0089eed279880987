#include "parley/providers/wyoming_endpoint.hpp"

#include <algorithm>
#include <charconv>

namespace parley::providers {
namespace {

constexpr std::string_view kScheme = "tcp://";

}  // namespace

std::string WyomingEndpoint::uri() const {
  const bool bare_ipv6 = host.find(':') != std::string::npos;
  return std::string(kScheme) + (bare_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<WyomingEndpoint> parse_wyoming_uri(std::string_view uri) {
  const Error wrong(Errc::invalid_input,
                    "expected the address of a Wyoming server, such as tcp://host:10300");
  if (!uri.starts_with(kScheme)) return wrong;
  auto rest = uri.substr(kScheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const auto colon = rest.rfind(':');
  if (colon == std::string_view::npos) return wrong;
  auto host = rest.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  const bool plain = std::ranges::all_of(host, [&](char c) {
    return c > ' ' && c < 0x7f && (bracketed || c != ':') &&
           std::string_view("[]@/?#").find(c) == std::string_view::npos;
  });
  if (host.empty() || !plain) return wrong;
  WyomingEndpoint endpoint;
  endpoint.host = host;
  const auto port = rest.substr(colon + 1);
  const auto* const end = port.data() + port.size();
  const auto [stopped, failed] = std::from_chars(port.data(), end, endpoint.port);
  if (failed != std::errc() || stopped != end || endpoint.port == 0) return wrong;
  return endpoint;
}

WyomingEndpoint wyoming_endpoint_from_config(const config::Node& node) {
  auto endpoint = parse_wyoming_uri(node.require("uri"));
  if (!endpoint) node.fail("uri", endpoint.error().message);
  endpoint->limits = engine::network_limits_from_config(node);
  return *endpoint;
}

}  // namespace parley::providers
