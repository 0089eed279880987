#pragma once

#include <cstdint>
#include <string>

#include "parley/core/error.hpp"

namespace parley::mcp::oauth {

/// A JWT that says who the client is (RFC 7523, 2.2), good for five minutes from `now` (seconds since 1970).
/// RS256 with an RSA key, ES256 with one on P-256. Errors: configuration (the key is neither).
Result<std::string> client_assertion(const std::string& private_key, const std::string& client_id,
                                     const std::string& audience, std::int64_t now);

}  // namespace parley::mcp::oauth
