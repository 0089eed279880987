#include "device/fake_server.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include "parley/core/async_event.hpp"

namespace parley::device {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

class BeastClient final : public FakeServer::Client {
 public:
  explicit BeastClient(tcp::socket socket) : stream_(std::move(socket)), arrived_(stream_.get_executor()) {}

  Task<bool> accept(unsigned status) {
    http::request<http::string_body> request;
    co_await http::async_read(stream_.next_layer(), buffer_, request, kAwait);
    for (const auto& field : request) headers.emplace_back(field.name_string(), field.value());
    if (status != 101) {
      http::response<http::string_body> response(static_cast<http::status>(status), request.version());
      response.prepare_payload();
      co_await http::async_write(stream_.next_layer(), response, kAwait);
      co_return false;
    }
    co_await stream_.async_accept(request, kAwait);
    co_return true;
  }

  Task<> read_all() {
    while (true) {
      buffer_.clear();
      const auto [failed, size] = co_await stream_.async_read(buffer_, kAwait);
      if (failed) break;
      const auto* const data = static_cast<const std::uint8_t*>(buffer_.cdata().data());
      if (stream_.got_binary()) {
        frames.emplace_back(data, data + size);
      } else {
        texts.push_back(nlohmann::json::parse(data, data + size, nullptr, false));
      }
      arrived_.notify();
    }
    gone = true;
    arrived_.notify();
  }

  Task<> text(std::string text) override {
    stream_.binary(false);
    co_await stream_.async_write(asio::buffer(text), kAwait);
  }
  Task<> binary(std::vector<std::uint8_t> bytes) override {
    stream_.binary(true);
    co_await stream_.async_write(asio::buffer(bytes), kAwait);
  }
  Task<> close(std::uint16_t code, std::string reason) override {
    co_await stream_.async_close({static_cast<beast::websocket::close_code>(code), reason}, kAwait);
  }
  void drop() override { stream_.next_layer().close(); }
  Task<> until(std::function<bool()> ready) override {
    while (!gone && !ready()) co_await arrived_.wait();
  }

 private:
  beast::websocket::stream<tcp::socket> stream_;
  beast::flat_buffer buffer_;
  AsyncEvent arrived_;
};

bool holds(const nlohmann::json& text, const nlohmann::json& members) {
  return text.is_object() &&
         std::all_of(members.items().begin(), members.items().end(), [&](const auto& member) {
           return text.contains(member.key()) && text[member.key()] == member.value();
         });
}

}  // namespace

std::size_t FakeServer::Client::count(const nlohmann::json& members) const {
  return static_cast<std::size_t>(
      std::count_if(texts.begin(), texts.end(), [&](const auto& text) { return holds(text, members); }));
}

Task<> FakeServer::Client::expect(nlohmann::json members) {
  const auto before = count(members);
  if (before == 0) co_await until([&] { return count(members) > 0; });
}

class FakeServer::Impl {
 public:
  Impl(asio::io_context& io, Script script, unsigned status)
      : acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        script_(std::move(script)),
        status_(status) {}

  /// One connection, then no more, so that the io_context runs dry at the test's end.
  static Task<> serve(std::shared_ptr<Impl> self) {
    auto [failed, socket] = co_await self->acceptor.async_accept(kAwait);
    if (failed) co_return;
    const auto client = std::make_shared<BeastClient>(std::move(socket));
    if (!co_await client->accept(self->status_)) co_return;
    asio::co_spawn(
        self->acceptor.get_executor(), [](auto kept) -> Task<> { co_await kept->read_all(); }(client),
        asio::detached);
    co_await self->script_(*client);
    co_await client->until([] { return false; });
  }

  tcp::acceptor acceptor;

 private:
  Script script_;
  unsigned status_;
};

FakeServer::FakeServer(asio::io_context& io, Script script, unsigned status)
    : impl_(std::make_shared<Impl>(io, std::move(script), status)) {
  asio::co_spawn(io, Impl::serve(impl_), asio::detached);
}

std::uint16_t FakeServer::port() const {
  return impl_->acceptor.local_endpoint().port();
}

void FakeServer::close() {
  impl_->acceptor.close();
}

}  // namespace parley::device
