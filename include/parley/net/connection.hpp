#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/core/error.hpp"
#include "parley/core/task.hpp"

namespace parley::net {

/// One message from the other side; valid until the next read().
struct Incoming {
  bool is_text = false;
  std::span<const std::uint8_t> bytes;
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

/// A WebSocket, seen by a session. Belongs to one I/O thread.
class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  Connection(Connection&&) = delete;
  Connection& operator=(Connection&&) = delete;
  virtual ~Connection() = default;

  /// Errors: closed (its message says how), limit (a message over the maximum; the connection was closed
  /// 1009), timeout (no frame, not even a pong, for the idle time).
  virtual Task<Result<Incoming>> read() = 0;

  /// Queues; never blocks, never fails. A peer that does not take what waits for it is cut off.
  virtual void send_text(std::string text) = 0;
  virtual void send_binary(std::vector<std::uint8_t> bytes) = 0;
  /// Takes back the binary messages that have not begun to leave.
  virtual void drop_binary() = 0;

  /// Closes with a WebSocket status after what is queued; read() then ends. Later sends are dropped.
  virtual void close(std::uint16_t code, std::string reason) = 0;
  /// Drops the connection as it is.
  virtual void abort() = 0;

  virtual std::size_t queued_bytes() const = 0;
};

}  // namespace parley::net
