#include "parley/net/server_socket.hpp"

#include <algorithm>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <deque>
#include <utility>

#include "parley/core/log.hpp"

namespace parley::net {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using boost::system::error_code;

constexpr std::uint32_t kMaxHeader = 8 * 1024;
constexpr std::uint64_t kMaxBody = 16 * 1024;
/// A read buffer that grew over this for one large message is given back.
constexpr std::size_t kKeptBuffer = 1024;

class ServerConnection final : public Connection, public std::enable_shared_from_this<ServerConnection> {
 public:
  // No permessage-deflate: Opus does not compress, and its windows would cost 300 KB a device.
  using Stream = websocket::stream<Socket, false>;

  ServerConnection(Socket socket, const SocketLimits& limits)
      : stream_(std::move(socket)),
        close_timeout_(limits.handshake_timeout),
        max_send_queue_(limits.max_send_queue) {
    websocket::stream_base::timeout timeouts{};
    timeouts.handshake_timeout = limits.handshake_timeout;
    timeouts.idle_timeout = limits.idle_timeout;
    timeouts.keep_alive_pings = true;
    stream_.set_option(timeouts);
    stream_.set_option(websocket::stream_base::decorator(
        [](websocket::response_type& response) { response.set(http::field::server, "parley"); }));
    stream_.read_message_max(limits.max_message);
    stream_.write_buffer_bytes(512);
    stream_.auto_fragment(false);
  }

  Task<Result<>> accept(const http::request<http::string_body>& request) {
    const auto self = shared_from_this();
    const auto [failed] = co_await stream_.async_accept(request, asio::as_tuple(asio::use_awaitable));
    if (failed) co_return Error(Errc::closed, failed.message());
    co_return Result<>();
  }

  Task<Result<Incoming>> read() override {
    const auto self = shared_from_this();
    buffer_.consume(buffer_.size());
    if (buffer_.capacity() > kKeptBuffer) buffer_ = beast::flat_buffer();
    const auto [failed, size] = co_await stream_.async_read(buffer_, asio::as_tuple(asio::use_awaitable));
    if (failed) {
      dead_ = true;
      co_return read_error(failed);
    }
    const auto data = buffer_.cdata();
    co_return Incoming{stream_.got_text(), {static_cast<const std::uint8_t*>(data.data()), data.size()}};
  }

  void send_text(std::string text) override {
    enqueue({true, std::vector<std::uint8_t>(text.begin(), text.end())});
  }
  void send_binary(std::vector<std::uint8_t> bytes) override { enqueue({false, std::move(bytes)}); }

  void close(std::uint16_t code, std::string reason) override {
    if (closing_ || dead_) return;
    closing_ = true;
    // A control frame holds 125 bytes, two of them the code.
    reason.resize(std::min<std::size_t>(reason.size(), 120));
    reason_ = websocket::close_reason(websocket::close_code(code), reason);
    // A peer that reads nothing would hold up the close for ever.
    close_deadline_ = std::make_unique<asio::steady_timer>(stream_.get_executor(), close_timeout_);
    close_deadline_->async_wait([weak = weak_from_this()](const error_code& stopped) {
      if (const auto self = weak.lock(); self && !stopped && !self->dead_) self->abort();
    });
    if (!writing_) start_close();
  }

  void abort() override {
    dead_ = true;
    error_code ignored;
    beast::get_lowest_layer(stream_).close(ignored);
  }

  void drop_binary() override {
    std::erase_if(queue_, [this](const Outgoing& waiting) {
      if (!waiting.is_text) queued_ -= waiting.bytes.size();
      return !waiting.is_text;
    });
  }

  std::size_t queued_bytes() const override { return queued_; }

 private:
  struct Outgoing {
    bool is_text;
    std::vector<std::uint8_t> bytes;
  };

  static Error read_error(const error_code& failed) {
    if (failed == websocket::error::message_too_big) return {Errc::limit, "the message is too big"};
    if (failed == beast::error::timeout) return {Errc::timeout, "nothing was received for too long"};
    if (failed == websocket::error::closed || failed == asio::error::eof)
      return {Errc::closed, "closed by the device"};
    return {Errc::closed, failed.message()};
  }

  void enqueue(Outgoing message) {
    if (closing_ || dead_) return;
    queued_ += message.bytes.size();
    if (queued_ > max_send_queue_) {
      log::warn("a device does not take what is sent; its connection is dropped",
                {{"queued_bytes", queued_}});
      abort();
      return;
    }
    queue_.push_back(std::move(message));
    if (!writing_) write_next();
  }

