#include "parley/device/socket.hpp"

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <charconv>
#include <deque>
#include <variant>

namespace parley::device {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = asio::ip::tcp;
using Stream = websocket::stream<beast::tcp_stream>;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kMaxMessage = 1024UL * 1024;
constexpr std::size_t kMaxUnsent = 4UL * 1024 * 1024;
constexpr Millis kGoodbye{1000};

Error refusal(const http::response<http::string_body>& response) {
  const auto status = response.result_int();
  if (status == 401) return {Errc::unauthorized, "the server refused the token (HTTP 401)"};
  auto text = "the server refused the connection: HTTP " + std::to_string(status) + " " +
              std::string(response.reason());
  constexpr std::size_t shown = 200;
  if (!response.body().empty()) text += ", " + response.body().substr(0, shown);
  return {Errc::unavailable, text, status == 429 || status >= 500};
}

Error connect_error(const Url& url, const boost::system::error_code& failed) {
  const auto where = url.host + ":" + url.port;
  if (failed == beast::error::timeout) return {Errc::timeout, "no answer from " + where + " in time", true};
  return {Errc::unavailable, "cannot connect to " + where + ": " + failed.message(), true};
}

}  // namespace

struct Target::Endpoints {
  tcp::resolver::results_type list;
};

Result<Url> parse_url(std::string_view text) {
  const auto wrong = [&](const char* why) {
    return Error(Errc::invalid_input, "\"" + std::string(text) + "\" is not a usable URL: " + why);
  };
  constexpr std::string_view scheme = "ws://";
  if (text.starts_with("wss://")) return wrong("only ws:// is spoken, not wss://");
  if (!text.starts_with(scheme)) return wrong("it must begin with ws://");
  const bool printable = std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!printable) return wrong("it holds characters that no URL may have");
  auto rest = text.substr(scheme.size());
  Url url;
  const auto slash = std::min(rest.find_first_of("/?"), rest.size());
  if (slash < rest.size()) url.path = (rest[slash] == '?' ? "/" : "") + std::string(rest.substr(slash));
  url.path.erase(std::min(url.path.find('#'), url.path.size()));
  auto authority = rest.substr(0, slash);
  if (authority.find('@') != std::string_view::npos) return wrong("it must not hold a user name");
  const auto bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == std::string_view::npos) return wrong("the address's bracket is not closed");
  const auto colon = authority.find(':', bracket);
  url.host = authority.substr(0, colon);
  if (bracket > 0) url.host = url.host.substr(1, bracket - 1);
  if (url.host.empty()) return wrong("the host is missing");
  if (colon != std::string_view::npos) {
    const auto port = authority.substr(colon + 1);
    unsigned value = 0;
    const auto [stopped, failed] = std::from_chars(port.data(), port.data() + port.size(), value);
    if (failed != std::errc() || stopped != port.data() + port.size() || value < 1 || value > 65535) {
      return wrong("the port must be a number from 1 to 65535");
    }
    url.port = port;
  }
  return url;
}

Task<Result<Target>> Target::resolve(Url url) {
  tcp::resolver resolver(co_await asio::this_coro::executor);
  auto [failed, list] = co_await resolver.async_resolve(url.host, url.port, kAwait);
  if (failed) {
    co_return Error(Errc::unavailable, "cannot find the host \"" + url.host + "\": " + failed.message(),
                    true);
  }
  auto endpoints = std::make_shared<Endpoints>();
  endpoints->list = std::move(list);
  co_return Target(std::move(url), std::move(endpoints));
}

namespace {

class BeastSocket final : public Socket, public std::enable_shared_from_this<BeastSocket> {
 public:
  explicit BeastSocket(const asio::any_io_executor& executor) : stream_(executor), goodbye_(executor) {}

  Task<Result<>> open(const Url& url, const tcp::resolver::results_type& endpoints, Headers headers,
                      Millis limit) {
    auto& tcp_layer = beast::get_lowest_layer(stream_);
    tcp_layer.expires_after(limit);
    const auto [unreachable, endpoint] = co_await tcp_layer.async_connect(endpoints, kAwait);
    if (unreachable) co_return connect_error(url, unreachable);
    boost::system::error_code ignored;
    tcp_layer.socket().set_option(tcp::no_delay(true), ignored);

    stream_.set_option(websocket::stream_base::decorator([&headers](websocket::request_type& request) {
      request.set(http::field::user_agent, "parley-device/" PARLEY_VERSION);
      for (const auto& [name, value] : headers) request.set(name, value);
    }));
    constexpr std::size_t buffer = 512;
    stream_.write_buffer_bytes(buffer);
    stream_.read_message_max(kMaxMessage);
    stream_.auto_fragment(false);
    const auto host =
        (url.host.find(':') == std::string::npos ? url.host : "[" + url.host + "]") + ":" + url.port;
    http::response<http::string_body> response;
    const auto [declined] = co_await stream_.async_handshake(response, host, url.path, kAwait);
    if (declined == websocket::error::upgrade_declined) co_return refusal(response);
    if (declined == beast::error::timeout || declined == asio::error::operation_aborted) {
      co_return connect_error(url, beast::error::timeout);
    }
    if (declined) {
      co_return Error(Errc::unavailable, "the server does not speak WebSocket there: " + declined.message());
    }
    tcp_layer.expires_never();
    co_return Result<>();
  }

