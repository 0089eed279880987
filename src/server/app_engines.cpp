// The one place that names concrete engines and storage.
#include "parley/core/log.hpp"
#include "parley/providers/command_asr.hpp"
#include "parley/providers/command_tts.hpp"
#include "parley/providers/elevenlabs_tts.hpp"
#include "parley/providers/flite_tts.hpp"
#include "parley/providers/funasr_asr.hpp"
#include "parley/providers/intents_llm.hpp"
#include "parley/providers/openai_asr.hpp"
#include "parley/providers/openai_llm.hpp"
#include "parley/providers/openai_realtime_asr.hpp"
#include "parley/providers/openai_tts.hpp"
#include "parley/providers/pocketsphinx_asr.hpp"
#include "parley/providers/simulated.hpp"
#include "parley/providers/sqlite_history.hpp"
#include "parley/providers/sqlite_reminders.hpp"
#include "parley/providers/webrtc_vad.hpp"
#include "parley/providers/wyoming_asr.hpp"
#include "parley/providers/wyoming_tts.hpp"
#include "parley/server/app.hpp"

namespace parley::server {

engine::Registry built_in_engines() {
  engine::Registry registry;
  registry.vad["webrtc_vad"] = providers::webrtc_vad_from_config;
  registry.asr["command"] = providers::command_asr_from_config;
  registry.asr["funasr"] = providers::funasr_from_config;
  registry.asr["pocketsphinx"] = providers::pocketsphinx_from_config;
  registry.asr["openai"] = providers::openai_asr_from_config;
  registry.asr["openai_realtime"] = providers::openai_realtime_asr_from_config;
  registry.asr["simulated_asr"] = providers::simulated_asr_from_config;
  registry.asr["wyoming"] = providers::wyoming_asr_from_config;
  registry.llm["intents"] = providers::intents_from_config;
  registry.llm["openai"] = providers::openai_llm_from_config;
  registry.llm["simulated_llm"] = providers::simulated_llm_from_config;
  registry.tts["command"] = providers::command_tts_from_config;
  registry.tts["flite"] = providers::flite_from_config;
  registry.tts["elevenlabs"] = providers::elevenlabs_tts_from_config;
  registry.tts["openai"] = providers::openai_tts_from_config;
  registry.tts["simulated_tts"] = providers::simulated_tts_from_config;
  registry.tts["wyoming"] = providers::wyoming_tts_from_config;
  return registry;
}

std::shared_ptr<engine::ConversationStore> open_history(const config::HistorySettings& settings,
                                                        const std::shared_ptr<Metrics>& metrics) {
  return settings.enabled ? providers::open_sqlite_history(settings, metrics) : nullptr;
}

std::shared_ptr<engine::ReminderStore> open_reminders(const config::ReminderSettings& settings) {
  return settings.file.empty() ? nullptr : providers::open_sqlite_reminders(settings.file);
}

std::unique_ptr<engine::ConversationArchive> open_archive(const config::HistorySettings& settings) {
  return providers::open_sqlite_archive(settings.file);
}

std::shared_ptr<const audio::Pcm> embedded_voice(const std::string& text) {
  if (text.empty()) return nullptr;
  auto clip = providers::flite_synthesize(text, "slt");
  if (!clip) {
    log::warn("the embedded voice cannot speak", {{"why", clip.error().message}});
    return nullptr;
  }
  return std::make_shared<const audio::Pcm>(std::move(*clip));
}

}  // namespace parley::server
