#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/mcp/authorization.hpp"
#include "parley/mcp/http_link.hpp"
#include "parley/mcp/json_rpc.hpp"
#include "parley/net/http_client.hpp"
#include "parley/net/sse.hpp"

// HTTP below the eras: requests with their credentials, answers as JSON-RPC messages.
namespace parley::mcp {

/// The messages of one answer while it arrives: a JSON body, or an event stream.
class MessageReader {
 public:
  explicit MessageReader(std::unique_ptr<net::HttpResponse> response);

  bool is_stream() const { return stream_; }
  /// The next message; nullopt: the answer is over. Errors: those of net::HttpResponse::next(), and
  /// invalid_input (no JSON-RPC).
  Task<Result<std::optional<RpcMessage>>> next();
  /// The next event of a stream, whatever it is.
  Task<Result<std::optional<net::SseEvent>>> next_event();
  const std::string& last_event_id() const { return events_.last_event_id(); }
  std::optional<Millis> retry() const { return events_.retry(); }

 private:
  Task<Result<>> read_body();

  std::unique_ptr<net::HttpResponse> response_;
  bool stream_;
  bool over_ = false;
  net::SseParser events_;
  std::deque<RpcMessage> ready_;
};

struct WireAnswer {
  int status = 0;
  std::string session_id;                 ///< `Mcp-Session-Id`; may be empty
  std::unique_ptr<MessageReader> reader;  ///< of a 2xx
  std::optional<RpcError> error;          ///< of a refusal that is a JSON-RPC error
  std::string said;                       ///< of any refusal: one line for a person

  bool good() const { return status >= 200 && status < 300; }
};

struct WireRequest {
  std::string method = "POST";
  std::string url;  ///< empty: the server's
  std::string body;
  std::vector<net::HttpHeader> headers;  ///< beyond content type, credentials and configured ones
  net::HttpDeadlines deadlines;
  std::size_t max_answer = 0;  ///< bytes; zero: the usual limit
  bool only_once = false;      ///< see net::HttpRequest
};

class HttpWire {
 public:
  HttpWire(const asio::any_io_executor& executor, std::shared_ptr<Scheduler> scheduler,
           HttpLinkSettings settings, std::shared_ptr<Authorization> authorization);

  /// The answer, whatever its status but 401 and 403, which end here when the credentials cannot be mended:
  /// Errc::unauthorized. Redirects within the origin that keep the request as it is are followed.
  Task<Result<WireAnswer>> send(WireRequest request);

  /// Deadlines of a request that is watched by its caller.
  net::HttpDeadlines deadlines() const;
  /// Deadlines of a stream that may be silent for long.
  net::HttpDeadlines stream_deadlines() const;

  const HttpLinkSettings& settings() const { return settings_; }
  Scheduler& clock() const { return *scheduler_; }

 private:
  Task<Result<std::unique_ptr<net::HttpResponse>>> send_once(const WireRequest& request,
                                                             const std::string& credentials);

  std::shared_ptr<Scheduler> scheduler_;
  HttpLinkSettings settings_;
  std::shared_ptr<Authorization> authorization_;
  net::HttpClient client_;
};

/// `location`, as a redirect or an endpoint gives it, from `base`; nullopt: another origin, or no URL.
std::optional<std::string> same_origin_url(const std::string& base, const std::string& location);

}  // namespace parley::mcp