  void write_next() {
    writing_ = true;
    sending_ = std::move(queue_.front());
    queue_.erase(queue_.begin());
    stream_.text(sending_.is_text);
    stream_.async_write(
        asio::buffer(sending_.bytes),
        [self = shared_from_this()](const error_code& failed, std::size_t) { self->written(failed); });
  }

  void written(const error_code& failed) {
    writing_ = false;
    queued_ -= sending_.bytes.size();
    sending_.bytes = {};
    if (failed || dead_) {
      dead_ = true;
      queue_ = {};
      return;
    }
    if (!queue_.empty()) {
      write_next();
    } else if (closing_) {
      start_close();
    }
  }

  void start_close() {
    writing_ = true;
    stream_.async_close(reason_, [self = shared_from_this()](const error_code&) { self->dead_ = true; });
  }

  Stream stream_;
  Millis close_timeout_;
  std::unique_ptr<asio::steady_timer> close_deadline_;
  beast::flat_buffer buffer_;
  std::vector<Outgoing> queue_;  // Short; a deque would cost half a kilobyte for every idle device.
  Outgoing sending_{};
  websocket::close_reason reason_;
  std::size_t queued_ = 0;
  std::size_t max_send_queue_;
  bool writing_ = false;
  bool closing_ = false;
  bool dead_ = false;
};

ServerRequest to_request(const http::request<http::string_body>& message, std::string remote_address) {
  ServerRequest request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  request.remote_address = std::move(remote_address);
  request.wants_websocket = websocket::is_upgrade(message);
  for (const auto& field : message) {
    auto name = std::string(field.name_string());
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    request.headers.emplace(std::move(name), std::string(field.value()));
  }
  return request;
}

http::response<http::string_body> to_response(const http::request<http::string_body>& request,
                                              HttpReply reply) {
  http::response<http::string_body> response(http::int_to_status(static_cast<unsigned>(reply.status)),
                                             request.version());
  response.set(http::field::server, "parley");
  response.set(http::field::content_type, reply.content_type);
  response.set(http::field::cache_control, "no-store");
  for (const auto& [name, value] : reply.headers) response.set(name, value);
  const bool head = request.method() == http::verb::head;
  const auto size = reply.body.size();
  if (!head) response.body() = std::move(reply.body);
  response.prepare_payload();
  if (head) response.content_length(size);
  response.keep_alive(request.keep_alive() && reply.status < 400);
  return response;
}

}  // namespace

Task<Upgraded> serve(Socket socket, std::function<HttpReply(const ServerRequest&)> handle,
                     SocketLimits limits, std::shared_ptr<Scheduler> scheduler) {
  error_code failed;
  socket.set_option(asio::ip::tcp::no_delay(true), failed);
  const auto remote = socket.remote_endpoint(failed);
  const auto address = failed ? std::string("unknown") : remote.address().to_string();
  const auto deadline = scheduler->make_timer();
  beast::flat_buffer buffer;
  while (true) {
    deadline->arm(scheduler->now() + limits.handshake_timeout, [&socket] {
      error_code ignored;
      socket.close(ignored);
    });
    http::request_parser<http::string_body> parser;
    parser.header_limit(kMaxHeader);
    parser.body_limit(kMaxBody);
    const auto [read_failed, bytes] =
        co_await http::async_read(socket, buffer, parser, asio::as_tuple(asio::use_awaitable));
    if (read_failed) {
      const bool too_large =
          read_failed == http::error::header_limit || read_failed == http::error::body_limit;
      const bool malformed = read_failed.category() == make_error_code(http::error::bad_target).category() &&
                             read_failed != http::error::end_of_stream;
      if (malformed && socket.is_open()) {
        HttpReply reply;
        reply.status = too_large ? 413 : 400;
        reply.body = too_large ? "the request is too large\n" : "the request is malformed\n";
        auto response = to_response(parser.get(), std::move(reply));
        response.keep_alive(false);
        co_await http::async_write(socket, response, asio::as_tuple(asio::use_awaitable));
      }
      break;
    }
    auto message = parser.release();
    auto request = to_request(message, address);
    auto reply = handle(request);
    if (reply.upgrade) {
      deadline->cancel();
      auto connection = std::make_shared<ServerConnection>(std::move(socket), limits);
      const auto accepted = co_await connection->accept(message);
      if (!accepted) co_return Upgraded{};
      co_return Upgraded{std::move(request), std::move(connection)};
    }
    auto response = to_response(message, std::move(reply));
    const bool keep = response.keep_alive();
    const auto [write_failed, written] =
        co_await http::async_write(socket, response, asio::as_tuple(asio::use_awaitable));
    if (write_failed || !keep) break;
  }
  deadline->cancel();
  socket.shutdown(asio::ip::tcp::socket::shutdown_both, failed);
  co_return Upgraded{};
}

}  // namespace parley::net
