#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/core/error.hpp"
#include "parley/core/task.hpp"
#include "parley/net/http_syntax.hpp"

// WebSockets to other servers, in clear and over TLS.
namespace parley::net {

/// Whose certificates are trusted. Shared by all connections and threads.
class TlsTrust {
 public:
  /// The system's authorities (or those of SSL_CERT_FILE), and those in `ca_file` (PEM) unless it is empty.
  /// `verify` false: everybody's. Throws Failure (configuration) where the file cannot be read.
  explicit TlsTrust(bool verify, const std::string& ca_file = {});
  TlsTrust(const TlsTrust&) = delete;
  TlsTrust& operator=(const TlsTrust&) = delete;
  TlsTrust(TlsTrust&&) = delete;
  TlsTrust& operator=(TlsTrust&&) = delete;
  ~TlsTrust();

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

struct WebSocketRequest {
  std::string url;  ///< ws or wss; may hold no credentials
  std::vector<HttpHeader> headers;
  std::string subprotocol;                ///< asked for, not insisted on; empty: none
  std::shared_ptr<const TlsTrust> trust;  ///< for wss
  Millis connect_timeout{5'000};          ///< until the WebSocket stands
  std::size_t max_message = std::size_t{1024} * 1024;
  std::size_t max_unsent = std::size_t{4} * 1024 * 1024;
  /// The error that a refusal stands for, where the server answers with an HTTP status instead.
  std::function<Error(int status, const std::string& body)> refused;
};

struct WebSocketMessage {
  bool is_text = false;
  std::string bytes;
  TimePoint arrived{};  ///< by the client's clock
};

/// The client's end of a WebSocket. Connects in the background; what is sent before that waits. Belongs to
/// one I/O thread; destroying it closes the connection at once.
class WebSocketClient {
 public:
  WebSocketClient(const asio::any_io_executor& executor, std::shared_ptr<Scheduler> scheduler,
                  WebSocketRequest request);
  WebSocketClient(const WebSocketClient&) = delete;
  WebSocketClient& operator=(const WebSocketClient&) = delete;
  WebSocketClient(WebSocketClient&&) = delete;
  WebSocketClient& operator=(WebSocketClient&&) = delete;
  ~WebSocketClient();

  /// Queued; dropped after the end. More than `max_unsent` bytes that the server does not take end the
  /// connection.
  void send_text(std::string text);
  void send_binary(std::string bytes);
  /// Asks the server for a sign of life, behind what was sent before. `answered` is called when it comes,
  /// while this lives; it may set the deadline, and nothing else.
  void ping(std::function<void()> answered = {});
  /// Whether the server has answered a ping() since the last one was asked for.
  bool alive() const;

  /// At `when` the connection ends with Errc::timeout and `what`; replaces the deadline before. The one for
  /// connecting counts beside it.
  void set_deadline(TimePoint when, std::string what);

  /// The next message, or nullopt when the server has closed the connection normally (1000, 1001 or no code).
  /// One reader. The error is the one that ended the connection, again and again: configuration (no usable
  /// URL), unavailable (no connection, no trust in the certificate, a refusal), timeout, limit (a message or
  /// the queue is too big), closed (cut off, or closed with another code). Secrets are not in it, unless the
  /// server repeats them.
  Task<Result<std::optional<WebSocketMessage>>> next();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace parley::net
