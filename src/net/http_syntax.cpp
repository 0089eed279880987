#include "parley/net/http_syntax.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace parley::net {
namespace {

struct EndUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

std::string part(CURLU* url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, flags) != CURLUE_OK) return {};
  std::string copy(text);
  curl_free(text);
  return copy;
}

}  // namespace

std::optional<std::string> origin_of(const std::string& url) {
  const std::unique_ptr<CURLU, EndUrl> parsed(curl_url());
  if (!parsed || url.find('\0') != std::string::npos) return std::nullopt;
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return std::nullopt;
  const auto scheme = part(parsed.get(), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return std::nullopt;
  if (!part(parsed.get(), CURLUPART_USER).empty() || !part(parsed.get(), CURLUPART_PASSWORD).empty())
    return std::nullopt;
  auto host = part(parsed.get(), CURLUPART_HOST);
  std::ranges::transform(host, host.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto port = part(parsed.get(), CURLUPART_PORT, CURLU_NO_DEFAULT_PORT);
  if (host.empty()) return std::nullopt;
  return scheme + "://" + host + (port.empty() ? "" : ":" + port);
}

std::optional<std::string> resolved_url(const std::string& base, const std::string& location) {
  const std::unique_ptr<CURLU, EndUrl> parsed(curl_url());
  if (!parsed || location.find('\0') != std::string::npos) return std::nullopt;
  if (curl_url_set(parsed.get(), CURLUPART_URL, base.c_str(), 0) != CURLUE_OK) return std::nullopt;
  if (curl_url_set(parsed.get(), CURLUPART_URL, location.c_str(), 0) != CURLUE_OK) return std::nullopt;
  const auto scheme = part(parsed.get(), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return std::nullopt;
  return part(parsed.get(), CURLUPART_URL);
}

std::string WebSocketUrl::authority() const {
  const bool usual = port == (tls ? "443" : "80");
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + (usual ? "" : ":" + port);
}

std::optional<WebSocketUrl> parse_websocket_url(const std::string& url) {
  const std::unique_ptr<CURLU, EndUrl> parsed(curl_url());
  if (!parsed || url.find('\0') != std::string::npos) return std::nullopt;
  // libcurl may or may not know these schemes; it takes both apart alike.
  const auto flags = static_cast<unsigned>(CURLU_NON_SUPPORT_SCHEME);
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), flags) != CURLUE_OK) return std::nullopt;
  const auto scheme = part(parsed.get(), CURLUPART_SCHEME);
  if (scheme != "ws" && scheme != "wss") return std::nullopt;
  if (!part(parsed.get(), CURLUPART_USER).empty() || !part(parsed.get(), CURLUPART_PASSWORD).empty())
    return std::nullopt;
  WebSocketUrl out;
  out.tls = scheme == "wss";
  out.host = part(parsed.get(), CURLUPART_HOST);
  if (out.host.starts_with('[')) out.host = out.host.substr(1, out.host.size() - 2);
  if (out.host.empty()) return std::nullopt;
  out.port = part(parsed.get(), CURLUPART_PORT);
  if (out.port.empty()) out.port = out.tls ? "443" : "80";
  out.target = part(parsed.get(), CURLUPART_PATH);
  if (out.target.empty()) out.target = "/";
  if (const auto query = part(parsed.get(), CURLUPART_QUERY); !query.empty()) out.target += "?" + query;
  return out;
}

bool is_valid_header(const HttpHeader& header) {
  constexpr std::string_view kToken = "!#$%&'*+-.^_`|~";
  const auto in_token = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kToken.find(c) != std::string_view::npos;
  };
  const auto in_value = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7F);
  };
  return !header.name.empty() && std::ranges::all_of(header.name, in_token) &&
         std::ranges::all_of(header.value, in_value);
}

std::string url_escaped(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    }
  }
  return out;
}

Millis retry_after(std::string_view value, std::int64_t now) {
  constexpr std::int64_t kLongest = 86'400;
  std::int64_t seconds = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (failed == std::errc::result_out_of_range) return Millis(kLongest * 1000);
  if (failed != std::errc() || end != value.data() + value.size()) {
    const auto date = curl_getdate(std::string(value).c_str(), nullptr);
    if (date < 0) return Millis::zero();
    seconds = static_cast<std::int64_t>(date) - now;
  }
  return Millis(std::clamp<std::int64_t>(seconds, 0, kLongest) * 1000);
}

}  // namespace parley::net
