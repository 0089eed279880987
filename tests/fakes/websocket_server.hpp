#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/core/task.hpp"

namespace parley::test {

/// One client's connection, played by hand.
class WebSocketPeer {
 public:
  struct Message {
    bool is_text = false;
    std::string bytes;
  };

  std::string target;
  std::map<std::string, std::string> headers;  ///< names in lower case

  WebSocketPeer() = default;
  WebSocketPeer(const WebSocketPeer&) = delete;
  WebSocketPeer& operator=(const WebSocketPeer&) = delete;
  WebSocketPeer(WebSocketPeer&&) = delete;
  WebSocketPeer& operator=(WebSocketPeer&&) = delete;
  virtual ~WebSocketPeer() = default;

  /// The WebSocket stands; before that, only raw() and refuse() make sense.
  virtual Task<> accept(std::string subprotocol = {}) = 0;
  virtual Task<> refuse(int status, std::string body) = 0;
  /// nullopt: the client is gone.
  virtual Task<std::optional<Message>> read() = 0;
  virtual Task<> send_text(std::string text) = 0;
  virtual Task<> send_binary(std::string bytes) = 0;
  virtual Task<> close(std::uint16_t code, std::string reason) = 0;
  /// Bytes as they are.
  virtual Task<> raw(std::string bytes) = 0;
  /// Returns when the client has closed its side, without reading any message.
  virtual Task<> until_closed() = 0;
};

/// A WebSocket server on a loopback port, in the test's own I/O thread. A connection ends with its handler.
class WebSocketServer {
 public:
  using Handler = std::function<Task<>(WebSocketPeer&)>;

  WebSocketServer(asio::io_context& io, Handler handler);
  WebSocketServer(const WebSocketServer&) = delete;
  WebSocketServer& operator=(const WebSocketServer&) = delete;
  WebSocketServer(WebSocketServer&&) = delete;
  WebSocketServer& operator=(WebSocketServer&&) = delete;
  ~WebSocketServer();

  /// `ws://127.0.0.1:PORT`
  std::string url() const;
  /// Connections so far, and those whose handler came to its end.
  int connections() const;
  int ended() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace parley::test
