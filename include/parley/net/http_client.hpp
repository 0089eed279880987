#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/core/error.hpp"
#include "parley/core/task.hpp"
#include "parley/net/http_syntax.hpp"

// Requests to other servers: libcurl, driven by the sockets and timers of one I/O thread.
namespace parley::net {

/// Each is Errc::timeout when it passes.
struct HttpDeadlines {
  Millis connect{5'000};      ///< until the connection (with TLS) is there
  Millis first_byte{30'000};  ///< from there to the status line
  Millis idle{30'000};        ///< between two pieces of the response
  /// For everything. Time in which the reader holds the transfer up counts neither here nor as idle.
  Millis total{300'000};
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;  ///< http or https; may hold no credentials
  std::vector<HttpHeader> headers;
  std::string body;
  HttpDeadlines deadlines;
  /// Bytes of the body beyond which the response ends with Errc::limit.
  std::size_t max_response = std::size_t{64} * 1024 * 1024;
  /// Connects to public addresses alone, whatever the name resolves to (Errc::unavailable). Behind a proxy it
  /// is the proxy that resolves. Only for clients all of whose requests say so: connections are shared.
  bool public_addresses_only = false;
  /// What would let it connect nevertheless, for that error.
  std::string public_only_hint;
  /// Never sent twice. Otherwise a request is sent again by itself when a connection that was kept turns out
  /// to be gone before anything of an answer came, though the other side may have read it.
  bool once = false;
};

struct HttpChunk {
  std::string bytes;    ///< never empty
  TimePoint arrived{};  ///< of its first byte, by the client's clock
};

/// One response while it arrives. Destroying it closes the request at once; the connection is kept for
/// others only when the response was complete.
class HttpResponse {
 public:
  HttpResponse() = default;
  HttpResponse(const HttpResponse&) = delete;
  HttpResponse& operator=(const HttpResponse&) = delete;
  HttpResponse(HttpResponse&&) = delete;
  HttpResponse& operator=(HttpResponse&&) = delete;
  virtual ~HttpResponse() = default;

  virtual int status() const = 0;
  /// The last header of that name, in whatever capitals; empty: there is none.
  virtual std::string_view header(std::string_view name) const = 0;
  /// Whether an answer that was cut off is told from a complete one: by HTTP/2, by its length, or by chunks.
  virtual bool is_framed() const = 0;
  /// The next piece of the body, or nullopt at its end. At most 256 KB wait for the reader; then the server
  /// has to. Errors: timeout, limit, closed (cut off in the middle), unavailable.
  virtual Task<Result<std::optional<HttpChunk>>> next() = 0;
  /// The rest is not wanted, but the connection is: drops what still comes for a short while. Not used
  /// afterwards.
  virtual void discard_rest() = 0;
};

/// Connections are kept and shared, HTTP/2 is used where the server offers it, certificates are verified,
/// `https_proxy`, `http_proxy` and `no_proxy` are honoured, redirects are given to the caller. Belongs to one
/// I/O thread.
class HttpClient {
 public:
  HttpClient(const asio::any_io_executor& executor, std::shared_ptr<Scheduler> scheduler);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  HttpClient(HttpClient&&) = delete;
  HttpClient& operator=(HttpClient&&) = delete;
  /// Closes everything; responses that still live end with Errc::closed.
  ~HttpClient();

  /// The response as soon as its headers are there, whatever its status. Errors, all with a sentence for a
  /// person and without secrets: configuration (no usable URL), invalid_input (a header or a response that
  /// is no HTTP), timeout, unavailable (no connection, no trust in its certificate), closed.
  Task<Result<std::unique_ptr<HttpResponse>>> send(HttpRequest request);

  /// Opens a connection to the server of `url`, so that a request finds it open. Does nothing where one is
  /// being opened or was used a moment ago. Failures are silent: the request will tell.
  void connect_ahead(const std::string& url, Millis timeout);

  struct State;

 private:
  std::shared_ptr<State> state_;
};

/// The client of the I/O thread (of the execution context) behind `executor`; made when it is first asked
/// for, and gone with the context.
HttpClient& http_client(const asio::any_io_executor& executor);

/// The whole body, at most `limit` bytes (Errc::limit).
Task<Result<std::string>> read_all(HttpResponse& response, std::size_t limit);

}  // namespace parley::net
