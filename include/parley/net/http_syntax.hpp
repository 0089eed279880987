#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parley/core/clock.hpp"

namespace parley::net {

struct HttpHeader {
  std::string name;
  std::string value;
};

/// `https://host:port` of a URL, in lower case and without the port where it is the scheme's own; nullopt:
/// not an http(s) URL, or one that holds credentials.
std::optional<std::string> origin_of(const std::string& url);

/// `location`, absolute or relative to the URL `base` (RFC 3986, 5); nullopt: no http(s) URL comes out.
std::optional<std::string> resolved_url(const std::string& base, const std::string& location);

/// The parts of a ws or wss URL.
struct WebSocketUrl {
  bool tls = false;
  std::string host;    ///< of an IPv6 address without its brackets
  std::string port;    ///< a number
  std::string target;  ///< path and query

  /// As in a Host header.
  std::string authority() const;
  /// `wss://host:port`, for messages and the log.
  std::string origin() const { return (tls ? "wss://" : "ws://") + authority(); }
};
/// nullopt: not a ws or wss URL, or one that holds credentials.
std::optional<WebSocketUrl> parse_websocket_url(const std::string& url);

/// Whether this may be sent as a header: a token as name, no line ends in the value (RFC 9110, 5.5).
bool is_valid_header(const HttpHeader& header);

/// A segment of a path or a value of a query, percent-encoded.
std::string url_escaped(std::string_view text);

/// The wait that a `Retry-After` header asks for (RFC 9110, 10.2.3: seconds or a date, `now` in seconds since
/// 1970); zero where it says nothing that can be read.
Millis retry_after(std::string_view value, std::int64_t now);

}  // namespace parley::net
