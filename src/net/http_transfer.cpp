#include "net/http_transfer.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "parley/net/address.hpp"

namespace parley::net {
namespace {

/// What may wait for the reader before the server has to.
constexpr std::size_t kHighWater = std::size_t{256} * 1024;
constexpr std::size_t kMaxHeaders = std::size_t{64} * 1024;
/// A rest that is longer than this is not worth the connection.
constexpr std::size_t kMaxDiscarded = std::size_t{64} * 1024;
constexpr long kMaxCachedAge = 60;  // seconds; servers close idle connections sooner or later

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// The host of an origin, an IPv6 address without its brackets.
std::string host_of(std::string_view origin) {
  auto host = origin.substr(origin.find("://") + 3);
  if (host.starts_with('[')) return std::string(host.substr(1, host.find(']') - 1));
  host = host.substr(0, host.find(':'));
  return std::string(host.substr(0, host.size() - (host.ends_with('.') ? 1 : 0)));
}

/// Whether `no_proxy` names the host, or a domain that it is in.
bool is_excepted(std::string_view host) {
  const char* lower = std::getenv("no_proxy");
  const char* list = lower != nullptr && *lower != '\0' ? lower : std::getenv("NO_PROXY");
  std::string_view rest(list == nullptr ? "" : list);
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  while (!rest.empty()) {
    const auto end = std::min(rest.find_first_of(", \t"), rest.size());
    auto entry = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (entry == "*") return true;
    if (entry.starts_with('.')) entry.remove_prefix(1);
    if (entry.ends_with('.')) entry.remove_suffix(1);
    if (entry.empty() || entry.size() > host.size()) continue;
    const bool whole = entry.size() == host.size() || host[host.size() - entry.size() - 1] == '.';
    if (whole && std::ranges::equal(host.substr(host.size() - entry.size()), entry, same)) return true;
  }
  return false;
}

/// Whether a proxy of the environment resolves the name in `origin`.
bool proxy_for(std::string_view origin) {
  if (is_excepted(host_of(origin))) return false;
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  if (set("all_proxy") || set("ALL_PROXY")) return true;
  return origin.starts_with("https:") ? set("https_proxy") || set("HTTPS_PROXY") : set("http_proxy");
}

std::optional<asio::ip::address> address_of(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof v4);
    return asio::ip::address_v4(ntohl(v4.sin_addr.s_addr));
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address, sizeof v6);
    asio::ip::address_v6::bytes_type bytes{};
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return asio::ip::address_v6(bytes);
  }
  return std::nullopt;
}

Error forbidden_address(const std::string& origin, const std::string& address, const std::string& hint) {
  return {Errc::unavailable,
          origin + " is at an address that is not public (" + address + "): not connected" +
              (hint.empty() ? "" : "; " + hint),
          false};
}

template <class T>
bool set(CURL* easy, CURLoption option, T value) {
  return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

}  // namespace

std::optional<Error> forbidden(const HttpRequest& request, const std::string& origin) {
  boost::system::error_code is_name;
  const auto address = asio::ip::make_address(host_of(origin), is_name);
  if (!request.public_addresses_only || is_name || is_public(address)) return std::nullopt;
  return forbidden_address(origin, address.to_string(), request.public_only_hint);
}

HttpTransfer::HttpTransfer(const asio::any_io_executor& executor, std::shared_ptr<Scheduler> scheduler,
                           HttpRequest what, std::string where)
    : request(std::move(what)),
      origin(std::move(where)),
      changed(executor),
      deadline(scheduler->make_timer()),
      scheduler_(std::move(scheduler)),
      easy_(curl_easy_init()),
      detail_(CURL_ERROR_SIZE, '\0'),
      phase_began_(scheduler_->now()),
      total_until_(phase_began_ + request.deadlines.total) {
}

HttpTransfer::~HttpTransfer() {
  if (easy_ != nullptr) curl_easy_cleanup(easy_);
  curl_slist_free_all(header_list_);
}

