#include "fakes/websocket_server.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <list>
#include <utility>

namespace parley::test {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;

class Peer final : public WebSocketPeer {
 public:
  explicit Peer(tcp::socket socket) : stream_(std::move(socket)) {}

  tcp::socket& socket() { return beast::get_lowest_layer(stream_); }

  /// The upgrade request.
  Task<> begin() {
    co_await http::async_read(socket(), buffer_, request_, asio::use_awaitable);
    target = request_.target();
    for (const auto& field : request_) {
      std::string name(field.name_string());
      std::ranges::transform(name, name.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      headers[name] = field.value();
    }
  }

  Task<> accept(std::string subprotocol) override {
    stream_.set_option(websocket::stream_base::decorator([subprotocol](websocket::response_type& response) {
      if (!subprotocol.empty()) response.set(http::field::sec_websocket_protocol, subprotocol);
    }));
    co_await stream_.async_accept(request_, asio::use_awaitable);
  }

  Task<> refuse(int status, std::string body) override {
    co_await raw("HTTP/1.1 " + std::to_string(status) +
                 " Said\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }

  Task<std::optional<Message>> read() override {
    buffer_.consume(buffer_.size());
    error_code failed;
    co_await stream_.async_read(buffer_, asio::redirect_error(asio::use_awaitable, failed));
    if (failed) co_return std::nullopt;
    co_return Message{stream_.got_text(), beast::buffers_to_string(buffer_.data())};
  }

  Task<> send_text(std::string text) override {
    stream_.text(true);
    co_await stream_.async_write(asio::buffer(text), asio::use_awaitable);
  }

  Task<> send_binary(std::string bytes) override {
    stream_.text(false);
    co_await stream_.async_write(asio::buffer(bytes), asio::use_awaitable);
  }

  Task<> close(std::uint16_t code, std::string reason) override {
    co_await stream_.async_close({websocket::close_code(code), reason}, asio::use_awaitable);
  }

  Task<> raw(std::string bytes) override {
    co_await asio::async_write(socket(), asio::buffer(bytes), asio::use_awaitable);
  }

  Task<> until_closed() override {
    error_code failed;
    char byte = 0;
    while (!failed) {
      co_await socket().async_read_some(asio::buffer(&byte, 1),
                                        asio::redirect_error(asio::use_awaitable, failed));
    }
  }

 private:
  websocket::stream<tcp::socket, false> stream_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
};

}  // namespace

struct WebSocketServer::State {
  State(asio::io_context& io, Handler with)
      : handler(std::move(with)), acceptor(io, {asio::ip::address_v4::loopback(), 0}) {}
  Handler handler;
  tcp::acceptor acceptor;
  std::list<Peer> peers;
  int ended = 0;

  static Task<> accept(std::shared_ptr<State> self) {
    while (true) {
      error_code failed;
      auto socket = co_await self->acceptor.async_accept(asio::redirect_error(asio::use_awaitable, failed));
      if (failed) co_return;
      auto& peer = self->peers.emplace_back(std::move(socket));
      asio::co_spawn(self->acceptor.get_executor(), serve(self, peer), asio::detached);
    }
  }

  static Task<> serve(std::shared_ptr<State> self, Peer& peer) {
    try {
      co_await peer.begin();
      co_await self->handler(peer);
    } catch (const std::exception&) {
      // The client is gone, or did something else than the handler waits for.
    }
    ++self->ended;
    error_code ignored;
    peer.socket().close(ignored);
  }
};

WebSocketServer::WebSocketServer(asio::io_context& io, Handler handler)
    : state_(std::make_shared<State>(io, std::move(handler))) {
  asio::co_spawn(io, State::accept(state_), asio::detached);
}

WebSocketServer::~WebSocketServer() {
  error_code ignored;
  state_->acceptor.close(ignored);
  for (auto& peer : state_->peers) peer.socket().close(ignored);
}

std::string WebSocketServer::url() const {
  return "ws://127.0.0.1:" + std::to_string(state_->acceptor.local_endpoint().port());
}

int WebSocketServer::connections() const {
  return static_cast<int>(state_->peers.size());
}

int WebSocketServer::ended() const {
  return state_->ended;
}

}  // namespace parley::test
