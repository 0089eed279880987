#include "parley/net/websocket_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <deque>
#include <utility>

#include "net/websocket_wire.hpp"
#include "parley/core/async_event.hpp"

namespace parley::net {

using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

/// How a server ends what has come to its end (RFC 6455, 7.4.1); Beast's 0 and 1005 stand for a close without
/// a code.
bool is_normal(std::uint16_t code) {
  return code == 0 || code == 1000 || code == 1001 || code == 1005;
}

}  // namespace

struct WebSocketClient::State : std::enable_shared_from_this<WebSocketClient::State> {
  State(const asio::any_io_executor& on, std::shared_ptr<Scheduler> by, WebSocketRequest asked)
      : executor(on),
        scheduler(std::move(by)),
        request(std::move(asked)),
        resolver(on),
        changed(on),
        connecting(scheduler->make_timer()),
        deadline(scheduler->make_timer()) {}

  void begin() {
    auto parsed = parse_websocket_url(request.url);
    if (!parsed) {
      end(Error(Errc::configuration, "this is no usable WebSocket address"));
      return;
    }
    url = std::move(*parsed);
    if (url.tls && !request.trust) request.trust = std::make_shared<const TlsTrust>(true);
    connecting->arm(scheduler->now() + request.connect_timeout, [this] {
      end(Error(Errc::timeout, "no connection to " + url.origin() + " in time", true));
    });
    asio::co_spawn(executor, connect(shared_from_this()),
                   [self = shared_from_this()](const std::exception_ptr& thrown) {
                     if (thrown) self->end(Error(Errc::internal, "the connection could not be made"));
                   });
  }

  static Task<> connect(std::shared_ptr<State> self) {
    const auto opened = co_await self->open();
    if (self->ended()) co_return;
    if (!opened) {
      self->end(opened.error());
      co_return;
    }
    self->connecting->cancel();
    self->connected = true;
    self->changed.notify();
    if (!self->unsent.empty()) self->write();
  }

  /// Whatever is over in between (the deadline passed) has set its error already; what is returned then is
  /// not looked at.
  Task<Result<>> open() {
    // Addresses do not queue behind a name that cannot be resolved.
    std::vector<tcp::endpoint> endpoints;
    error_code is_name;
    const auto address = asio::ip::make_address(url.host, is_name);
    if (is_name) {
      const auto [unknown, found] = co_await resolver.async_resolve(url.host, url.port, kAwait);
      if (unknown) {
        co_return Error(Errc::unavailable,
                        "cannot find the host of " + url.origin() + ": " + unknown.message(), true);
      }
      if (ended()) co_return Result<>();
      for (const auto& entry : found) endpoints.push_back(entry.endpoint());
    } else {
      endpoints.emplace_back(address, static_cast<std::uint16_t>(std::stoi(url.port)));
    }
    wire = url.tls ? make_tls_wire(executor, url, request.trust) : make_plain_wire(executor);
    const auto [unreachable, endpoint] = co_await asio::async_connect(wire->socket(), endpoints, kAwait);
    if (unreachable) {
      co_return Error(Errc::unavailable, "cannot connect to " + url.origin() + ": " + unreachable.message(),
                      true);
    }
    if (ended()) co_return Result<>();
    error_code ignored;
    wire->socket().set_option(tcp::no_delay(true), ignored);
    if (const auto secured = co_await wire->secure(); !secured) co_return secured.error();
    if (ended()) co_return Result<>();
    auto answer = co_await wire->upgrade(url, request, [this] {
      answered = true;
      if (on_answer) on_answer();
    });
    if (!answer.failed) co_return Result<>();
    if (answer.status == 0) {
      co_return Error(Errc::unavailable,
                      url.origin() + " does not speak WebSocket there: " + answer.failed.message());
    }
    if (request.refused) co_return request.refused(answer.status, answer.body);
    co_return Error(Errc::unavailable, url.origin() + " answers " + std::to_string(answer.status));
  }

  bool ended() const { return error || closed; }

  void end(std::optional<Error> why) {
    if (ended()) return;
    closed = !why;
    error = std::move(why);
    connecting->cancel();
    deadline->cancel();
    resolver.cancel();
    unsent.clear();
    if (wire) wire->close();
    changed.notify();
  }

  void send(Outgoing message) {
    if (ended()) return;
    unsent_bytes += message.bytes.size();
    if (unsent_bytes > request.max_unsent) {
      end(Error(Errc::limit, url.origin() + " does not take what it is sent"));
      return;
    }
    unsent.push_back(std::move(message));
    if (connected && !writing) write();
  }

