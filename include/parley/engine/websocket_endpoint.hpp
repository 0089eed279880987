#pragma once

#include <memory>
#include <string>

#include "parley/engine/http_endpoint.hpp"
#include "parley/net/websocket_client.hpp"

// What all engines behind a WebSocket have in common.
namespace parley::engine {

struct WebSocketEndpoint {
  std::string url;
  std::vector<net::HttpHeader> headers;  ///< with the credentials
  std::string secret;                    ///< never shown in an error; may be empty
  /// `first_byte`: from the end of what is asked to the answer's first message; `idle`: between messages.
  net::HttpDeadlines deadlines;
  std::string subprotocol;
  std::shared_ptr<const net::TlsTrust> trust;
};

/// Reads `url` (default: `url`; null demands one), `api_key` (sent as a bearer token), `headers`, `verify`,
/// `ca_file` and the four timeouts. Without verification there is a warning in the log.
WebSocketEndpoint websocket_endpoint_from_config(const config::Node& node, const char* url,
                                                 net::HttpDeadlines deadlines);

/// Connects in the background. A refusal becomes an error as for engines behind HTTP.
std::unique_ptr<net::WebSocketClient> connect(const asio::any_io_executor& executor,
                                              std::shared_ptr<Scheduler> scheduler,
                                              const WebSocketEndpoint& endpoint);

}  // namespace parley::engine
