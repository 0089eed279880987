#include "parley/net/http_client.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <utility>

#include "net/http_transfer.hpp"

namespace parley::net {
namespace {

/// Connections kept open by one I/O thread, in use or not.
constexpr long kMaxConnections = 64;
/// A connection used within this time is most likely still open: servers' own limits begin at 5 s.
constexpr Millis kFresh{4'000};
/// How long the rest of an answer that nobody wants may take to end.
constexpr Millis kDiscard{1'000};

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

/// Everything of one I/O thread. Handlers hold it weakly: they may run after the client is gone.
struct HttpClient::State : std::enable_shared_from_this<HttpClient::State> {
  using TransferPtr = std::shared_ptr<HttpTransfer>;

  /// A socket of libcurl's, which opens and closes it.
  struct Watch {
    Watch(const asio::any_io_executor& executor, curl_socket_t socket) : descriptor(executor, socket) {}
    asio::posix::stream_descriptor descriptor;
    int wanted = 0;
    bool reading = false;
    bool writing = false;
  };

  State(asio::any_io_executor on, std::shared_ptr<Scheduler> by)
      : executor(std::move(on)), scheduler(std::move(by)), timer(executor) {
    static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (global != CURLE_OK) throw Failure(Error(Errc::internal, "the HTTP library does not start"));
    multi = curl_multi_init();
    share = curl_share_init();
    if (multi == nullptr || share == nullptr)
      throw Failure(Error(Errc::internal, "the HTTP library does not start"));
    curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &State::on_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &State::on_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, kMaxConnections);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;
  ~State() { close(); }

  void close() {
    if (multi == nullptr) return;
    for (const auto& [easy, transfer] : transfers) {
      curl_multi_remove_handle(multi, easy);
      curl_easy_setopt(easy, CURLOPT_SHARE, nullptr);
      transfer->deadline->cancel();
      transfer->fail(Error(Errc::closed, "the server is stopping"));
    }
    transfers.clear();
    curl_multi_cleanup(std::exchange(multi, nullptr));
    curl_share_cleanup(share);
    for (const auto& [socket, watch] : watches) watch->descriptor.release();
    watches.clear();
    timer.cancel();
  }

  // --- libcurl asks ------------------------------------------------------------------------------

  static int on_socket(CURL* /*easy*/, curl_socket_t socket, int what, void* self, void* /*of_socket*/) {
    auto& state = *static_cast<State*>(self);
    auto& watch = state.watches[socket];
    if (what == CURL_POLL_REMOVE) {
      if (watch) watch->descriptor.release();
      state.watches.erase(socket);
      return 0;
    }
    try {
      if (!watch) watch = std::make_shared<Watch>(state.executor, socket);
      watch->wanted = what;
      state.arm(socket, watch);
    } catch (const std::exception&) {
      // Not through libcurl, which is C: it ends the transfer.
      state.watches.erase(socket);
      return -1;
    }
    return 0;
  }

  static int on_timer(CURLM* /*multi*/, long wait_ms, void* self) {
    auto& state = *static_cast<State*>(self);
    if (wait_ms < 0) {
      state.timer.cancel();
      return 0;
    }
    state.timer.expires_after(Millis(wait_ms));
    state.timer.async_wait([weak = state.weak_from_this()](const boost::system::error_code& failed) {
      const auto alive = weak.lock();
      if (!failed && alive) alive->act(CURL_SOCKET_TIMEOUT, 0);
    });
    return 0;
  }

  // --- Asio answers --------------------------------------------------------------------------------

  void arm(curl_socket_t socket, const std::shared_ptr<Watch>& watch) {
    using Wait = asio::posix::stream_descriptor;
    const auto wait = [&](bool wanted, bool Watch::*armed, Wait::wait_type kind, int action) {
      if (!wanted || (*watch).*armed) return;
      (*watch).*armed = true;
      watch->descriptor.async_wait(kind, [weak = weak_from_this(), weak_watch = std::weak_ptr(watch), socket,
                                          armed, action](const boost::system::error_code& failed) {
        const auto alive = weak.lock();
        const auto watched = weak_watch.lock();
        if (!alive || !watched || !alive->watches_still(socket, watched)) return;
        (*watched).*armed = false;
        // An interest that was given up meanwhile is not worth a call.
        const int interest = action == CURL_CSELECT_IN ? CURL_POLL_IN : CURL_POLL_OUT;
        if ((watched->wanted & interest) == 0) return;
        alive->act(socket, failed ? CURL_CSELECT_ERR : action);
        if (!failed && alive->watches_still(socket, watched)) alive->arm(socket, watched);
      });
    };
    wait((watch->wanted & CURL_POLL_IN) != 0, &Watch::reading, Wait::wait_read, CURL_CSELECT_IN);
    wait((watch->wanted & CURL_POLL_OUT) != 0, &Watch::writing, Wait::wait_write, CURL_CSELECT_OUT);
  }

  /// libcurl may give a socket up within any call.
  bool watches_still(curl_socket_t socket, const std::shared_ptr<Watch>& watch) const {
    const auto found = watches.find(socket);
    return multi != nullptr && found != watches.end() && found->second == watch;
  }

  void act(curl_socket_t socket, int events) {
    if (multi == nullptr) return;
    int running = 0;
    curl_multi_socket_action(multi, socket, events, &running);
    collect();
  }

  void collect() {
    int left = 0;
    while (multi != nullptr) {
      const auto* message = curl_multi_info_read(multi, &left);
      if (message == nullptr) break;
      if (message->msg != CURLMSG_DONE) continue;
      const auto code = message->data.result;
      const auto found = transfers.find(message->easy_handle);
      if (found == transfers.end()) continue;
      const auto transfer = found->second;
      remove(*transfer);
      transfer->complete(code);
    }
  }

  // --- requests --------------------------------------------------------------------------------------

  Result<TransferPtr> start(HttpRequest request) {
    auto origin = origin_of(request.url);
    if (!origin) {
      return Error(Errc::configuration,
                   "this is not an http or https address without a name and a password in it");
    }
    if (!std::ranges::all_of(request.headers, is_valid_header))
      return Error(Errc::invalid_input, "a header for " + *origin + " holds what no header may hold");
    if (multi == nullptr) return Error(Errc::closed, "the server is stopping");
    if (auto refused = forbidden(request, *origin)) return *refused;
    auto transfer =
        std::make_shared<HttpTransfer>(executor, scheduler, std::move(request), std::move(*origin));
    if (!transfer->set_up(share)) return Error(Errc::internal, "the HTTP library refuses the request");
    if (curl_multi_add_handle(multi, transfer->easy()) != CURLM_OK)
      return Error(Errc::internal, "the HTTP library refuses the request");
    transfers[transfer->easy()] = transfer;
    touched[transfer->origin] = scheduler->now();
    transfer->deadline_changed = [weak = weak_from_this(), weak_transfer = std::weak_ptr(transfer)] {
      const auto alive = weak.lock();
      const auto moved = weak_transfer.lock();
      if (alive && moved) alive->watch_deadline(moved);
    };
    watch_deadline(transfer);
    return transfer;
  }

  /// The idle deadline moves with every byte: the timer looks again when it fires, and is not armed for each.
  void watch_deadline(const TransferPtr& transfer) {
    const auto due = transfer->next_deadline();
    if (due == TimePoint::max()) return;
    transfer->deadline->arm(due, [weak = weak_from_this(), weak_transfer = std::weak_ptr(transfer)] {
      const auto alive = weak.lock();
      const auto late = weak_transfer.lock();
      if (!alive || !late || late->ended()) return;
      if (late->next_deadline() > alive->scheduler->now()) {
        alive->watch_deadline(late);
        return;
      }
      alive->remove(*late);
      late->fail(late->deadline_passed());
    });
  }

  /// Also in the middle of it: that closes it.
  void remove(HttpTransfer& transfer) {
    transfer.deadline->cancel();
    const auto found = transfers.find(transfer.easy());
    if (multi == nullptr || found == transfers.end()) return;
    const auto kept = found->second;
    transfers.erase(found);
    curl_multi_remove_handle(multi, kept->easy());
    // The share may go before the transfer does.
    curl_easy_setopt(kept->easy(), CURLOPT_SHARE, nullptr);
    touched[kept->origin] = scheduler->now();
  }

  /// Not from within libcurl.
  void resume(const TransferPtr& transfer) {
    if (multi == nullptr || !transfer->resume()) return;
    curl_easy_pause(transfer->easy(), CURLPAUSE_CONT);
    watch_deadline(transfer);
    collect();
  }

  asio::any_io_executor executor;
  std::shared_ptr<Scheduler> scheduler;
  asio::steady_timer timer;
  CURLM* multi = nullptr;
  CURLSH* share = nullptr;
  std::map<CURL*, TransferPtr> transfers;
  std::map<curl_socket_t, std::shared_ptr<Watch>> watches;
  /// When each server was last heard of or called.
  std::map<std::string, TimePoint> touched;
};

namespace {

class Response final : public HttpResponse {
 public:
  Response(std::weak_ptr<HttpClient::State> client, std::shared_ptr<HttpTransfer> transfer)
      : client_(std::move(client)), transfer_(std::move(transfer)) {}
  Response(const Response&) = delete;
  Response& operator=(const Response&) = delete;
  Response(Response&&) = delete;
  Response& operator=(Response&&) = delete;
  ~Response() override {
    const auto client = client_.lock();
    if (client && transfer_) client->remove(*transfer_);
  }

  int status() const override { return transfer_->status; }

  std::string_view header(std::string_view name) const override {
    std::string_view value;
    for (const auto& header : transfer_->headers) {
      if (same_name(header.name, name)) value = header.value;
    }
    return value;
  }

  bool is_framed() const override {
    return transfer_->http2 || !header("Content-Length").empty() || !header("Transfer-Encoding").empty();
  }

  Task<Result<std::optional<HttpChunk>>> next() override {
    // The response may be destroyed while this waits; what it waits for may not.
    const auto transfer = transfer_;
    while (transfer->buffer.empty() && !transfer->ended()) co_await transfer->changed.wait();
    if (!transfer->buffer.empty()) {
      HttpChunk chunk{std::exchange(transfer->buffer, {}), transfer->buffer_arrived};
      if (const auto client = client_.lock()) client->resume(transfer);
      co_return std::optional(std::move(chunk));
    }
    if (transfer->error) co_return *transfer->error;
    co_return std::optional<HttpChunk>();
  }

  void discard_rest() override {
    const auto client = client_.lock();
    const auto transfer = std::exchange(transfer_, nullptr);
    if (!client || transfer->ended()) return;
    const bool paused = transfer->paused();
    transfer->discard(client->scheduler->now() + kDiscard);
    client->watch_deadline(transfer);
    if (!paused) return;
    curl_easy_pause(transfer->easy(), CURLPAUSE_CONT);
    client->collect();
  }

 private:
  std::weak_ptr<HttpClient::State> client_;
  std::shared_ptr<HttpTransfer> transfer_;
};

/// The client of one execution context; closed with it, before what still waits in it is destroyed.
class HttpService final : public asio::execution_context::service {
 public:
  using key_type = HttpService;
  static inline asio::execution_context::id id;
  explicit HttpService(asio::execution_context& context) : service(context) {}

  HttpClient& client(const asio::any_io_executor& executor) {
    if (!client_) client_ = std::make_unique<HttpClient>(executor, make_asio_scheduler(executor));
    return *client_;
  }

 private:
  void shutdown() override { client_.reset(); }
  std::unique_ptr<HttpClient> client_;
};

}  // namespace

HttpClient::HttpClient(const asio::any_io_executor& executor, std::shared_ptr<Scheduler> scheduler)
    : state_(std::make_shared<State>(executor, std::move(scheduler))) {
}

HttpClient::~HttpClient() {
  state_->close();
}

Task<Result<std::unique_ptr<HttpResponse>>> HttpClient::send(HttpRequest request) {
  const auto started = state_->start(std::move(request));
  if (!started) co_return started.error();
  const auto transfer = *started;
  // From here on it ends with this frame, also when the wait is cancelled.
  std::unique_ptr<HttpResponse> response = std::make_unique<Response>(state_, transfer);
  while (!transfer->headers_complete() && !transfer->ended()) co_await transfer->changed.wait();
  if (!transfer->headers_complete()) {
    co_return transfer->error ? *transfer->error : Error(Errc::internal, "a request ended without a reason");
  }
  co_return response;
}

void HttpClient::connect_ahead(const std::string& url, Millis timeout) {
  const auto origin = origin_of(url);
  if (!origin) return;
  const auto touched = state_->touched.find(*origin);
  if (touched != state_->touched.end() && state_->scheduler->now() - touched->second < kFresh) return;
  HttpRequest request;
  // libcurl has no connection without a request; whatever the answer is, the connection stays.
  request.method = "HEAD";
  request.url = *origin + "/";
  request.deadlines = {timeout, timeout, timeout, 2 * timeout};
  const auto started = state_->start(std::move(request));
  if (started) (*started)->discard(state_->scheduler->now() + 2 * timeout);
}

HttpClient& http_client(const asio::any_io_executor& executor) {
  auto& context = asio::query(executor, asio::execution::context);
  return asio::use_service<HttpService>(context).client(executor);
}

Task<Result<std::string>> read_all(HttpResponse& response, std::size_t limit) {
  std::string body;
  while (true) {
    auto chunk = co_await response.next();
    if (!chunk) co_return chunk.error();
    if (!*chunk) co_return body;
    if (body.size() + (*chunk)->bytes.size() > limit)
      co_return Error(Errc::limit, "an answer is longer than " + std::to_string(limit) + " bytes");
    body += (*chunk)->bytes;
  }
}

}  // namespace parley::net
