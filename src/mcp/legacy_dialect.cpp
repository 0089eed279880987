#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <cctype>
#include <limits>
#include <utility>

#include "mcp/dialect.hpp"
#include "parley/core/async_event.hpp"
#include "parley/core/log.hpp"

namespace parley::mcp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

/// Where a server does not say how long to wait before a stream is opened again.
constexpr Millis kRetry = 1s;
/// A stream that may be opened again for ever is not opened more often.
constexpr Millis kLeastRetry = 100ms;
constexpr int kMaxResumptions = 8;
constexpr int kMaxSessions = 2;

/// Whether a refusal means that the server knows nothing of the session any more.
bool lost_session(const WireAnswer& answer) {
  if (answer.status == 404) return !answer.error || answer.error->code != code::kMethodNotFound;
  // "No valid session ID provided", "Session not found", …
  constexpr std::string_view kWord = "session";
  const auto equal = [](unsigned char a, unsigned char b) { return std::tolower(a) == b; };
  return answer.status == 400 && !std::ranges::search(answer.said, kWord, equal).empty();
}

/// MCP 2025-03-26 to 2025-11-25: `initialize`, a session, answers as JSON or as a stream that can be resumed.
class LegacyDialect final : public Dialect {
 public:
  LegacyDialect(asio::any_io_executor executor, std::shared_ptr<HttpWire> wire)
      : executor_(std::move(executor)), wire_(std::move(wire)), opened_(executor_) {}

  Task<Result<ServerInfo>> open(std::shared_ptr<OpenFailure> failure) override {
    const auto self = shared_from_this();
    DialectCall hello;
    hello.method = "initialize";
    hello.params = {{"protocolVersion", kLegacyVersion},
                    {"capabilities", client_capabilities()},
                    {"clientInfo", client_info()}};
    hello.on_progress = [](const json&) {};
    const auto reply = co_await exchange(hello, failure);
    if (!reply) co_return reply.error();
    if (reply->error)
      co_return Error(Errc::unsupported, "the server refuses to begin: " + describe(*reply->error));
    auto info = read_initialized(Era::legacy, reply->result);
    if (!info) co_return info.error();
    version_ = info->protocol_version;
    const auto ready = co_await wire_->send(post(rpc_notification("notifications/initialized", {})));
    if (!ready) co_return ready.error();
    if (!ready->good()) co_return refusal_error(*ready);
    ++sessions_;
    co_return info;
  }

  Task<Result<RpcReply>> request(DialectCall call) override {
    const auto self = shared_from_this();
    for (int attempt = 1;; ++attempt) {
      while (opening_) co_await opened_.wait();
      const auto session = sessions_;
      auto reply = co_await exchange(call, nullptr);
      const bool again = attempt < kMaxSessions;
      if (!reply) {
        if (reply.error().retryable && call.idempotent && again) continue;
        co_return reply.error();
      }
      if (!reply->lost) co_return RpcReply{std::move(reply->result), std::move(reply->error)};
      // It was refused unread, so it may be sent again.
      if (!again) co_return Error(Errc::unavailable, "the MCP server does not keep its sessions", true);
      if (const auto renewed = co_await renew(session); !renewed) co_return renewed.error();
    }
  }

  Task<Result<>> listen(std::function<void()> changed) override {
    const auto self = shared_from_this();
    changed_ = std::move(changed);
    std::string last_id;
    auto wait = kRetry;
    while (true) {
      auto request = get(last_id);
      auto answer = co_await wire_->send(std::move(request));
      if (!answer) co_return answer.error();
      if (lost_session(*answer) && !session_.empty())
        co_return Error(Errc::closed, "the session is gone", true);
      if (!answer->good()) {
        auto refusal = refusal_error(*answer);
        if (refusal.retryable) co_return refusal;
        co_return Result<>();  // It offers no such stream.
      }
      if (!answer->reader->is_stream()) co_return Result<>();
      while (true) {
        const auto message = co_await answer->reader->next();
        if (!message && !message.error().retryable) co_return message.error();
        if (!message || !*message) break;
        take(**message);
      }
      if (!answer->reader->last_event_id().empty()) last_id = answer->reader->last_event_id();
      wait = std::max(answer->reader->retry().value_or(wait), kLeastRetry);
      co_await sleep_until(wire_->clock(), wire_->clock().now() + wait);
    }
  }