bool HttpTransfer::set_up(CURLSH* share) {
  if (easy_ == nullptr) return false;
  const auto add = [&](const std::string& line) {
    auto* const longer = curl_slist_append(header_list_, line.c_str());
    if (longer == nullptr) return false;
    header_list_ = longer;
    return true;
  };
  bool good = true;
  for (const auto& [name, value] : request.headers) {
    // With a colon an empty value would remove the header.
    good = good && add(value.empty() ? name + ";" : name + ": " + value);
  }
  // Without this, libcurl waits for "100 Continue" before it sends a longer body.
  good = good && add("Expect:");
  good = good && set(easy_, CURLOPT_PRIVATE, this) && set(easy_, CURLOPT_URL, request.url.c_str()) &&
         set(easy_, CURLOPT_HTTPHEADER, header_list_) && set(easy_, CURLOPT_ERRORBUFFER, detail_.data()) &&
         set(easy_, CURLOPT_SHARE, share) && set(easy_, CURLOPT_NOSIGNAL, 1L) &&
         // Otherwise removing a request that still resolves its name would wait for the resolver.
         set(easy_, CURLOPT_QUICK_EXIT, 1L) && set(easy_, CURLOPT_PROTOCOLS_STR, "http,https") &&
         set(easy_, CURLOPT_FOLLOWLOCATION, 0L) && set(easy_, CURLOPT_SSL_VERIFYPEER, 1L) &&
         set(easy_, CURLOPT_SSL_VERIFYHOST, 2L) && set(easy_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) &&
         set(easy_, CURLOPT_TCP_NODELAY, 1L) && set(easy_, CURLOPT_MAXAGE_CONN, kMaxCachedAge) &&
         set(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS)) &&
         // The deadlines are ours; libcurl's own only has to stay out of the way.
         set(easy_, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.deadlines.total.count()) + 1000) &&
         set(easy_, CURLOPT_PREREQFUNCTION, &HttpTransfer::on_ready) &&
         set(easy_, CURLOPT_PREREQDATA, this) &&
         set(easy_, CURLOPT_HEADERFUNCTION, &HttpTransfer::on_header) &&
         set(easy_, CURLOPT_HEADERDATA, this) && set(easy_, CURLOPT_WRITEFUNCTION, &HttpTransfer::on_body) &&
         set(easy_, CURLOPT_WRITEDATA, this) && set(easy_, CURLOPT_USERAGENT, "parley/" PARLEY_VERSION);
  if (request.public_addresses_only && !proxy_for(origin)) {
    good = good && set(easy_, CURLOPT_OPENSOCKETFUNCTION, &HttpTransfer::on_open) &&
           set(easy_, CURLOPT_OPENSOCKETDATA, this);
  }
  if (request.method == "HEAD") {
    good = good && set(easy_, CURLOPT_NOBODY, 1L);
  } else if (request.method != "GET") {
    good = good && set(easy_, CURLOPT_POST, 1L) &&
           set(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    // libcurl sends again what it can rewind, and it cannot rewind what a callback gave it.
    good = good && (request.once ? set(easy_, CURLOPT_READFUNCTION, &HttpTransfer::on_read) &&
                                       set(easy_, CURLOPT_READDATA, this)
                                 : set(easy_, CURLOPT_POSTFIELDS, request.body.data()));
    if (request.method != "POST") good = good && set(easy_, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
  return good;
}

void HttpTransfer::enter(Phase phase) {
  phase_began_ = scheduler_->now();
  if (std::exchange(phase_, phase) != phase && deadline_changed) deadline_changed();
}

int HttpTransfer::on_ready(void* self, char* /*ip*/, char* /*local*/, int /*port*/, int /*local_port*/) {
  static_cast<HttpTransfer*>(self)->enter(Phase::waiting);
  return CURL_PREREQFUNC_OK;
}

curl_socket_t HttpTransfer::on_open(void* self, curlsocktype /*purpose*/, curl_sockaddr* address) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  const auto to = address_of(address->addr);
  if (!to || !is_public(*to)) {
    transfer.forbidden_address_ = to ? to->to_string() : "of an unknown kind";
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

std::size_t HttpTransfer::on_read(char* into, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  const auto piece = std::string_view(transfer.request.body).substr(transfer.sent_, size * count);
  std::ranges::copy(piece, into);
  transfer.sent_ += piece.size();
  return piece.size();
}

std::size_t HttpTransfer::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  return static_cast<HttpTransfer*>(self)->take_header({data, size * count}) ? size * count : 0;
}

std::size_t HttpTransfer::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  return static_cast<HttpTransfer*>(self)->take_body({data, size * count});
}

bool HttpTransfer::take_header(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > kMaxHeaders) {
    error.emplace(Errc::limit, origin + " sends more headers than are taken");
    return false;
  }
  enter(Phase::receiving);
  if (headers_complete_) return true;  // trailers
  if (line.starts_with("HTTP/")) {
    // Also after a "100 Continue" and its like.
    headers.clear();
    status = 0;
    http2 = line.starts_with("HTTP/2");
    if (const auto space = line.find(' '); space != std::string_view::npos)
      std::from_chars(line.data() + space + 1, line.data() + line.size(), status);
  } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
    headers.push_back(
        {std::string(trimmed(line.substr(0, colon))), std::string(trimmed(line.substr(colon + 1)))});
  } else if (trimmed(line).empty() && status >= 200) {
    headers_complete_ = true;
    changed.notify();
  }
  return true;
}

