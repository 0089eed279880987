#include "fakes/http_server.hpp"

#include <algorithm>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdlib>
#include <list>
#include <utility>

namespace parley::test {
namespace {

namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr std::uint64_t kMaxBody = 64U * 1024 * 1024;

std::string hex(std::size_t number) {
  std::string text;
  do {
    text.insert(text.begin(), "0123456789abcdef"[number % 16]);
    number /= 16;
  } while (number > 0);
  return text;
}

}  // namespace

struct HttpServer::State {
  State(asio::io_context& io, Handler with)
      : handler(std::move(with)), acceptor(io, {asio::ip::address_v4::loopback(), 0}) {}
  Handler handler;
  tcp::acceptor acceptor;
  std::list<tcp::socket> sockets;
  std::vector<HttpAsked> asked;
  int connections = 0;
  int closed = 0;

  static Task<> accept(std::shared_ptr<State> self) {
    while (true) {
      boost::system::error_code failed;
      auto socket = co_await self->acceptor.async_accept(asio::redirect_error(asio::use_awaitable, failed));
      if (failed) co_return;
      ++self->connections;
      self->sockets.push_back(std::move(socket));
      asio::co_spawn(self->acceptor.get_executor(), serve(self, std::prev(self->sockets.end())),
                     asio::detached);
    }
  }

  static Task<> serve(std::shared_ptr<State> self, std::list<tcp::socket>::iterator socket) {
    boost::beast::flat_buffer buffer;
    try {
      while (true) {
        http::request_parser<http::string_body> parser;
        parser.body_limit(kMaxBody);
        co_await http::async_read(*socket, buffer, parser, asio::use_awaitable);
        const auto& request = parser.get();
        HttpExchange exchange(*socket);
        exchange.asked = {
            std::string(request.method_string()), std::string(request.target()), {}, request.body()};
        for (const auto& field : request) {
          std::string name(field.name_string());
          std::ranges::transform(name, name.begin(),
                                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
          exchange.asked.headers[name] = field.value();
        }
        self->asked.push_back(exchange.asked);
        co_await self->handler(exchange);
        if (exchange.closing()) break;
      }
    } catch (const boost::system::system_error&) {
      ++self->closed;
    }
    boost::system::error_code ignored;
    socket->close(ignored);
  }
};

Task<> HttpExchange::write(std::string bytes) {
  co_await asio::async_write(*socket_, asio::buffer(bytes), asio::use_awaitable);
}

Task<> HttpExchange::respond(int status, std::string content_type, std::string body, std::string extra) {
  co_await write("HTTP/1.1 " + std::to_string(status) + " Said\r\nContent-Type: " + content_type +
                 "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + extra + "\r\n" + body);
}

Task<> HttpExchange::begin(std::string content_type, int status) {
  co_await write("HTTP/1.1 " + std::to_string(status) + " Said\r\nContent-Type: " + content_type +
                 "\r\nTransfer-Encoding: chunked\r\n\r\n");
}

Task<> HttpExchange::chunk(std::string bytes) {
  co_await write(hex(bytes.size()) + "\r\n" + bytes + "\r\n");
}

Task<> HttpExchange::end() {
  co_await write("0\r\n\r\n");
}

Task<> HttpExchange::until_closed() {
  char byte = 0;
  while (true) co_await socket_->async_read_some(asio::buffer(&byte, 1), asio::use_awaitable);
}

HttpServer::HttpServer(asio::io_context& io, Handler handler)
    : state_(std::make_shared<State>(io, std::move(handler))) {
  // A proxy for the world outside is none for this machine.
  ::setenv("no_proxy", "127.0.0.1", 1);
  asio::co_spawn(io, State::accept(state_), asio::detached);
}

HttpServer::~HttpServer() {
  boost::system::error_code ignored;
  state_->acceptor.close(ignored);
  for (auto& socket : state_->sockets) socket.close(ignored);
}

std::string HttpServer::url() const {
  return "http://127.0.0.1:" + std::to_string(state_->acceptor.local_endpoint().port());
}

const std::vector<HttpAsked>& HttpServer::asked() const {
  return state_->asked;
}

int HttpServer::connections() const {
  return state_->connections;
}

int HttpServer::closed() const {
  return state_->closed;
}

void run_until_quiet(asio::io_context& io) {
  constexpr std::chrono::milliseconds kMoment{200};
  io.restart();
  while (io.run_one_for(kMoment) > 0) {
  }
}

bool run_until(asio::io_context& io, const std::function<bool()>& done) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!done()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    io.restart();
    io.run_one_for(std::chrono::milliseconds(100));
  }
  return true;
}

}  // namespace parley::test