  Task<> close() override {
    const auto self = shared_from_this();
    if (session_.empty()) co_return;
    WireRequest request;
    request.method = "DELETE";
    request.headers = session_headers();
    request.deadlines = {2s, 2s, 2s, 2s};
    session_.clear();
    co_await wire_->send(std::move(request));  // Whatever it says: it was polite to ask.
  }

 private:
  struct Outcome : RpcReply {
    bool lost = false;  ///< the server knows nothing of the session; the request was not read
  };

  /// Tells the server that nobody waits any more, unless it was answered.
  class CancelGuard {
   public:
    CancelGuard(LegacyDialect& dialect, std::int64_t id, bool allowed)
        : dialect_(dialect), id_(id), armed_(allowed) {}
    CancelGuard(const CancelGuard&) = delete;
    CancelGuard& operator=(const CancelGuard&) = delete;
    CancelGuard(CancelGuard&&) = delete;
    CancelGuard& operator=(CancelGuard&&) = delete;
    ~CancelGuard() {
      if (armed_) dialect_.tell(rpc_notification("notifications/cancelled", {{"requestId", id_}}));
    }
    void disarm() { armed_ = false; }

   private:
    LegacyDialect& dialect_;
    std::int64_t id_;
    bool armed_;
  };

  std::vector<net::HttpHeader> session_headers() const {
    std::vector<net::HttpHeader> headers;
    if (!version_.empty()) headers.push_back({"MCP-Protocol-Version", version_});
    if (!session_.empty()) headers.push_back({"Mcp-Session-Id", session_});
    return headers;
  }

  WireRequest post(std::string body) const {
    WireRequest request;
    request.body = std::move(body);
    request.headers = session_headers();
    request.deadlines = wire_->deadlines();
    return request;
  }

  WireRequest get(const std::string& last_event_id) const {
    WireRequest request;
    request.method = "GET";
    request.headers = session_headers();
    if (!last_event_id.empty()) request.headers.push_back({"Last-Event-ID", last_event_id});
    request.deadlines = wire_->stream_deadlines();
    request.max_answer = std::numeric_limits<std::size_t>::max();
    return request;
  }

  /// Sends a message that has no reply, in the background.
  void tell(std::string message) {
    if (telling_ == kMaxTold) return;
    ++telling_;
    auto sending = [](LegacyDialect* dialect, std::string text) -> Task<> {
      auto request = dialect->post(std::move(text));
      request.deadlines = dialect->wire_->own_deadlines();
      co_await dialect->wire_->send(std::move(request));
    };
    asio::co_spawn(executor_, sending(this, std::move(message)),
                   [self = shared_from_this(), this](const std::exception_ptr&) { --telling_; });
  }

  /// What does not belong to a request of ours.
  void take(const RpcMessage& message) {
    if (message.kind == RpcMessage::Kind::request) tell(answer_to(message));
    if (message.kind == RpcMessage::Kind::notification && changed_ &&
        message.method == "notifications/tools/list_changed")
      changed_();
  }

  /// A new session, once for all who noticed that the old one is gone.
  Task<Result<>> renew(int lost) {
    while (opening_) co_await opened_.wait();
    // Where the one before failed, or was cancelled, the next one tries.
    if (sessions_ != lost) co_return Result<>();
    log::info("an MCP server lost the session", {{"url", wire_->settings().url}});
    opening_ = true;
    Result<> result;
    try {
      const auto info = co_await open(std::make_shared<OpenFailure>());
      if (!info) result = info.error();
    } catch (...) {
      opening_ = false;
      opened_.notify();
      throw;
    }
    opening_ = false;
    opened_.notify();
    co_return result;
  }

