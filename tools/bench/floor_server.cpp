#include "floor_server.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <charconv>
#include <csignal>
#include <utility>

#include "parley/core/task.hpp"

namespace parley::tools {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using Stream = beast::websocket::stream<tcp::socket>;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

Task<> replay(std::shared_ptr<Stream> stream, const std::vector<TracedFrame>& frames) {
  asio::steady_timer timer(stream->get_executor());
  const auto begin = Clock::now();
  std::vector<std::uint8_t> bytes;
  stream->binary(true);
  for (const auto& frame : frames) {
    const auto due = begin + std::chrono::microseconds(frame.at_us);
    if (due > Clock::now()) {
      timer.expires_at(due);
      co_await timer.async_wait(kAwait);
    }
    bytes.resize(frame.bytes);
    const auto [failed, size] = co_await stream->async_write(asio::buffer(bytes), kAwait);
    if (failed) co_return;
  }
}

Task<> serve(tcp::socket socket, const std::vector<Trace>& traces) {
  beast::flat_buffer buffer;
  http::request<http::empty_body> request;
  socket.set_option(tcp::no_delay(true));
  const auto [unread, header_size] = co_await http::async_read(socket, buffer, request, kAwait);
  const auto target = request.target();
  std::size_t index = 0;
  if (unread || target.size() < 2 ||
      std::from_chars(target.data() + 1, target.data() + target.size(), index).ec != std::errc() ||
      index >= traces.size()) {
    co_return;
  }
  const auto stream = std::make_shared<Stream>(std::move(socket));
  constexpr std::size_t write_buffer = 512;
  stream->write_buffer_bytes(write_buffer);
  stream->auto_fragment(false);
  const auto [refused] = co_await stream->async_accept(request, kAwait);
  if (refused) co_return;
  buffer.consume(buffer.size());
  while (true) {
    const auto [ended, size] = co_await stream->async_read(buffer, kAwait);
    if (ended) co_return;
    if (stream->got_text()) {
      asio::co_spawn(stream->get_executor(), replay(stream, traces[index].downlink), asio::detached);
    }
    buffer.consume(buffer.size());
  }
}

Task<> accept_all(tcp::acceptor& acceptor, const std::vector<Trace>& traces) {
  while (true) {
    auto [failed, socket] = co_await acceptor.async_accept(kAwait);
    if (failed) co_return;
    asio::co_spawn(acceptor.get_executor(), serve(std::move(socket), traces), asio::detached);
  }
}

}  // namespace

Result<FloorServer> FloorServer::start(const std::vector<Trace>& traces) {
  asio::io_context io(1);
  boost::system::error_code failed;
  tcp::acceptor acceptor(io);
  acceptor.open(tcp::v4(), failed);
  if (!failed) acceptor.bind({asio::ip::address_v4::loopback(), 0}, failed);
  if (!failed) acceptor.listen(asio::socket_base::max_listen_connections, failed);
  if (failed) return Error(Errc::internal, "cannot listen for the floor's server: " + failed.message());
  const auto port = acceptor.local_endpoint().port();
  io.notify_fork(asio::io_context::fork_prepare);
  const auto pid = fork();
  if (pid < 0) return Error(Errc::internal, "cannot start the floor's server");
  if (pid > 0) {
    io.notify_fork(asio::io_context::fork_parent);
    return FloorServer(pid, port);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  io.notify_fork(asio::io_context::fork_child);
  asio::co_spawn(io, accept_all(acceptor, traces), asio::detached);
  io.run();
  _exit(0);
}

FloorServer::FloorServer(FloorServer&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), port_(other.port_) {
}

FloorServer::~FloorServer() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

}  // namespace parley::tools
