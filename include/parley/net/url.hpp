#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parley::net {

/// An http(s) URL in pieces, normalised where they are compared.
struct Url {
  std::string scheme;  ///< lower case
  std::string host;    ///< lower case; an IPv6 address in brackets
  std::uint16_t port = 0;
  bool has_port = false;  ///< whether it was written
  std::string path;       ///< begins with a slash; without dot segments
  std::string query;
  bool has_fragment = false;

  /// `https://host`, with the port where it is not the scheme's own.
  std::string origin() const;
  /// Whether the host is this machine by its name or address.
  bool is_loopback() const;
};

/// nullopt: no http(s) URL, or one that holds credentials.
std::optional<Url> parse_url(const std::string& text);

using FormFields = std::vector<std::pair<std::string, std::string>>;

/// `application/x-www-form-urlencoded`.
std::string form_encoded(const FormFields& fields);

/// The fields of a query or a form, decoded; nullopt: a name twice, or percent signs that encode nothing.
std::optional<std::map<std::string, std::string>> form_decoded(std::string_view text);

}  // namespace parley::net
