#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "parley/audio/pcm.hpp"
#include "parley/config/settings.hpp"
#include "parley/core/clock.hpp"
#include "parley/core/metrics.hpp"
#include "parley/core/time_zone.hpp"
#include "parley/dialogue/persona.hpp"
#include "parley/engine/asr.hpp"
#include "parley/engine/conversation_store.hpp"
#include "parley/engine/llm.hpp"
#include "parley/engine/tts.hpp"
#include "parley/engine/vad.hpp"
#include "parley/mcp/own_tools.hpp"
#include "parley/mcp/remote_server.hpp"
#include "parley/session/turn_log.hpp"

namespace parley::session {

/// The engines of one profile, fallback and metering included.
struct EngineSet {
  std::shared_ptr<engine::VadProvider> vad;
  std::shared_ptr<engine::AsrProvider> asr;
  std::shared_ptr<engine::LlmProvider> llm;
  std::shared_ptr<engine::TtsProvider> tts;
};

/// What a session works with; immutable, shared by the sessions of one profile.
struct Runtime {
  std::shared_ptr<const config::Settings> settings;
  const config::Profile* profile = nullptr;          ///< within settings
  std::shared_ptr<const dialogue::Persona> persona;  ///< the profile's; never null
  EngineSet engines;
  /// The apology as sound, for when the voice fails; may be null.
  std::shared_ptr<const audio::Pcm> apology_clip;
  std::shared_ptr<Metrics> metrics;
  std::shared_ptr<TurnLog> turn_log;
  /// What devices said in earlier sessions; null: nothing is kept.
  std::shared_ptr<engine::ConversationStore> conversations;
  /// Where other tools than the device's are; may be null.
  std::shared_ptr<mcp::RemoteServers> mcp_servers;
  std::shared_ptr<mcp::ReminderBook> reminders;      ///< null: none, and no own tools
  std::shared_ptr<const mcp::OwnToolbox> own_tools;  ///< null: none
  /// Those of Settings::personas that have a text, in the profile's zone.
  std::map<std::string, std::shared_ptr<const dialogue::Persona>> personas;
  /// Never null.
  std::function<WallTime()> wall_clock = std::chrono::system_clock::now;
};

}  // namespace parley::session
