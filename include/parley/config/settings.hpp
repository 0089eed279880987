#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/config/mcp_servers.hpp"
#include "parley/config/node.hpp"
#include "parley/core/clock.hpp"

// Plain structs with the defaults in force; config/parley.yaml documents every key. `load` fills them.
namespace parley::config {

using namespace std::chrono_literals;

struct LogSettings {
  std::string level = "info";
  bool show_private = false;  ///< key `private`
  bool json = false;

  friend bool operator==(const LogSettings&, const LogSettings&) = default;
};

struct ServerSettings {
  std::string address = "0.0.0.0";  ///< key `listen: ADDRESS:PORT`
  std::uint16_t port = 8000;
  std::size_t io_threads = 0;       ///< 0: one per core
  std::size_t worker_threads = 0;   ///< 0: one per core
  std::size_t worker_queue = 1024;  ///< jobs waiting before the pool refuses
  std::size_t max_sessions = 2000;
  std::size_t max_connections_per_address = 64;
  double connections_per_second = 20;                ///< per address, sustained
  std::size_t connection_burst = 100;                ///< per address
  std::size_t max_message = std::size_t{64} * 1024;  ///< bytes of one WebSocket message
  /// Bytes waiting for a slow device before it is closed.
  std::size_t max_send_queue = std::size_t{256} * 1024;
  Millis handshake_timeout = 10s;  ///< TCP and HTTP, then hello: each
  Millis idle_timeout = 120s;      ///< without any frame (PROTOCOL.md, section 1)
  Millis shutdown_grace = 10s;

  friend bool operator==(const ServerSettings&, const ServerSettings&) = default;
};

struct Token {
  std::string name;
  std::string secret;

  friend bool operator==(const Token&, const Token&) = default;
};

struct AuthSettings {
  bool required = true;  ///< key `type: token | none`
  std::vector<Token> tokens;

  friend bool operator==(const AuthSettings&, const AuthSettings&) = default;
};

/// The downlink, exactly as our hello declares it.
struct AudioSettings {
  int downlink_rate = 24000;     ///< 16000 or 24000
  Millis downlink_frame = 60ms;  ///< 20, 40 or 60
  int bitrate = 32000;
  int complexity = 5;  ///< Opus, 0 to 10
  Millis send_ahead = 180ms;
  Millis start_lead = 30ms;      ///< from `tts start` to the first frame, at least
  Millis buffer = 600ms;         ///< synthesised audio that waits, beyond what is sent
  Millis max_uplink_burst = 4s;  ///< audio beyond real time before frames are dropped

  friend bool operator==(const AudioSettings&, const AudioSettings&) = default;
};

struct DetectorSettings {
  Millis speech_start = 100ms;  ///< voice needed before an utterance begins
  Millis pre_roll = 400ms;      ///< kept from before the beginning
  Millis min_speech = 160ms;    ///< shorter utterances are noise
  Millis end_silence = 700ms;   ///< silence that ends an utterance (auto and realtime)
  Millis max_utterance = 20s;
  bool adaptive = true;   ///< follows the noise level
  double min_snr_db = 5;  ///< voice must be this much over the noise level

  friend bool operator==(const DetectorSettings&, const DetectorSettings&) = default;
};

struct NoiseSettings {
  bool suppress = false;
  std::string level = "moderate";  ///< low, moderate, high, very_high

  friend bool operator==(const NoiseSettings&, const NoiseSettings&) = default;
};

/// Parley's own tools, by the names that `tools.disabled` knows.
inline constexpr std::array<std::string_view, 9> kOwnTools = {
    "get_time",         "set_timer",    "set_reminder",   "list_reminders", "cancel_reminder",
    "end_conversation", "switch_voice", "switch_persona", "what_can_you_do"};

struct ToolSettings {
  std::vector<std::string> disabled;  ///< of kOwnTools

  friend bool operator==(const ToolSettings&, const ToolSettings&) = default;
};

struct SessionSettings {
  Millis idle_timeout = 10min;    ///< nothing said and nothing played: farewell and close; 0: never
  Millis no_voice_timeout = 60s;  ///< listening without speech: farewell and close; 0: never
  std::string farewell;           ///< spoken before such a close; empty: none
  std::string greeting;           ///< spoken when the wake word is detected; empty: none
  std::string not_understood =
      "Sorry, I did not understand that.";  ///< to speech that is no command; empty: none
  std::string apology = "Sorry, something went wrong.";
  // Spoken when its time has come; {name} is the timer's name, {text} what to remind of …
  std::string timer_phrase = "Your timer is up.";
  std::string named_timer_phrase = "Your {name} timer is up.";
  std::string reminder_phrase = "Reminder: {text}.";
  std::string late_phrase = "This was for {time}.";  ///< … said first where that was a while ago
  Millis tool_timeout = 30s;
  Millis slow_tool_after = 1500ms;                       ///< a tool that takes longer is announced; 0: never
  std::string slow_tool_phrase = "One moment, please.";  ///< said then, once a turn; empty: nothing
  // Of each engine of the role.
  Millis asr_timeout = 10s;  ///< from the end of the utterance to its text
  Millis llm_timeout = 30s;  ///< to the first event, and between events
  Millis tts_timeout = 10s;  ///< to the first audio of a sentence, and between chunks
  int max_tool_rounds = 8;
  /// A partial text that stood for so long is given to the model before the utterance has ended; 0: never.
  Millis draft_after{0};
  std::size_t max_history_turns = 12;
  std::size_t max_history_tokens = 2000;  ///< as dialogue::estimate_tokens counts
  bool voice_barge_in = true;             ///< realtime: a voice interrupts the reply