std::size_t HttpTransfer::take_body(std::string_view bytes) {
  enter(Phase::receiving);
  if (discarding_) {
    body_bytes_ += bytes.size();
    return body_bytes_ > kMaxDiscarded ? 0 : bytes.size();
  }
  if (!buffer.empty() && buffer.size() + bytes.size() > kHighWater) {
    paused_ = true;
    paused_at_ = phase_began_;
    return CURL_WRITEFUNC_PAUSE;  // These bytes come again.
  }
  body_bytes_ += bytes.size();
  if (body_bytes_ > request.max_response) {
    error.emplace(Errc::limit,
                  origin + " answers with more than " + std::to_string(request.max_response) + " bytes");
    return 0;
  }
  if (buffer.empty()) buffer_arrived = phase_began_;
  buffer += bytes;
  changed.notify();
  return bytes.size();
}

bool HttpTransfer::resume() {
  if (!paused_ || ended_) return false;
  paused_ = false;
  const auto now = scheduler_->now();
  total_until_ += now - paused_at_;
  phase_began_ = now;
  return true;
}

void HttpTransfer::discard(TimePoint until) {
  discarding_ = true;
  paused_ = false;
  body_bytes_ = 0;
  buffer.clear();
  total_until_ = until;
}

TimePoint HttpTransfer::next_deadline() const {
  if (ended_ || paused_) return TimePoint::max();
  const auto& limits = request.deadlines;
  const auto wait = phase_ == Phase::connecting ? limits.connect
                    : phase_ == Phase::waiting  ? limits.first_byte
                                                : limits.idle;
  return std::min(phase_began_ + wait, total_until_);
}

Error HttpTransfer::deadline_passed() const {
  const auto in = [](Millis span) { return " within " + std::to_string(span.count()) + " ms"; };
  const auto& limits = request.deadlines;
  if (scheduler_->now() >= total_until_)
    return {Errc::timeout, origin + " did not complete its answer" + in(limits.total), true};
  switch (phase_) {
    case Phase::connecting:
      return {Errc::timeout, "no connection to " + origin + in(limits.connect), true};
    case Phase::waiting:
      return {Errc::timeout, origin + " did not begin to answer" + in(limits.first_byte), true};
    case Phase::receiving:
      break;
  }
  return {Errc::timeout, origin + " stopped in the middle of its answer: nothing" + in(limits.idle), true};
}

void HttpTransfer::complete(CURLcode code) {
  if (code == CURLE_OK && headers_complete_) {
    ended_ = true;
    changed.notify();
    return;
  }
  fail(explain(code));
}

void HttpTransfer::fail(Error with) {
  if (ended_) return;
  ended_ = true;
  if (!error) error = std::move(with);
  changed.notify();
}

Error HttpTransfer::explain(CURLcode code) const {
  const std::string_view said(detail_.data());
  const std::string why(said.empty() ? std::string_view(curl_easy_strerror(code)) : said);
  if (code == CURLE_COULDNT_CONNECT && !forbidden_address_.empty())
    return forbidden_address(origin, forbidden_address_, request.public_only_hint);
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
    case CURLE_SSL_CONNECT_ERROR:
      return {Errc::unavailable, "cannot connect to " + origin + ": " + why, true};
    case CURLE_PEER_FAILED_VERIFICATION:
      return {Errc::unavailable, origin + " cannot be trusted: " + why, false};
    case CURLE_OPERATION_TIMEDOUT:
      return {Errc::timeout, "no connection to " + origin + " in time", true};
    case CURLE_OK:  // no status line worth the name
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return {Errc::invalid_input, origin + " does not answer in HTTP: " + why, false};
    case CURLE_SEND_FAIL_REWIND:
      return {Errc::closed, "the connection to " + origin + " broke before anything of an answer came", true};
    case CURLE_OUT_OF_MEMORY:
      return {Errc::internal, "the HTTP library ran out of memory", false};
    default:
      break;
  }
  return {Errc::closed, "the connection to " + origin + " broke: " + why, true};
}

}  // namespace parley::net
