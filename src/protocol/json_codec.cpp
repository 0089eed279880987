#include <utility>

#include "parley/protocol/messages.hpp"
#include "protocol/json_text.hpp"

namespace parley::protocol {
namespace {

using nlohmann::json;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

AudioParams read_audio(FieldReader fields) {
  const AudioParams defaults;
  AudioParams out;
  if (const auto format = fields.text("format", "opus"); format != "opus") {
    fields.fail("format", "is not \"opus\"; expected that and nothing else");
  }
  out.sample_rate = fields.choice("sample_rate", defaults.sample_rate, {8000, 12000, 16000, 24000, 48000});
  out.frame_duration =
      fields.choice("frame_duration", defaults.frame_duration, {5, 10, 20, 40, 60, 80, 100, 120});
  out.channels = fields.choice("channels", defaults.channels, {1, 2});
  return out;
}

json write_audio(const AudioParams& audio) {
  return {{"format", "opus"},
          {"sample_rate", audio.sample_rate},
          {"channels", audio.channels},
          {"frame_duration", audio.frame_duration}};
}

DeviceMessage read_hello(FieldReader fields, json& root) {
  DeviceHello out;
  out.version = fields.version("version");
  auto features = fields.object("features");
  out.mcp = features.flag("mcp", false);
  out.aec = features.flag("aec", false);
  out.transport = fields.text("transport", out.transport);
  out.audio = read_audio(fields.object("audio_params"));
  out.raw = std::move(root);
  return out;
}

ListenMode read_mode(FieldReader& fields) {
  const auto mode = fields.text("mode", "auto");
  if (mode == "manual") return ListenMode::manual;
  if (mode == "realtime") return ListenMode::realtime;
  return ListenMode::automatic;
}

DeviceMessage read_listen(FieldReader fields) {
  const auto state = fields.required_text("state");
  if (state == "start") return ListenStart{.mode = read_mode(fields)};
  if (state == "stop") return ListenStop{};
  if (state != "detect") fields.fail("state", "is none of start, stop and detect");
  return ListenDetect{.text = fields.text("text", {})};
}

DeviceMessage read_device_message(const std::string& type, json& root, std::optional<Error>& error) {
  FieldReader fields(root, error);
  if (type == "hello") return read_hello(fields, root);
  if (type == "listen") return read_listen(fields);
  if (type == "abort") return Abort{.reason = fields.text("reason", {})};
  if (type == "mcp") return McpMessage{.payload = fields.required_object("payload")};
  if (type == "goodbye") return Goodbye{};
  return IgnoredMessage{.type = type};
}

ServerMessage read_tts(FieldReader fields) {
  const auto state = fields.required_text("state");
  if (state == "start") return TtsStart{};
  if (state == "stop") return TtsStop{};
  if (state == "sentence_start") return SentenceStart{.text = fields.required_text("text")};
  if (state != "sentence_end")
    fields.fail("state", "is none of start, stop, sentence_start and sentence_end");
  return IgnoredMessage{.type = "tts sentence_end"};
}

ServerMessage read_server_message(const std::string& type, const json& root, std::optional<Error>& error) {
  FieldReader fields(root, error);
  if (type == "hello") {
    // The firmware refuses a hello without it, too.
    if (fields.required_text("transport") != "websocket") fields.fail("transport", "is not \"websocket\"");
    return ServerHello{.audio = read_audio(fields.object("audio_params"))};
  }
  if (type == "stt") return Stt{.text = fields.required_text("text")};
  if (type == "llm")
    return LlmEmotion{.emotion = fields.required_text("emotion"), .text = fields.text("text", {})};
  if (type == "tts") return read_tts(fields);
  if (type == "mcp") return McpMessage{.payload = fields.required_object("payload")};
  if (type == "system") return SystemCommand{.command = fields.required_text("command")};
  if (type == "alert") {
    return Alert{.status = fields.required_text("status"),
                 .message = fields.required_text("message"),
                 .emotion = fields.required_text("emotion")};
  }
  if (type == "custom") return Custom{.payload = fields.required_object("payload")};
  return IgnoredMessage{.type = type};
}

/// The type of a message, or what is wrong with it.
Result<std::string> read_type(const json& root) {
  std::optional<Error> error;
  FieldReader fields(root, error);
  auto type = fields.required_text("type");
  if (type.empty()) fields.fail("type", "is empty; expected the kind of the message");
  if (error) return *std::move(error);
  return type;
}

json device_hello(const DeviceHello& hello) {
  json out = hello.raw.is_object() ? hello.raw : json::object();
  out["type"] = "hello";
  if (hello.version) {
    out["version"] = *hello.version;
  } else {
    out.erase("version");
  }
  auto& features = out["features"];
  if (!features.is_object()) features = json::object();
  features["mcp"] = hello.mcp;
  features["aec"] = hello.aec;
  out["transport"] = hello.transport;
  out["audio_params"] = write_audio(hello.audio);
  return out;
}

ObjectWriter begin(std::string_view session_id, std::string_view type) {
  ObjectWriter out;
  out.add("session_id", session_id).add("type", type);
  return out;
}

}  // namespace

std::string_view to_string(ListenMode mode) {
  switch (mode) {
    case ListenMode::automatic:
      return "auto";
    case ListenMode::manual:
      return "manual";
    case ListenMode::realtime:
      return "realtime";
  }
  return "auto";
}

Result<DeviceMessage> parse_device_message(std::string_view text) {
  auto root = parse_object(text);
  if (!root) return root.error();
  const auto type = read_type(*root);
  if (!type) return type.error();
  std::optional<Error> error;
  auto message = read_device_message(*type, *root, error);
  if (error) return *std::move(error);
  return message;
}

bool is_hello(std::string_view text) {
  const auto root = parse_object(text);
  if (!root) return false;
  const auto type = read_type(*root);
  return type && *type == "hello";
}

Result<ServerMessage> parse_server_message(std::string_view text, std::string* session_id) {
  auto root = parse_object(text);
  if (!root) return root.error();
  const auto type = read_type(*root);
  if (!type) return type.error();
  std::optional<Error> error;
  auto message = read_server_message(*type, *root, error);
  if (error) return *std::move(error);
  if (session_id != nullptr) {
    const auto found = root->find("session_id");
    const bool given = found != root->end() && found->is_string();
    *session_id = given ? found->get<std::string>() : std::string();
  }
  return message;
}

std::string write_server_message(const ServerMessage& message, std::string_view session_id) {
  auto out = std::visit(
      Overloaded{
          [&](const ServerHello& m) {
            return begin(session_id, "hello")
                .add("transport", "websocket")
                .add("audio_params", write_audio(m.audio));
          },
          [&](const Stt& m) { return begin(session_id, "stt").add("text", m.text); },
          [&](const LlmEmotion& m) {
            return begin(session_id, "llm").add("emotion", m.emotion).add("text", m.text);
          },
          [&](const TtsStart&) { return begin(session_id, "tts").add("state", "start"); },
          [&](const SentenceStart& m) {
            return begin(session_id, "tts").add("state", "sentence_start").add("text", m.text);
          },
          [&](const TtsStop&) { return begin(session_id, "tts").add("state", "stop"); },
          [&](const McpMessage& m) { return begin(session_id, "mcp").add("payload", m.payload); },
          [&](const SystemCommand& m) { return begin(session_id, "system").add("command", m.command); },
          [&](const Alert& m) {
            return begin(session_id, "alert")
                .add("status", m.status)
                .add("message", m.message)
                .add("emotion", m.emotion);
          },
          [&](const Custom& m) { return begin(session_id, "custom").add("payload", m.payload); },
          [&](const IgnoredMessage& m) { return begin(session_id, m.type); },
      },
      message);
  return std::move(out).finish();
}

std::string write_device_message(const DeviceMessage& message, std::string_view session_id) {
  if (const auto* hello = std::get_if<DeviceHello>(&message)) {
    return device_hello(*hello).dump(-1, ' ', false, json::error_handler_t::replace);
  }
  auto out = std::visit(
      Overloaded{
          [&](const DeviceHello&) { return ObjectWriter(); },
          [&](const ListenStart& m) {
            return begin(session_id, "listen").add("state", "start").add("mode", to_string(m.mode));
          },
          [&](const ListenStop&) { return begin(session_id, "listen").add("state", "stop"); },
          [&](const ListenDetect& m) {
            return begin(session_id, "listen").add("state", "detect").add("text", m.text);
          },
          [&](const Abort& m) {
            auto abort = begin(session_id, "abort");
            if (!m.reason.empty()) abort.add("reason", m.reason);
            return abort;
          },
          [&](const McpMessage& m) { return begin(session_id, "mcp").add("payload", m.payload); },
          [&](const Goodbye&) { return begin(session_id, "goodbye"); },
          [&](const IgnoredMessage& m) { return begin(session_id, m.type); },
      },
      message);
  return std::move(out).finish();
}

Result<int> negotiate_version(const DeviceHello& hello, std::string_view header) {
  while (header.starts_with(' ')) header.remove_prefix(1);
  while (header.ends_with(' ')) header.remove_suffix(1);
  const auto version = hello.version ? hello.version : header.empty() ? 1 : parse_version(header);
  if (version && *version >= 1 && *version <= 3) return *version;
  return Error(Errc::unsupported,
               "binary protocol version " +
                   (version ? std::to_string(*version) : "in the Protocol-Version header") +
                   " is not supported; expected 1, 2 or 3");
}

}  // namespace parley::protocol
