#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "parley/core/clock.hpp"
#include "parley/net/connection.hpp"

namespace parley::net {

using Socket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;

struct ServerRequest {
  std::string method;
  std::string target;  ///< path and query
  /// Names in lower case; of repeated ones the first.
  std::map<std::string, std::string> headers;
  std::string remote_address;
  bool wants_websocket = false;

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }
  /// The target without its query.
  std::string path() const { return target.substr(0, target.find('?')); }
};

struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::map<std::string, std::string> headers;
  /// Accept the WebSocket; everything else here is ignored.
  bool upgrade = false;
};

struct SocketLimits {
  Millis handshake_timeout{10'000};  ///< for one HTTP request and its reply
  Millis idle_timeout{120'000};      ///< WebSocket: without any frame; pings go out at half of it
  std::size_t max_message = 64 * 1024;
  std::size_t max_send_queue = 256 * 1024;
};

struct Upgraded {
  ServerRequest request;
  std::shared_ptr<Connection> connection;
};

/// Serves plain HTTP on an accepted socket until it ends, or until `handle` accepts a WebSocket, which is
/// returned. Null connection: the socket is done with.
Task<Upgraded> serve(Socket socket, std::function<HttpReply(const ServerRequest&)> handle,
                     SocketLimits limits, std::shared_ptr<Scheduler> scheduler);

}  // namespace parley::net
