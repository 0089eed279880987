#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <limits>
#include <map>
#include <utility>

#include "mcp/dialect.hpp"
#include "parley/core/async_event.hpp"
#include "parley/core/deadline.hpp"

namespace parley::mcp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr Millis kGoodbye = 1s;

/// A request that waits for its reply on the stream.
struct Waiting {
  explicit Waiting(const asio::any_io_executor& executor) : changed(executor) {}
  AsyncEvent changed;
  std::optional<Result<RpcReply>> reply;
  std::function<void(const json&)> on_progress;
};

/// MCP 2024-11-05: one stream from the server, and an address to post to, which it names first. All replies
/// come on the stream.
class SseDialect final : public Dialect {
 public:
  SseDialect(asio::any_io_executor executor, std::shared_ptr<HttpWire> wire)
      : executor_(std::move(executor)), wire_(std::move(wire)), changed_(executor_), told_(executor_) {}

  Task<Result<ServerInfo>> open(std::shared_ptr<OpenFailure> failure) override {
    const auto self = shared_from_this();
    WireRequest stream;
    stream.method = "GET";
    stream.deadlines = wire_->stream_deadlines();
    stream.max_answer = std::numeric_limits<std::size_t>::max();
    auto answer = co_await wire_->send(std::move(stream));
    if (!answer) co_return answer.error();
    *failure = {answer->status, answer->error};
    if (!answer->good()) co_return refusal_error(*answer);
    if (!answer->reader->is_stream())
      co_return Error(Errc::unsupported, "the server does not speak MCP: its answer is no event stream");
    asio::co_spawn(executor_, read(std::static_pointer_cast<SseDialect>(self), std::move(answer->reader)),
                   asio::bind_cancellation_slot(closing_.slot(), asio::detached));
    while (endpoint_.empty() && !over_) co_await changed_.wait();
    if (over_) co_return *over_;
    DialectCall hello;
    hello.method = "initialize";
    hello.params = {{"protocolVersion", kLegacyVersion},
                    {"capabilities", client_capabilities()},
                    {"clientInfo", client_info()}};
    hello.on_progress = [](const json&) {};
    const auto reply = co_await request(std::move(hello));
    if (!reply) co_return reply.error();
    if (reply->error)
      co_return Error(Errc::unsupported, "the server refuses to begin: " + describe(*reply->error));
    auto info = read_initialized(Era::sse, reply->result);
    if (!info) co_return info.error();
    const auto ready = co_await send(post(rpc_notification("notifications/initialized", {})));
    if (!ready) co_return ready.error();
    co_return info;
  }

  Task<Result<RpcReply>> request(DialectCall call) override {
    const auto self = shared_from_this();
    if (over_) co_return *over_;
    const auto id = next_id_++;
    const auto waiting = std::make_shared<Waiting>(executor_);
    waiting->on_progress = call.on_progress;
    const Pending pending(*this, id, waiting, call.method != "initialize");
    if (call.method != "initialize") call.params["_meta"]["progressToken"] = id;
    auto asking = post(rpc_request(id, call.method, call.params));
    asking.once = call.once();
    if (const auto sent = co_await send(std::move(asking)); !sent) co_return sent.error();
    while (!waiting->reply) co_await waiting->changed.wait();
    co_return *waiting->reply;
  }

  Task<Result<>> listen(std::function<void()> changed) override {
    const auto self = shared_from_this();
    on_list_changed_ = std::move(changed);
    while (!over_) co_await changed_.wait();
    co_return *over_;
  }

  Task<> close() override {
    using asio::experimental::awaitable_operators::operator||;
    const auto self = shared_from_this();
    // A server that was told of a cancellation after its stream ended might never answer that.
    const auto until = wire_->clock().now() + kGoodbye;
    while (telling_ > 0 && !over_ && wire_->clock().now() < until)
      co_await (told_.wait() || sleep_until(wire_->clock(), until));
    abort();
  }

  void abort() override { closing_.emit(asio::cancellation_type::terminal); }

 private:
  /// The entry of a request among those that wait; tells the server when nobody waits any more.
  class Pending {
   public:
    Pending(SseDialect& dialect, std::int64_t id, std::shared_ptr<Waiting> waiting, bool cancellable)
        : dialect_(dialect), id_(id), cancellable_(cancellable) {
      dialect_.waiting_[id] = std::move(waiting);
    }
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    Pending(Pending&&) = delete;
    Pending& operator=(Pending&&) = delete;
    ~Pending() {
      const auto found = dialect_.waiting_.find(id_);
      const bool answered = found == dialect_.waiting_.end() || found->second->reply;
      dialect_.waiting_.erase(id_);
      if (!answered && cancellable_ && !dialect_.over_)
        dialect_.tell(rpc_notification("notifications/cancelled", {{"requestId", id_}}));
    }

