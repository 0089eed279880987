#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "parley/core/clock.hpp"
#include "parley/core/error.hpp"

// The JSON messages of PROTOCOL.md, sections 1, 3 and 4, in both directions: the server parses what devices
// say and writes what it says; the simulated device does the opposite.
namespace parley::protocol {

struct AudioParams {
  int sample_rate = 16000;  ///< Hz: 8000, 12000, 16000, 24000 or 48000
  int frame_duration = 60;  ///< ms: 5, 10, 20, 40, 60, 80, 100 or 120
  int channels = 1;
};

/// Device to server.
struct DeviceHello {
  std::optional<int> version;  ///< of the binary framing; a number or a numeric string ("1.0" is 1)
  bool mcp = false;
  bool aec = false;  ///< wants echo cancelled by the server (section 6)
  std::string transport = "websocket";
  AudioParams audio;
  nlohmann::json raw;  ///< everything, unknown keys included
};

enum class ListenMode { automatic, manual, realtime };
std::string_view to_string(ListenMode mode);

struct ListenStart {
  ListenMode mode = ListenMode::automatic;  ///< missing or unknown: automatic
};
struct ListenStop {};
/// The device heard its wake word.
struct ListenDetect {
  std::string text;
};
struct Abort {
  std::string reason;
};
/// JSON-RPC 2.0, both ways.
struct McpMessage {
  nlohmann::json payload;  ///< an object
};
struct Goodbye {};
/// A well-formed message of a type that is ignored ("iot", "server", unknown ones).
struct IgnoredMessage {
  std::string type;
};

using DeviceMessage = std::variant<DeviceHello, ListenStart, ListenStop, ListenDetect, Abort, McpMessage,
                                   Goodbye, IgnoredMessage>;

/// Parses one text from a device. Errc::invalid_input with what is wrong, never an exception: not JSON, not
/// an object, no `type`, wrong types of fields, nesting over 32 levels, invalid UTF-8. `session_id` never
/// matters.
Result<DeviceMessage> parse_device_message(std::string_view text);
/// Whether it says that it is a hello, be the rest as it may.
bool is_hello(std::string_view text);

/// Server to device; each carries the session's id.
struct ServerHello {
  AudioParams audio;
};
struct Stt {
  std::string text;
};
struct LlmEmotion {
  std::string emotion;  ///< one of the firmware's faces
  std::string text;     ///< an emoji
};
struct TtsStart {};
struct SentenceStart {
  std::string text;
};
struct TtsStop {};
struct SystemCommand {
  std::string command;
};
struct Alert {
  std::string status;
  std::string message;
  std::string emotion;
};
struct Custom {
  nlohmann::json payload;
};

using ServerMessage = std::variant<ServerHello, Stt, LlmEmotion, TtsStart, SentenceStart, TtsStop, McpMessage,
                                   SystemCommand, Alert, Custom, IgnoredMessage>;

/// One line of JSON. Invalid UTF-8 in texts is replaced (U+FFFD), never thrown on.
std::string write_server_message(const ServerMessage& message, std::string_view session_id);

/// For the simulated device.
Result<ServerMessage> parse_server_message(std::string_view text, std::string* session_id = nullptr);
std::string write_device_message(const DeviceMessage& message, std::string_view session_id);

/// PROTOCOL.md section 1: the hello wins, then the `Protocol-Version` header, then 1. Errc::unsupported for a
/// version other than 1, 2, 3.
Result<int> negotiate_version(const DeviceHello& hello, std::string_view header);

}  // namespace parley::protocol
