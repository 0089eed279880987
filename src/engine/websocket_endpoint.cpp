#include "parley/engine/websocket_endpoint.hpp"

#include <utility>

#include "parley/core/log.hpp"

namespace parley::engine {

WebSocketEndpoint websocket_endpoint_from_config(const config::Node& node, const char* url,
                                                 net::HttpDeadlines deadlines) {
  WebSocketEndpoint endpoint;
  endpoint.url = url == nullptr ? node.require("url") : node.get("url", url);
  const auto parsed = net::parse_websocket_url(endpoint.url);
  if (!parsed) node.fail("url", "expected an address such as wss://host/path, without a name and a password");
  endpoint.secret = node.get("api_key", "");
  endpoint.headers = headers_from_config(node, endpoint.secret, "Authorization", "Bearer ");
  endpoint.deadlines = deadlines_from_config(node, deadlines);
  const bool verify = node.get("verify", true);
  const auto ca_file = node.get("ca_file", "");
  try {
    endpoint.trust = std::make_shared<const net::TlsTrust>(
        verify, ca_file.empty() ? ca_file : (node.directory() / ca_file).string());
  } catch (const Failure& failure) {
    node.fail("ca_file", failure.what());
  }
  if (!verify && parsed->tls) {
    log::warn("an engine's certificate is not verified: anybody in between can listen",
              {{"engine", node.path()}, {"address", parsed->origin()}});
  }
  return endpoint;
}

std::unique_ptr<net::WebSocketClient> connect(const asio::any_io_executor& executor,
                                              std::shared_ptr<Scheduler> scheduler,
                                              const WebSocketEndpoint& endpoint) {
  net::WebSocketRequest request;
  request.url = endpoint.url;
  request.headers = endpoint.headers;
  request.subprotocol = endpoint.subprotocol;
  request.trust = endpoint.trust;
  request.connect_timeout = endpoint.deadlines.connect;
  const auto parsed = net::parse_websocket_url(endpoint.url);
  request.refused = [origin = parsed ? parsed->origin() : "the server", secret = endpoint.secret](
                        int status, const std::string& body) {
    return error_of_status(status, body, origin, secret);
  };
  return std::make_unique<net::WebSocketClient>(executor, std::move(scheduler), std::move(request));
}

}  // namespace parley::engine
