#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/core/error.hpp"
#include "parley/core/task.hpp"

namespace parley::device {

/// `ws://HOST[:PORT][/PATH]` taken apart.
struct Url {
  std::string host;
  std::string port = "80";
  std::string path = "/";
};
/// Errc::invalid_input with what is wrong.
Result<Url> parse_url(std::string_view text);

/// A server that was found in the DNS once, for any number of connections.
class Target {
 public:
  static Task<Result<Target>> resolve(Url url);

 private:
  friend class Socket;
  struct Endpoints;
  Target(Url url, std::shared_ptr<const Endpoints> endpoints)
      : url_(std::move(url)), endpoints_(std::move(endpoints)) {}
  Url url_;
  std::shared_ptr<const Endpoints> endpoints_;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

/// A message's bytes, shared by all connections that send it.
using SharedBytes = std::shared_ptr<const std::vector<std::uint8_t>>;

/// The device's end of a WebSocket. Belongs to one I/O thread.
class Socket {
 public:
  struct Message {
    bool binary = false;
    std::span<const std::uint8_t> bytes;  ///< valid until the next read()
    std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
  };

  /// Errc::unauthorized: the server refused the token (401). Errc::unavailable: no connection, or another
  /// refusal. Errc::timeout after `limit`.
  static Task<Result<std::shared_ptr<Socket>>> connect(Target target, Headers headers, Millis limit);

  virtual ~Socket() = default;

  /// One reader. Errc::closed with the server's code and reason; Errc::limit over 1 MiB.
  virtual Task<Result<Message>> read() = 0;
  /// Queued; dropped after the end. More than 4 MiB that the server does not take end the connection.
  virtual void send_text(std::string text) = 0;
  virtual void send_binary(SharedBytes bytes) = 0;
  /// Says goodbye (1000) and ends a pending read(); waits for the server's goodbye for a second at most.
  virtual void close() = 0;
};

}  // namespace parley::device
