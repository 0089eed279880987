#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "parley/engine/registry.hpp"
#include "parley/mcp/remote_server.hpp"
#include "parley/session/runtime.hpp"

namespace parley::server {

/// One configuration in force: its engines made, one runtime a profile. Immutable; sessions keep the one they
/// began with when a newer is loaded.
class Deployment {
 public:
  struct Shared {
    std::shared_ptr<WorkerPool> workers;
    std::shared_ptr<Metrics> metrics;
    std::shared_ptr<session::TurnLog> turn_log;
    std::shared_ptr<engine::ConversationStore> conversations;  ///< null: none
    std::shared_ptr<mcp::RemoteServers> mcp_servers;           ///< null: none
    std::shared_ptr<mcp::ReminderBook> reminders;              ///< null: none, and no own tools
    /// Speaks without any configured engine, for the apology when the voice is down; null where it cannot.
    std::function<std::shared_ptr<const audio::Pcm>(const std::string& text)> synthesize;
  };

  /// Throws Failure: an unknown engine type, a wrong key in an engine's block, an engine that cannot be made.
  Deployment(std::shared_ptr<const config::Settings> settings, const engine::Registry& registry,
             Shared shared);

  const std::shared_ptr<const config::Settings>& settings() const { return settings_; }
  std::shared_ptr<const session::Runtime> runtime_for(const std::string& device_id) const;
  const std::map<std::string, std::shared_ptr<const session::Runtime>>& runtimes() const { return runtimes_; }
  /// Every engine that a role names, each once, by the name of its block.
  struct Roster {
    std::map<std::string, std::shared_ptr<engine::AsrProvider>> asr;
    std::map<std::string, std::shared_ptr<engine::LlmProvider>> llm;
    std::map<std::string, std::shared_ptr<engine::TtsProvider>> tts;
  };
  const Roster& roster() const { return roster_; }

 private:
  std::shared_ptr<const config::Settings> settings_;
  /// By device id; the empty one is everybody else's.
  std::map<std::string, std::shared_ptr<const session::Runtime>> runtimes_;
  Roster roster_;
};

}  // namespace parley::server