  Task<Result<Message>> read() override {
    const auto self = shared_from_this();
    buffer_.consume(buffer_.size());
    const auto [failed, size] = co_await stream_.async_read(buffer_, kAwait);
    if (failed) {
      ended_ = true;
      goodbye_.cancel();
      co_return end_error(failed);
    }
    const auto data = buffer_.cdata();
    co_return Message{stream_.got_binary(), {static_cast<const std::uint8_t*>(data.data()), data.size()}};
  }

  void send_text(std::string text) override { enqueue(std::move(text), false); }
  void send_binary(SharedBytes bytes) override { enqueue(std::move(bytes), true); }

  void close() override {
    if (ended_ || closing_) return;
    closing_ = true;
    if (!writing_) say_goodbye();
  }

 private:
  using Unsent = std::variant<std::string, SharedBytes>;

  static asio::const_buffer bytes_of(const Unsent& message) {
    if (const auto* const text = std::get_if<std::string>(&message)) return asio::buffer(*text);
    return asio::buffer(*std::get<SharedBytes>(message));
  }

  void enqueue(Unsent message, bool binary) {
    if (ended_ || closing_) return;
    unsent_bytes_ += bytes_of(message).size();
    if (unsent_bytes_ > kMaxUnsent) {
      overrun_ = true;
      drop();
      return;
    }
    unsent_.emplace_back(std::move(message), binary);
    if (!writing_) write();
  }

  void write() {
    writing_ = true;
    stream_.binary(unsent_.front().second);
    stream_.async_write(bytes_of(unsent_.front().first),
                        [self = shared_from_this()](const boost::system::error_code& failed, std::size_t) {
                          self->written(failed);
                        });
  }

  void written(const boost::system::error_code& failed) {
    writing_ = false;
    if (!unsent_.empty()) {
      unsent_bytes_ -= bytes_of(unsent_.front().first).size();
      unsent_.pop_front();
    }
    if (failed || ended_) return;  // read() tells about it.
    if (!unsent_.empty()) {
      write();
    } else if (closing_) {
      say_goodbye();
    }
  }

  void say_goodbye() {
    goodbye_.expires_after(kGoodbye);
    goodbye_.async_wait([weak = weak_from_this()](const boost::system::error_code& cancelled) {
      const auto self = weak.lock();
      if (self && !cancelled) self->drop();
    });
    // The close frame is sent by async_close; when a read is pending, that read sees the server's answer.
    stream_.async_close(websocket::close_code::normal,
                        [self = shared_from_this()](const boost::system::error_code&) {
                          self->ended_ = true;
                          self->goodbye_.cancel();
                        });
  }

  void drop() {
    ended_ = true;
    beast::get_lowest_layer(stream_).close();
  }

  Error end_error(const boost::system::error_code& failed) const {
    if (overrun_) return {Errc::closed, "the server does not read what it is sent"};
    if (failed == websocket::error::message_too_big || failed == websocket::error::buffer_overflow) {
      return {Errc::limit, "the server sent a message of more than 1 MiB"};
    }
    if (failed == websocket::error::closed) {
      const auto& reason = stream_.reason();
      auto text = "the server closed the connection (" + std::to_string(reason.code);
      if (!reason.reason.empty()) text += ", " + std::string(reason.reason.c_str());
      return {Errc::closed, text + ")"};
    }
    if (failed == asio::error::eof || failed == asio::error::connection_reset) {
      return {Errc::closed, "the server dropped the connection without a goodbye"};
    }
    return {Errc::closed, "the connection was lost: " + failed.message()};
  }

  Stream stream_;
  asio::steady_timer goodbye_;
  beast::flat_buffer buffer_;
  std::deque<std::pair<Unsent, bool>> unsent_;
  std::size_t unsent_bytes_ = 0;
  bool writing_ = false;
  bool closing_ = false;
  bool ended_ = false;
  bool overrun_ = false;
};

}  // namespace

Task<Result<std::shared_ptr<Socket>>> Socket::connect(Target target, Headers headers, Millis limit) {
  const auto socket = std::make_shared<BeastSocket>(co_await asio::this_coro::executor);
  const auto opened = co_await socket->open(target.url_, target.endpoints_->list, std::move(headers), limit);
  if (!opened) co_return opened.error();
  co_return std::shared_ptr<Socket>(socket);
}

}  // namespace parley::device
