#include "fakes/wyoming_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <stdexcept>
#include <utility>

namespace parley::test {
namespace {

using asio::ip::tcp;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

}  // namespace

struct WyomingServer::State {
  State(asio::io_context& io, Handler with)
      : handler(std::move(with)), acceptor(io, {asio::ip::address_v4::loopback(), 0}) {}
  Handler handler;
  tcp::acceptor acceptor;
  std::uint16_t port = acceptor.local_endpoint().port();
  std::vector<std::shared_ptr<WyomingPeer>> peers;

  static Task<> accept(std::shared_ptr<State> self) {
    while (true) {
      auto [failed, socket] = co_await self->acceptor.async_accept(kAwait);
      if (failed) co_return;
      self->peers.push_back(std::make_shared<WyomingPeer>(std::move(socket)));
      asio::co_spawn(self->acceptor.get_executor(), serve(self, self->peers.back()), asio::detached);
    }
  }

  static Task<> serve(std::shared_ptr<State> self, std::shared_ptr<WyomingPeer> peer) {
    co_await self->handler(*peer);
    peer->close();
  }
};

Task<std::optional<WyomingEvent>> WyomingPeer::read() {
  while (!closed_by_client) {
    if (auto event = parser_.next()) {
      seen.push_back(*event);
      co_return event;
    }
    std::string buffer(4096, '\0');
    const auto [failed, size] = co_await socket_.async_read_some(asio::buffer(buffer), kAwait);
    closed_by_client = failed == asio::error::eof || failed == asio::error::connection_reset;
    if (failed) co_return std::nullopt;
    if (!parser_.push(std::string_view(buffer).substr(0, size)))
      throw std::runtime_error("the client sends no Wyoming events");
  }
  co_return std::nullopt;
}

Task<> WyomingPeer::until(std::string type) {
  while (true) {
    const auto event = co_await read();
    if (!event || event->type == type) co_return;
  }
}

Task<> WyomingPeer::write(std::string bytes) {
  if (closed_by_client) co_return;
  const auto [failed, size] = co_await asio::async_write(socket_, asio::buffer(bytes), kAwait);
  closed_by_client = failed == asio::error::broken_pipe || failed == asio::error::connection_reset;
}

Task<> WyomingPeer::until_closed() {
  while (co_await read()) {
  }
}

void WyomingPeer::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

std::string WyomingPeer::seen_types() const {
  std::string types;
  std::string last;
  for (const auto& event : seen) {
    if (event.type != last) types += (types.empty() ? "" : " ") + event.type;
    last = event.type;
  }
  return types;
}

std::string WyomingPeer::seen_payload() const {
  std::string payload;
  for (const auto& event : seen) payload += event.payload;
  return payload;
}

WyomingServer::WyomingServer(asio::io_context& io, Handler handler)
    : state_(std::make_shared<State>(io, std::move(handler))) {
  asio::co_spawn(io, State::accept(state_), asio::detached);
}

WyomingServer::~WyomingServer() {
  stop_listening();
  for (const auto& peer : state_->peers) peer->close();
}

providers::WyomingEndpoint WyomingServer::endpoint() const {
  providers::WyomingEndpoint endpoint;
  endpoint.host = "127.0.0.1";
  endpoint.port = state_->port;
  endpoint.limits.retry.retries = 0;
  return endpoint;
}

const std::vector<std::shared_ptr<WyomingPeer>>& WyomingServer::peers() const {
  return state_->peers;
}

void WyomingServer::stop_listening() {
  boost::system::error_code ignored;
  state_->acceptor.close(ignored);
}

WyomingEvent wyoming_audio(int rate, int width, int channels, std::string payload) {
  return {payload.empty() ? "audio-start" : "audio-chunk",
          {{"rate", rate}, {"width", width}, {"channels", channels}, {"timestamp", nullptr}},
          std::move(payload)};
}

}  // namespace parley::test
