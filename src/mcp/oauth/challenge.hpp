#pragma once

#include <string>
#include <string_view>

namespace parley::mcp::oauth {

/// What a `WWW-Authenticate` says with the scheme Bearer (RFC 6750, 3; RFC 9728, 5.1).
struct Challenge {
  std::string resource_metadata;
  std::string scope;
  std::string error;
};

/// The first of each; whatever cannot be read is left out.
Challenge read_challenge(std::string_view header);

}  // namespace parley::mcp::oauth
