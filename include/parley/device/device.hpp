#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/core/error.hpp"
#include "parley/core/task.hpp"
#include "parley/device/conversation.hpp"
#include "parley/device/mcp_server.hpp"
#include "parley/device/playout.hpp"
#include "parley/device/socket.hpp"
#include "parley/device/utterance.hpp"
#include "parley/protocol/messages.hpp"

namespace parley::device {

struct Settings {
  Url url;
  std::string token;  ///< empty: no Authorization header
  std::string device_id = "02:00:00:00:00:01";
  std::string client_id = "00000000-0000-4000-8000-000000000001";
  int version = 1;  ///< of the binary framing: 1, 2 or 3
  protocol::ListenMode mode = protocol::ListenMode::automatic;
  Millis frame{60};                  ///< uplink
  Millis handshake_timeout{10'000};  ///< connection, then hello: each (PROTOCOL.md, section 1)
  Millis reply_timeout{20'000};      ///< the longest silence of the server while an answer is awaited
  Millis greeting_wait{1'000};       ///< after the wake word, for a greeting to begin
  PlayoutSettings playout;           ///< `frame` comes from the server's hello
  bool dtx = true;                   ///< as the firmware has it
  /// Set: the first reply is interrupted this long after it was first heard ...
  std::optional<Millis> interrupt_after;
  /// ... by the voice of the next turn (realtime), not by an abort.
  bool talk_over = false;
};

enum class State { idle, connecting, listening, speaking };

/// The firmware's behaviour over WebSocket (PROTOCOL.md, sections 1 to 5), in real time. One I/O thread.
class Device {
 public:
  using Observer = std::function<void(const Event&)>;

  Device(asio::any_io_executor executor, Settings settings, McpServer tools, NoiseBed noise,
         Observer observer);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  Device(Device&&) = delete;
  Device& operator=(Device&&) = delete;

  /// Connects and exchanges hello.
  Task<Result<>> open();
  /// Tells of the wake word, listens, and hears the greeting out if one begins.
  Task<Result<>> wake(std::string text);
  /// Says one utterance and hears the answer to its end. Errc::timeout: no answer; Errc::closed: connection
  /// lost.
  Task<Result<>> turn(Utterance utterance);
  /// Says nothing; when the server speaks by itself, hears it out. Without an error after `limit`, where it
  /// says nothing.
  Task<Result<>> stay(Millis limit);
  /// Closes the connection.
  void close();

  State state() const;
  /// What was played so far, at the downlink's rate.
  audio::Pcm heard() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace parley::device