   private:
    SseDialect& dialect_;
    std::int64_t id_;
    bool cancellable_;
  };

  WireRequest post(std::string body) const {
    WireRequest request;
    request.url = endpoint_;
    request.body = std::move(body);
    request.deadlines = wire_->deadlines();
    return request;
  }

  Task<Result<>> send(WireRequest request) {
    const auto answer = co_await wire_->send(std::move(request));
    if (!answer) co_return answer.error();
    if (!answer->good()) co_return refusal_error(*answer);
    co_return Result<>();
  }

  /// Sends a message that has no reply, in the background.
  void tell(std::string message) {
    if (endpoint_.empty() || telling_ == kMaxTold) return;
    ++telling_;
    auto sending = [](SseDialect* dialect, std::string text) -> Task<> {
      auto request = dialect->post(std::move(text));
      request.deadlines = dialect->wire_->own_deadlines();
      co_await dialect->send(std::move(request));
    };
    asio::co_spawn(executor_, sending(this, std::move(message)),
                   [self = shared_from_this(), this](const std::exception_ptr&) {
                     --telling_;
                     told_.notify();
                   });
  }

  /// The stream's own task, which keeps the dialect until the stream ends or close() is called.
  static Task<> read(std::shared_ptr<SseDialect> self, std::unique_ptr<MessageReader> reader) {
    auto why = Error(Errc::closed, "the connection to the MCP server is closed", true);
    try {
      why = co_await self->read_all(*reader);
    } catch (const std::exception&) {
      // close() ended it, or a defect: either way nobody reads any more.
    }
    self->end(std::move(why));
  }

  /// Until the stream ends; why it did.
  Task<Error> read_all(MessageReader& reader) {
    while (true) {
      const auto event = co_await reader.next_event();
      if (!event) co_return event.error();
      if (!*event) co_return Error(Errc::closed, "the MCP server closed its stream", true);
      if ((*event)->event == "endpoint") {
        const auto url = same_origin_url(wire_->settings().url, (*event)->data);
        if (!url) co_return Error(Errc::invalid_input, "the MCP server names an endpoint of another origin");
        endpoint_ = *url;
        changed_.notify();
      } else if ((*event)->event == "message" && !(*event)->data.empty()) {
        auto messages = parse_rpc((*event)->data);
        if (!messages) co_return messages.error();
        for (auto& message : *messages) take(std::move(message));
      }
    }
  }

  void take(RpcMessage message) {
    const auto reply_to = [&](Result<RpcReply> reply) {
      const auto found =
          message.id.is_number_integer() ? waiting_.find(message.id.get<std::int64_t>()) : waiting_.end();
      if (found == waiting_.end() || found->second->reply) return;
      found->second->reply = std::move(reply);
      found->second->changed.notify();
    };
    switch (message.kind) {
      case RpcMessage::Kind::result:
        reply_to(RpcReply{std::move(message.body), std::nullopt});
        break;
      case RpcMessage::Kind::error:
        reply_to(RpcReply{{}, std::move(message.error)});
        break;
      case RpcMessage::Kind::request:
        tell(answer_to(message));
        break;
      case RpcMessage::Kind::notification:
        if (message.method == "notifications/tools/list_changed" && on_list_changed_) on_list_changed_();
        if (message.method == "notifications/progress") take_progress(message.body);
        break;
    }
  }

  void take_progress(const json& params) {
    const auto token = params.is_object() ? params.find("progressToken") : params.end();
    if (!params.is_object() || token == params.end() || !token->is_number_integer()) return;
    const auto found = waiting_.find(token->get<std::int64_t>());
    if (found != waiting_.end()) found->second->on_progress(params);
  }

  void end(Error why) {
    over_ = std::move(why);
    changed_.notify();
    for (const auto& [id, waiting] : waiting_) {
      if (!waiting->reply) waiting->reply = Result<RpcReply>(*over_);
      waiting->changed.notify();
    }
  }

  asio::any_io_executor executor_;
  std::shared_ptr<HttpWire> wire_;
  AsyncEvent changed_;
  asio::cancellation_signal closing_;
  std::string endpoint_;
  std::optional<Error> over_;
  std::map<std::int64_t, std::shared_ptr<Waiting>> waiting_;
  std::function<void()> on_list_changed_;
  std::int64_t next_id_ = 1;
  int telling_ = 0;  ///< messages on their way that have no reply
  AsyncEvent told_;  ///< one of them arrived
};

}  // namespace

std::shared_ptr<Dialect> make_sse(asio::any_io_executor executor, std::shared_ptr<HttpWire> wire) {
  return std::make_shared<SseDialect>(std::move(executor), std::move(wire));
}

}  // namespace parley::mcp
