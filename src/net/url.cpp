#include "parley/net/url.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "parley/net/http_syntax.hpp"

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

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '+') {
      out += ' ';
    } else if (text[at] != '%') {
      out += text[at];
    } else {
      unsigned value = 0;
      const auto digits = text.substr(at + 1, 2);
      const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
      if (digits.size() != 2 || failed != std::errc() || end != digits.data() + 2) return std::nullopt;
      out += static_cast<char>(value);
      at += 2;
    }
  }
  return out;
}

}  // namespace

std::string Url::origin() const {
  const bool usual = port == (scheme == "https" ? 443 : 80);
  return scheme + "://" + host + (usual ? "" : ":" + std::to_string(port));
}

bool Url::is_loopback() const {
  if (host == "localhost" || host.ends_with(".localhost") || host == "[::1]") return true;
  boost::system::error_code no_address;
  const auto address = boost::asio::ip::make_address_v4(host, no_address);
  return !no_address && address.is_loopback();
}

std::optional<Url> parse_url(const std::string& text) {
  const std::unique_ptr<CURLU, EndUrl> parsed(curl_url());
  if (!parsed || text.find('\0') != std::string::npos) return std::nullopt;
  if (curl_url_set(parsed.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return std::nullopt;
  Url url;
  url.scheme = lower(part(parsed.get(), CURLUPART_SCHEME));
  if (url.scheme != "http" && url.scheme != "https") return std::nullopt;
  if (!part(parsed.get(), CURLUPART_USER).empty() || !part(parsed.get(), CURLUPART_PASSWORD).empty())
    return std::nullopt;
  url.host = lower(part(parsed.get(), CURLUPART_HOST));
  const auto port = part(parsed.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  std::from_chars(port.data(), port.data() + port.size(), url.port);
  url.has_port = !part(parsed.get(), CURLUPART_PORT).empty();
  url.path = part(parsed.get(), CURLUPART_PATH);
  url.query = part(parsed.get(), CURLUPART_QUERY);
  url.has_fragment = text.find('#') != std::string::npos;
  if (url.host.empty() || url.port == 0) return std::nullopt;
  return url;
}

std::string form_encoded(const FormFields& fields) {
  std::string text;
  for (const auto& [name, value] : fields)
    text += (text.empty() ? "" : "&") + url_escaped(name) + "=" + url_escaped(value);
  return text;
}

std::optional<std::map<std::string, std::string>> form_decoded(std::string_view text) {
  std::map<std::string, std::string> fields;
  while (!text.empty()) {
    const auto piece = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), piece.size() + 1));
    if (piece.empty()) continue;
    const auto equals = piece.find('=');
    auto name = decoded(piece.substr(0, equals));
    auto value = equals == std::string_view::npos ? std::string() : decoded(piece.substr(equals + 1));
    if (!name || !value || !fields.try_emplace(std::move(*name), std::move(*value)).second)
      return std::nullopt;
  }
  return fields;
}

}  // namespace parley::net
