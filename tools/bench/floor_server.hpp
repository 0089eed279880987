#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "load.hpp"

namespace parley::tools {

/// A bare Beast WebSocket server in a forked process with one I/O thread. A connection to `/N` that sends the
/// text "go" is sent the downlink messages of trace N, at their times and of their sizes; whatever else comes
/// is read and forgotten.
class FloorServer {
 public:
  /// To be called while this process has one thread.
  static Result<FloorServer> start(const std::vector<Trace>& traces);
  ~FloorServer();
  FloorServer(FloorServer&& other) noexcept;
  FloorServer(const FloorServer&) = delete;
  FloorServer& operator=(const FloorServer&) = delete;
  FloorServer& operator=(FloorServer&&) = delete;

  int pid() const { return pid_; }
  std::uint16_t port() const { return port_; }

 private:
  FloorServer(pid_t pid, std::uint16_t port) : pid_(pid), port_(port) {}
  pid_t pid_;
  std::uint16_t port_;
};

}  // namespace parley::tools
