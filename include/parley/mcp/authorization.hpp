#pragma once

#include <optional>
#include <string>

#include "parley/core/error.hpp"
#include "parley/core/task.hpp"

namespace parley::mcp {

/// The credentials for one MCP server. Belongs to the thread of that server's client.
class Authorization {
 public:
  Authorization() = default;
  Authorization(const Authorization&) = delete;
  Authorization& operator=(const Authorization&) = delete;
  Authorization(Authorization&&) = delete;
  Authorization& operator=(Authorization&&) = delete;
  virtual ~Authorization() = default;

  /// What the header `Authorization` of the next request says, such as `Bearer …`, renewed first where it is
  /// about to expire; nullopt: nothing is known, and the request goes without.
  virtual Task<Result<std::optional<std::string>>> header() = 0;
  /// The server answered 401 or 403. `challenge`: its `WWW-Authenticate`, or empty; `used`: what header()
  /// gave for that request, or empty. Success: there is something new, the request is worth one more try.
  /// Errc::unauthorized: a person has to do something; the message says what.
  virtual Task<Result<>> refused(int status, std::string challenge, std::string used) = 0;
};

}  // namespace parley::mcp
