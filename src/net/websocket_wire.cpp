#include "net/websocket_wire.hpp"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <type_traits>
#include <utility>

namespace parley::net {

struct TlsTrust::State {
  asio::ssl::context context{asio::ssl::context::tls_client};
};

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;
using TlsStream = asio::ssl::stream<tcp::socket>;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

template <class Layer>
class Wire final : public WebSocketWire {
 public:
  template <class... Arguments>
  explicit Wire(std::string origin, Arguments&&... arguments)
      : origin_(std::move(origin)), stream_(std::forward<Arguments>(arguments)...) {}

  auto& layer() { return stream_.next_layer(); }

  tcp::socket& socket() override { return beast::get_lowest_layer(stream_); }

  Task<Result<>> secure() override {
    if constexpr (std::is_same_v<Layer, TlsStream>) {
      const auto [failed] = co_await layer().async_handshake(asio::ssl::stream_base::client, kAwait);
      if (failed) co_return tls_error(failed);
    }
    co_return Result<>();
  }

  Task<UpgradeAnswer> upgrade(const WebSocketUrl& url, const WebSocketRequest& request,
                              std::function<void()> on_pong) override {
    stream_.read_message_max(request.max_message);
    stream_.auto_fragment(false);
    stream_.set_option(websocket::stream_base::decorator([&request](websocket::request_type& sent) {
      sent.set(http::field::user_agent, "parley/" PARLEY_VERSION);
      if (!request.subprotocol.empty()) sent.set(http::field::sec_websocket_protocol, request.subprotocol);
      for (const auto& [name, value] : request.headers) sent.set(name, value);
    }));
    stream_.control_callback(
        [this, pong = std::move(on_pong)](websocket::frame_type kind, boost::beast::string_view /*payload*/) {
          if (kind == websocket::frame_type::pong) pong();
          if (kind == websocket::frame_type::close) said_goodbye_ = true;
        });
    http::response<http::string_body> response;
    const auto [failed] = co_await stream_.async_handshake(response, url.authority(), url.target, kAwait);
    UpgradeAnswer answer;
    answer.failed = failed;
    if (failed == websocket::error::upgrade_declined) {
      answer.status = static_cast<int>(response.result_int());
      answer.body = std::move(response.body());
    }
    co_return answer;
  }

  Task<error_code> read(WebSocketMessage& message) override {
    buffer_.consume(buffer_.size());
    const auto [failed, size] = co_await stream_.async_read(buffer_, kAwait);
    if (failed) co_return failed;
    message.is_text = stream_.got_text();
    message.bytes.assign(static_cast<const char*>(buffer_.cdata().data()), size);
    co_return error_code();
  }

  void write(const Outgoing& message, std::function<void(error_code)> done) override {
    if (message.kind == Outgoing::Kind::ping) {
      stream_.async_ping({}, std::move(done));
      return;
    }
    stream_.text(message.kind == Outgoing::Kind::text);
    stream_.async_write(
        asio::buffer(message.bytes),
        [done = std::move(done)](const error_code& failed, std::size_t /*size*/) { done(failed); });
  }

  std::optional<CloseReason> close_reason(const error_code& failed) const override {
    // After a goodbye, TLS may end as it likes.
    if (failed != websocket::error::closed && !said_goodbye_) return std::nullopt;
    const auto& reason = stream_.reason();
    return CloseReason{reason.code, std::string(reason.reason.data(), reason.reason.size())};
  }

 private:
  Error tls_error(const error_code& failed) {
    const auto verdict = SSL_get_verify_result(layer().native_handle());
    if (verdict != X509_V_OK) {
      return {Errc::unavailable,
              "the certificate of " + origin_ + " is not trusted: " + X509_verify_cert_error_string(verdict)};
    }
    return {Errc::unavailable, "no TLS with " + origin_ + ": " + failed.message(), true};
  }

  std::string origin_;
  bool said_goodbye_ = false;  ///< the server has
  websocket::stream<Layer, false> stream_;
  beast::flat_buffer buffer_;
};

}  // namespace

TlsTrust::TlsTrust(bool verify, const std::string& ca_file) : state_(std::make_unique<State>()) {
  auto& context = state_->context;
  error_code failed;
  context.set_verify_mode(verify ? asio::ssl::verify_peer : asio::ssl::verify_none, failed);
  if (verify) context.set_default_verify_paths(failed);
  if (!ca_file.empty()) {
    context.load_verify_file(ca_file, failed);
    if (failed) throw Failure(Error(Errc::configuration, "no certificates can be read from " + ca_file));
  }
}

TlsTrust::~TlsTrust() = default;

std::unique_ptr<WebSocketWire> make_plain_wire(const asio::any_io_executor& executor) {
  return std::make_unique<Wire<tcp::socket>>(std::string(), executor);
}

std::unique_ptr<WebSocketWire> make_tls_wire(const asio::any_io_executor& executor, const WebSocketUrl& url,
                                             const std::shared_ptr<const TlsTrust>& trust) {
  auto wire = std::make_unique<Wire<TlsStream>>(url.origin(), executor, trust->state().context);
  auto* const tls = wire->layer().native_handle();
  // The certificate must be for that host, which is also said to the server (RFC 6066, 3: not for addresses).
  error_code not_address;
  asio::ip::make_address(url.host, not_address);
  const bool bound = not_address ? SSL_set_tlsext_host_name(tls, url.host.c_str()) == 1 &&
                                       SSL_set1_host(tls, url.host.c_str()) == 1
                                 : X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), url.host.c_str()) == 1;
  if (!bound) throw Failure(Error(Errc::internal, "a certificate cannot be checked for " + url.host));
  return wire;
}

bool is_too_big(const error_code& failed) {
  return failed == websocket::error::message_too_big || failed == websocket::error::buffer_overflow;
}

bool is_cut_off(const error_code& failed) {
  return failed == asio::error::eof || failed == asio::error::connection_reset ||
         failed == asio::error::broken_pipe || failed == asio::ssl::error::stream_truncated;
}

}  // namespace parley::net