  void write() {
    writing = true;
    sending = std::move(unsent.front());
    unsent.pop_front();
    wire->write(sending, [self = shared_from_this()](const error_code& failed) { self->written(failed); });
  }

  void written(const error_code& failed) {
    writing = false;
    unsent_bytes -= sending.bytes.size();
    sending.bytes.clear();
    // The reader learns why, and perhaps what the server had to say before.
    if (failed) {
      unsent.clear();
      unsent_bytes = 0;
    }
    if (!ended() && !unsent.empty()) write();
  }

  static Task<Result<std::optional<WebSocketMessage>>> next(std::shared_ptr<State> self) {
    while (!self->connected && !self->ended()) co_await self->changed.wait();
    if (self->error) co_return *self->error;
    if (self->closed) co_return std::optional<WebSocketMessage>();
    WebSocketMessage message;
    const auto failed = co_await self->wire->read(message);
    if (!failed) {
      message.arrived = self->scheduler->now();
      co_return std::optional(std::move(message));
    }
    const auto cancelled = co_await asio::this_coro::cancellation_state;
    if (cancelled.cancelled() != asio::cancellation_type::none) {
      self->end(Error(Errc::closed, "the connection was given up"));
      throw boost::system::system_error(asio::error::operation_aborted);
    }
    if (!self->ended()) self->end(self->why(failed));
    if (self->error) co_return *self->error;
    co_return std::optional<WebSocketMessage>();
  }

  /// nullopt: the server has closed the connection as it should.
  std::optional<Error> why(const error_code& failed) const {
    const auto who = url.origin();
    if (is_too_big(failed)) {
      return Error(Errc::limit,
                   who + " sent a message of more than " + std::to_string(request.max_message) + " bytes");
    }
    if (const auto reason = wire->close_reason(failed)) {
      if (is_normal(reason->code)) return std::nullopt;
      auto text = who + " closed the connection (" + std::to_string(reason->code);
      if (!reason->text.empty()) text += ", " + reason->text;
      return Error(Errc::closed, text + ")", true);
    }
    if (is_cut_off(failed)) return Error(Errc::closed, who + " dropped the connection", true);
    return Error(Errc::closed, "the connection to " + who + " was lost: " + failed.message(), true);
  }

  asio::any_io_executor executor;
  std::shared_ptr<Scheduler> scheduler;
  WebSocketRequest request;
  WebSocketUrl url;
  tcp::resolver resolver;
  AsyncEvent changed;
  std::unique_ptr<Timer> connecting;
  std::unique_ptr<Timer> deadline;
  std::unique_ptr<WebSocketWire> wire;
  std::deque<Outgoing> unsent;
  Outgoing sending;
  std::size_t unsent_bytes = 0;
  bool writing = false;
  bool connected = false;
  bool answered = false;
  std::function<void()> on_answer;
  bool closed = false;  ///< by the server, normally
  std::optional<Error> error;
};

WebSocketClient::WebSocketClient(const asio::any_io_executor& executor, std::shared_ptr<Scheduler> scheduler,
                                 WebSocketRequest request)
    : state_(std::make_shared<State>(executor, std::move(scheduler), std::move(request))) {
  state_->begin();
}

WebSocketClient::~WebSocketClient() {
  state_->on_answer = nullptr;
  state_->end(Error(Errc::cancelled, "the connection was given up"));
}

void WebSocketClient::send_text(std::string text) {
  state_->send({Outgoing::Kind::text, std::move(text)});
}

void WebSocketClient::send_binary(std::string bytes) {
  state_->send({Outgoing::Kind::binary, std::move(bytes)});
}

void WebSocketClient::ping(std::function<void()> answered) {
  state_->answered = false;
  state_->on_answer = std::move(answered);
  state_->send({Outgoing::Kind::ping, {}});
}

bool WebSocketClient::alive() const {
  return state_->answered;
}

void WebSocketClient::set_deadline(TimePoint when, std::string what) {
  if (state_->ended()) return;
  state_->deadline->arm(
      when, [state = state_.get(), what = std::move(what)] { state->end(Error(Errc::timeout, what, true)); });
}

Task<Result<std::optional<WebSocketMessage>>> WebSocketClient::next() {
  return State::next(state_);
}

}  // namespace parley::net