  friend bool operator==(const SessionSettings&, const SessionSettings&) = default;
};

/// Which engine block fills a role: the first, and what to fall back on, in order.
using Role = std::vector<std::string>;

struct Roles {
  Role vad = {"ears"};
  Role asr = {"sphinx"};
  Role llm = {"commands"};
  Role tts = {"voice"};

  friend bool operator==(const Roles&, const Roles&) = default;
};

/// How long a whole role may take when every engine in it uses up its own time: engines are given up one by
/// one (engine/decorators), and this ends what even that did not.
inline Millis patience_with(const Role& role, Millis timeout) {
  constexpr auto kMargin = 1s;
  return timeout * static_cast<Millis::rep>(role.size()) + kMargin;
}

struct Profile {
  /// System prompt for language models: a template (config/persona).
  std::string persona =
      "You are Parley, a friendly voice assistant. Answer in one or two short sentences that sound natural "
      "when they are spoken, without lists, markup or emoji.";
  std::string language = "en";
  std::string timezone;  ///< as in Europe/Berlin; empty: the server's
  std::string voice;     ///< empty: the TTS engine's own default
  Roles roles;
  AudioSettings audio;
  DetectorSettings detector;
  NoiseSettings noise;
  SessionSettings session;
  ToolSettings tools;

  friend bool operator==(const Profile&, const Profile&) = default;
};

/// Conversations that outlive their session (engine/conversation_store).
struct HistorySettings {
  bool enabled = true;
  std::filesystem::path file;                 ///< empty: in memory, until the server stops
  Millis keep = std::chrono::hours(30 * 24);  ///< key `keep_days`
  std::size_t max_turns_per_device = 1000;
  std::size_t max_size = std::size_t{256} * 1024 * 1024;  ///< bytes of the file, or of memory

  friend bool operator==(const HistorySettings&, const HistorySettings&) = default;
};

/// Timers and reminders (mcp/reminder_book).
struct ReminderSettings {
  std::filesystem::path file;  ///< empty: in memory, until the server stops
  std::size_t max_per_device = 50;

  friend bool operator==(const ReminderSettings&, const ReminderSettings&) = default;
};

/// Whom a person may ask to talk to.
struct PersonaChoice {
  std::string persona;  ///< as Profile::persona; empty: the device's own
  std::string voice;    ///< as Profile::voice; empty: the device's own

  friend bool operator==(const PersonaChoice&, const PersonaChoice&) = default;
};

/// What goes back to the device's own persona and voice.
inline constexpr std::string_view kOwnChoice = "default";

struct EngineBlock {
  std::string name;
  std::string type;
  Node node;  ///< read, strictly, by the factory of that type
};

struct Settings {
  std::filesystem::path file;
  LogSettings log;
  ServerSettings server;
  AuthSettings auth;
  bool log_private = false;        ///< texts in the turn log
  std::filesystem::path turn_log;  ///< empty: none
  HistorySettings history;
  McpServers mcp_servers;
  std::filesystem::path mcp_credentials;  ///< where OAuth tokens are kept; empty: mcp::default_token_file()
  ReminderSettings reminders;
  std::map<std::string, PersonaChoice> personas;  ///< by the name that a person says
  std::map<std::string, std::string> voices;      ///< the same; the voice as its engine calls it
  std::map<std::string, EngineBlock> engines;
  Profile profile;                         ///< for every device …
  std::map<std::string, Profile> devices;  ///< … but these, by Device-Id in lower case

  const Profile& profile_for(std::string_view device_id) const;
};

/// Reads, validates and completes a configuration: roles that are not given are filled by the engines ears,
/// sphinx, commands and voice, which need not be configured; a default engine that no role uses is left out.
/// Throws Failure(Errc::configuration). The engine blocks are read later, by their factories
/// (engine/registry).
Settings load(const std::filesystem::path& file);
Settings load_text(std::string_view text, std::string name);
/// The same from a document that is parsed already; reads all of it, but for the engine blocks.
Settings load(const Node& root);

}  // namespace parley::config
