#include "providers/wyoming/link.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "parley/core/async_event.hpp"

namespace parley::providers::wyoming {
namespace {

using asio::ip::tcp;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kReadSize = std::size_t{16} * 1024;

}  // namespace

struct Link::State {
  State(const asio::any_io_executor& executor, const WyomingEndpoint& at, std::size_t limit)
      : endpoint(at),
        max_unsent(limit),
        clock(at.clock(executor)),
        resolver(executor),
        socket(executor),
        connecting(clock->make_timer()),
        answering(clock->make_timer()),
        connected_or_ended(executor),
        has_unsent(executor) {}

  const WyomingEndpoint endpoint;
  const std::size_t max_unsent;
  std::shared_ptr<Scheduler> clock;
  tcp::resolver resolver;
  tcp::socket socket;
  std::unique_ptr<Timer> connecting;
  std::unique_ptr<Timer> answering;
  AsyncEvent connected_or_ended;
  AsyncEvent has_unsent;
  bool connected = false;
  std::optional<Error> ended;
  std::string unsent;

  EventParser parser;
  std::array<char, kReadSize> buffer{};
  std::size_t received = 0;

  bool reading = false;
  bool expecting = false;
  bool answered = false;
  Duration waited{};
  TimePoint waiting_since{};

  void end(Error error) {
    if (ended) return;
    ended = std::move(error);
    connecting->cancel();
    answering->cancel();
    resolver.cancel();
    boost::system::error_code ignored;
    socket.close(ignored);
    connected_or_ended.notify();
    has_unsent.notify();
  }

  Error failure(Errc code, const std::string& what) const {
    return {code, endpoint.uri() + " " + what, code != Errc::invalid_input && code != Errc::limit};
  }

  /// An answer is expected, and somebody waits for it.
  void watch() {
    const auto& deadlines = endpoint.limits.deadlines;
    const auto left = std::chrono::duration_cast<Duration>(deadlines.total) - waited;
    const auto limit = std::min<Duration>(answered ? deadlines.idle : deadlines.first_byte, left);
    waiting_since = clock->now();
    answering->arm(waiting_since + limit, [this] {
      end(failure(Errc::timeout,
                  answered ? "stopped in the middle of its answer" : "did not answer in time"));
    });
  }

  void stop_watching() {
    reading = false;
    if (!expecting) return;
    answering->cancel();
    waited += clock->now() - waiting_since;
  }

  static Task<std::optional<Error>> connect(std::shared_ptr<State> self) {
    const auto unreachable = [&](const boost::system::error_code& why) {
      return self->failure(Errc::unavailable, "cannot be reached: " + why.message());
    };
    const auto& host = self->endpoint.host;
    const auto port = self->endpoint.port;
    // Addresses do not queue behind a name that cannot be resolved.
    boost::system::error_code no_address;
    const auto address = asio::ip::make_address(host, no_address);
    std::vector<tcp::endpoint> endpoints;
    if (no_address) {
      auto [failed, found] = co_await self->resolver.async_resolve(host, std::to_string(port), kAwait);
      if (failed) co_return unreachable(failed);
      for (const auto& entry : found) endpoints.push_back(entry.endpoint());
    } else {
      endpoints.emplace_back(address, port);
    }
    if (self->ended) co_return self->ended;
    const auto [failed, endpoint] = co_await asio::async_connect(self->socket, endpoints, kAwait);
    if (failed) co_return unreachable(failed);
    boost::system::error_code ignored;
    self->socket.set_option(tcp::no_delay(true), ignored);
    co_return std::nullopt;
  }

  /// The link's life on the sending side.
  static Task<> run(std::shared_ptr<State> self) {
    if (auto failed = co_await connect(self)) self->end(std::move(*failed));
    if (self->ended) co_return;
    self->connecting->cancel();
    self->connected = true;
    self->connected_or_ended.notify();
    std::string sending;
    while (true) {
      while (self->unsent.empty() && !self->ended) co_await self->has_unsent.wait();
      if (self->ended) co_return;
      sending.swap(self->unsent);
      const auto [failed, size] = co_await asio::async_write(self->socket, asio::buffer(sending), kAwait);
      // Whoever reads is told by the socket; what the server said before it went may still be there.
      if (failed) co_return;
      sending.clear();
    }
  }
};

Link::Link(const asio::any_io_executor& executor, const WyomingEndpoint& endpoint, std::size_t max_unsent)
    : state_(std::make_shared<State>(executor, endpoint, max_unsent)) {
  state_->connecting->arm(state_->clock->now() + endpoint.limits.deadlines.connect, [state = state_.get()] {
    state->end(state->failure(Errc::timeout, "cannot be reached in time"));
  });
  asio::co_spawn(executor, State::run(state_), asio::detached);
}

Link::~Link() {
  state_->end(Error(Errc::cancelled, "the link was dropped"));
}

void Link::send(const Event& event) {
  if (state_->ended) return;
  const auto bytes = write_event(event);
  if (bytes.size() > state_->max_unsent - state_->unsent.size()) {
    state_->end(state_->failure(Errc::overloaded, "does not take what it is sent"));
    return;
  }
  state_->unsent += bytes;
  state_->has_unsent.notify();
}

void Link::expect_answer() {
  if (std::exchange(state_->expecting, true)) return;
  if (state_->reading) state_->watch();
}

Task<Result<Event>> Link::next() {
  const auto state = state_;
  while (!state->connected && !state->ended) co_await state->connected_or_ended.wait();
  while (true) {
    if (auto event = state->parser.next()) {
      state->answered = state->expecting;
      co_return std::move(*event);
    }
    if (state->ended) co_return *state->ended;
    state->reading = true;
    if (state->expecting) state->watch();
    const auto [failed, size] = co_await state->socket.async_read_some(asio::buffer(state->buffer), kAwait);
    state->stop_watching();
    if (state->ended) co_return *state->ended;
    if (failed == asio::error::operation_aborted) throw boost::system::system_error(failed);
    if (failed) {
      state->end(state->failure(Errc::closed, state->parser.in_event() ? "broke off in the middle of an event"
                                                                       : "closed the connection"));
      continue;
    }
    state->received += size;
    if (state->received > state->endpoint.limits.max_response) {
      state->end(state->failure(Errc::limit, "answers more than max_response"));
      continue;
    }
    if (const auto read = state->parser.push({state->buffer.data(), size}); !read)
      state->end(state->failure(read.error().code, "sent " + read.error().message));
  }
}

bool Link::is_stale() const {
  if (state_->ended) return true;
  if (!state_->connected) return false;
  auto& socket = state_->socket;
  boost::system::error_code failed;
  socket.non_blocking(true, failed);
  char byte = 0;
  socket.receive(asio::buffer(&byte, 1), tcp::socket::message_peek, failed);
  return failed != asio::error::would_block;
}

Error error_of(const Event& event, const std::string& uri) {
  const auto text = event.data.find("text");
  const auto said = text == event.data.end() ? std::string() : engine::message_of(*text);
  return {Errc::unavailable, uri + " reports an error" + (said.empty() ? "" : ": " + said), true};
}

}  // namespace parley::providers::wyoming