  /// `failure`: set to what a refused hello was answered; null for anything else.
  Task<Result<Outcome>> exchange(const DialectCall& call, std::shared_ptr<OpenFailure> failure) {
    const auto id = next_id_++;
    auto params = call.params;
    const bool hello = call.method == "initialize";
    if (!hello) params["_meta"]["progressToken"] = id;
    CancelGuard guard(*this, id, !hello);
    auto request = post(rpc_request(id, call.method, params));
    if (hello) request.headers.clear();  // as to a server that was never spoken to
    request.once = call.once();
    auto answer = co_await wire_->send(std::move(request));
    if (!answer) co_return answer.error();
    if (!answer->good()) {
      guard.disarm();
      if (hello) *failure = {answer->status, answer->error};
      if (!hello && !session_.empty() && lost_session(*answer)) co_return Outcome{{}, true};
      if (answer->error) co_return Outcome{{{}, std::move(answer->error)}, false};
      co_return refusal_error(*answer);
    }
    if (hello) session_ = answer->session_id;
    auto reader = std::move(answer->reader);
    // Both hold until the server says otherwise, whichever stream it said them on.
    std::string last_id;
    auto retry = kRetry;
    for (int resumed = 0;; ++resumed) {
      auto outcome = co_await read(*reader, call, id);
      if (!reader->last_event_id().empty()) last_id = reader->last_event_id();
      retry = reader->retry().value_or(retry);
      if (!outcome) {
        if (hello && !outcome.error().retryable) *failure = {answer->status, {}};
        if (!outcome.error().retryable || last_id.empty()) co_return outcome.error();
      } else if (*outcome) {
        guard.disarm();
        co_return std::move(**outcome);
      }
      // The stream ended before the reply: it goes on elsewhere, if the server gave it a name.
      if (last_id.empty() || resumed == kMaxResumptions)
        co_return Error(Errc::closed, "the MCP server ended its answer before the result", true);
      co_await sleep_until(wire_->clock(), wire_->clock().now() + retry);
      auto again = co_await wire_->send(get(last_id));
      if (!again) co_return again.error();
      if (!again->good()) co_return refusal_error(*again);
      reader = std::move(again->reader);
    }
  }

  /// Until the reply to `id`; nullopt: the stream ended before it.
  Task<Result<std::optional<Outcome>>> read(MessageReader& reader, const DialectCall& call, std::int64_t id) {
    while (true) {
      auto message = co_await reader.next();
      if (!message) co_return message.error();
      if (!*message) co_return std::optional<Outcome>();
      auto& [kind, its_id, method, body, error] = **message;
      if (kind == RpcMessage::Kind::result && is_id(its_id, id))
        co_return std::optional(Outcome{{std::move(body), std::nullopt}, false});
      if (kind == RpcMessage::Kind::error && (is_id(its_id, id) || its_id.is_null()))
        co_return std::optional(Outcome{{{}, std::move(error)}, false});
      if (kind == RpcMessage::Kind::notification && method == "notifications/progress") {
        call.on_progress(body);
      } else {
        take(**message);
      }
    }
  }

  asio::any_io_executor executor_;
  std::shared_ptr<HttpWire> wire_;
  std::string version_;
  std::string session_;
  int sessions_ = 0;  ///< begun so far
  int telling_ = 0;
  bool opening_ = false;
  AsyncEvent opened_;
  std::function<void()> changed_;
  std::int64_t next_id_ = 1;
};

}  // namespace

std::shared_ptr<Dialect> make_legacy(asio::any_io_executor executor, std::shared_ptr<HttpWire> wire) {
  return std::make_shared<LegacyDialect>(std::move(executor), std::move(wire));
}

}  // namespace parley::mcp
