#include "mcp/http_wire.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <cctype>
#include <utility>

#include "parley/core/text.hpp"

namespace parley::mcp {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxBody = std::size_t{4} * 1024 * 1024;
constexpr std::size_t kMaxEvent = std::size_t{1024} * 1024;
constexpr std::size_t kMaxRefusal = std::size_t{64} * 1024;
constexpr std::size_t kMaxSaid = 200;
constexpr int kMaxRedirects = 3;
/// Refusals in a row that new credentials may answer: a new login, and more scopes after it.
constexpr int kMaxCredentials = 3;
/// A stream that was silent for so long is opened again.
constexpr Millis kLongSilence = 1h;
constexpr Millis kForEver = 24h * 20;  // still a 32-bit number

bool is_event_stream(const net::HttpResponse& response) {
  constexpr std::string_view kType = "text/event-stream";
  const auto type = response.header("Content-Type").substr(0, kType.size());
  return std::ranges::equal(type, kType,
                            [](unsigned char a, unsigned char b) { return std::tolower(a) == b; });
}

/// The first line of a refusal, as far as a person may read it.
std::string shown(std::string_view body) {
  std::string line;
  for (const char c : head(body.substr(0, body.find_first_of("\r\n")), kMaxSaid)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return {};
    line += c;
  }
  return line.starts_with('<') ? std::string() : line;
}

}  // namespace

MessageReader::MessageReader(std::unique_ptr<net::HttpResponse> response)
    : response_(std::move(response)), stream_(is_event_stream(*response_)), events_(kMaxEvent) {
}

Task<Result<std::optional<net::SseEvent>>> MessageReader::next_event() {
  while (true) {
    if (auto event = events_.next()) co_return std::optional(std::move(*event));
    if (over_) co_return std::optional<net::SseEvent>();
    auto chunk = co_await response_->next();
    if (!chunk) co_return chunk.error();
    if (!*chunk) {
      over_ = true;
      events_.finish();
    } else if (const auto taken = events_.push((*chunk)->bytes); !taken) {
      co_return taken.error();
    }
  }
}

Task<Result<>> MessageReader::read_body() {
  over_ = true;
  const auto body = co_await net::read_all(*response_, kMaxBody);
  if (!body) co_return body.error();
  if (body->find_first_not_of(" \t\r\n") == std::string::npos) co_return Result<>();
  auto messages = parse_rpc(*body);
  if (!messages) co_return messages.error();
  for (auto& message : *messages) ready_.push_back(std::move(message));
  co_return Result<>();
}

Task<Result<std::optional<RpcMessage>>> MessageReader::next() {
  while (true) {
    if (!ready_.empty()) {
      std::optional message(std::move(ready_.front()));
      ready_.pop_front();
      co_return message;
    }
    if (!stream_) {
      if (over_) co_return std::optional<RpcMessage>();
      if (const auto read = co_await read_body(); !read) co_return read.error();
      continue;
    }
    auto event = co_await next_event();
    if (!event) co_return event.error();
    if (!*event) co_return std::optional<RpcMessage>();
    // An event without data only carries an id; other kinds are not for this reader.
    if ((*event)->data.empty() || (*event)->event != "message") continue;
    auto messages = parse_rpc((*event)->data);
    if (!messages) co_return messages.error();
    for (auto& message : *messages) ready_.push_back(std::move(message));
  }
}

HttpWire::HttpWire(const asio::any_io_executor& executor, std::shared_ptr<Scheduler> scheduler,
                   HttpLinkSettings settings, std::shared_ptr<Authorization> authorization)
    : scheduler_(scheduler),
      settings_(std::move(settings)),
      authorization_(std::move(authorization)),
      client_(executor, std::move(scheduler)) {
}

net::HttpDeadlines HttpWire::deadlines() const {
  return {settings_.connect_timeout, kForEver, kForEver, kForEver};
}

net::HttpDeadlines HttpWire::own_deadlines() const {
  return {settings_.connect_timeout, settings_.timeout, settings_.timeout, settings_.timeout};
}

net::HttpDeadlines HttpWire::stream_deadlines() const {
  return {settings_.connect_timeout, settings_.timeout, kLongSilence, kForEver};
}

Task<Result<std::unique_ptr<net::HttpResponse>>> HttpWire::send_once(const WireRequest& request,
                                                                     const std::string& credentials) {
  net::HttpRequest http;
  http.method = request.method;
  http.url = request.url.empty() ? settings_.url : request.url;
  http.headers = settings_.headers;
  http.headers.push_back(
      {"Accept", request.method == "GET" ? "text/event-stream" : "application/json, text/event-stream"});
  if (request.method == "POST") http.headers.push_back({"Content-Type", "application/json"});
  if (!credentials.empty()) http.headers.push_back({"Authorization", credentials});
  http.headers.insert(http.headers.end(), request.headers.begin(), request.headers.end());
  http.body = request.body;
  http.deadlines = request.deadlines;
  http.max_response = request.max_answer == 0 ? 2 * kMaxBody : request.max_answer;
  http.once = request.once;
  http.public_addresses_only = !settings_.allow_private_network;
  http.public_only_hint = "allow_private_network: true would let it";
  co_return co_await client_.send(std::move(http));
}

Task<Result<WireAnswer>> HttpWire::send(WireRequest request) {
  int redirects = 0;
  int refusals = 0;
  while (true) {
    std::string credentials;
    if (authorization_) {
      auto header = co_await authorization_->header();
      if (!header) co_return header.error();
      credentials = std::move(*header).value_or("");
    }
    auto response = co_await send_once(request, credentials);
    if (!response) co_return response.error();
    WireAnswer answer;
    answer.status = (*response)->status();
    answer.session_id = (*response)->header("Mcp-Session-Id");
    if (answer.good()) {
      answer.reader = std::make_unique<MessageReader>(std::move(*response));
      co_return answer;
    }
    if (answer.status == 307 || answer.status == 308) {
      const auto to = same_origin_url(request.url.empty() ? settings_.url : request.url,
                                      std::string((*response)->header("Location")));
      if (!to || ++redirects > kMaxRedirects) {
        co_return Error(Errc::unavailable,
                        "the MCP server redirects to another place, which is not followed: put its address "
                        "into the configuration");
      }
      request.url = *to;
      continue;
    }
    const auto challenge = std::string((*response)->header("WWW-Authenticate"));
    const auto body = co_await net::read_all(**response, kMaxRefusal);
    if (answer.status == 401 || answer.status == 403) {
      const auto what = "the MCP server refuses the credentials (HTTP " + std::to_string(answer.status) + ")";
      if (!authorization_) co_return Error(Errc::unauthorized, what);
      if (++refusals > kMaxCredentials) co_return Error(Errc::unauthorized, what + ", also new ones");
      const auto mended = co_await authorization_->refused(answer.status, challenge, credentials);
      if (!mended) co_return mended.error();
      continue;
    }
    if (body) {
      if (auto messages = parse_rpc(*body); messages && messages->front().kind == RpcMessage::Kind::error)
        answer.error = std::move(messages->front().error);
    }
    answer.said = "HTTP " + std::to_string(answer.status);
    const auto detail = answer.error ? describe(*answer.error) : body ? shown(*body) : std::string();
    if (!detail.empty()) answer.said += ": " + detail;
    co_return answer;
  }
}

std::optional<std::string> same_origin_url(const std::string& base, const std::string& location) {
  if (location.empty()) return std::nullopt;
  auto url = net::resolved_url(base, location);
  const auto here = net::origin_of(base);
  if (!url || !here || net::origin_of(*url) != here) return std::nullopt;
  return url;
}

}  // namespace parley::mcp
