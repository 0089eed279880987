#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "parley/core/error.hpp"
#include "parley/core/task.hpp"
#include "parley/net/http_syntax.hpp"
#include "parley/net/websocket_client.hpp"

// Beast's WebSocket streams behind one face, because each kind of them takes long to compile.
namespace parley::net {

struct Outgoing {
  enum class Kind { text, binary, ping };
  Kind kind = Kind::text;
  std::string bytes;
};

struct CloseReason {
  std::uint16_t code = 0;
  std::string text;
};

struct UpgradeAnswer {
  boost::system::error_code failed;
  int status = 0;  ///< of a refusal; 0: the answer was none
  std::string body;
};

/// One connection; the steps in their order, then one read and one write at a time. Outlives what it does.
class WebSocketWire {
 public:
  WebSocketWire() = default;
  WebSocketWire(const WebSocketWire&) = delete;
  WebSocketWire& operator=(const WebSocketWire&) = delete;
  WebSocketWire(WebSocketWire&&) = delete;
  WebSocketWire& operator=(WebSocketWire&&) = delete;
  virtual ~WebSocketWire() = default;

  /// To be connected by the caller.
  virtual asio::ip::tcp::socket& socket() = 0;
  /// The TLS handshake, where there is one.
  virtual Task<Result<>> secure() = 0;
  /// `on_pong` is called for each, while somebody reads.
  virtual Task<UpgradeAnswer> upgrade(const WebSocketUrl& url, const WebSocketRequest& request,
                                      std::function<void()> on_pong) = 0;
  /// Fills the kind and the bytes.
  virtual Task<boost::system::error_code> read(WebSocketMessage& message) = 0;
  /// `message` stays until `done` is called.
  virtual void write(const Outgoing& message, std::function<void(boost::system::error_code)> done) = 0;
  /// What the other side said when it closed, where `failed` tells that it did.
  virtual std::optional<CloseReason> close_reason(const boost::system::error_code& failed) const = 0;

  /// Drops the connection; what is under way fails.
  void close() {
    boost::system::error_code ignored;
    socket().close(ignored);
  }
};

std::unique_ptr<WebSocketWire> make_plain_wire(const asio::any_io_executor& executor);
std::unique_ptr<WebSocketWire> make_tls_wire(const asio::any_io_executor& executor, const WebSocketUrl& url,
                                             const std::shared_ptr<const TlsTrust>& trust);

bool is_too_big(const boost::system::error_code& failed);
/// The connection ended without a goodbye.
bool is_cut_off(const boost::system::error_code& failed);

}  // namespace parley::net
