#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "parley/server/deployment.hpp"

namespace parley::server {

struct ServeOptions {
  std::filesystem::path config;
  std::optional<std::string> listen;    ///< instead of server.listen
  std::optional<std::string> turn_log;  ///< instead of turn_log
};

/// All engine types that are built in.
engine::Registry built_in_engines();

/// The text by the embedded voice; null where it cannot.
std::shared_ptr<const audio::Pcm> embedded_voice(const std::string& text);

/// Where conversations are kept; null where they are not. Throws Failure as providers/sqlite_history does.
std::shared_ptr<engine::ConversationStore> open_history(const config::HistorySettings& settings,
                                                        const std::shared_ptr<Metrics>& metrics);
/// Where timers and reminders are kept; null: in memory. Throws Failure as providers/sqlite_reminders does.
std::shared_ptr<engine::ReminderStore> open_reminders(const config::ReminderSettings& settings);
/// The file that `settings` name, which has to exist.
std::unique_ptr<engine::ConversationArchive> open_archive(const config::HistorySettings& settings);

/// Where the tokens for MCP servers are kept.
std::shared_ptr<mcp::TokenStore> open_tokens(const config::Settings& settings);

/// `parley serve`: runs until SIGTERM or SIGINT. SIGHUP reads the configuration again. The exit code: 0, or 2
/// with one sentence on standard error where it cannot start.
int serve(const ServeOptions& options);

/// `parley check`: makes everything that serving needs and prints what is in force. 0, or 2 with what is
/// wrong. `online`: also asks every engine once and prints how long it took; 1 where one did not answer.
int check(const std::filesystem::path& config, bool online);

struct HistoryOptions {
  std::filesystem::path config;
  std::string device;  ///< empty: all devices are listed
  bool json = false;   ///< one object a line
  bool remove = false;
  std::filesystem::path export_to;  ///< empty: shown on standard output
};

/// `parley history`: shows, exports or deletes what the history holds, also while a server is running. 0, or
/// 2 with one sentence on standard error.
int history(const HistoryOptions& options);

struct McpOptions {
  std::filesystem::path config;
  std::string server;     ///< its key
  std::string tool;       ///< its own name
  std::string arguments;  ///< a JSON object
};

/// `parley mcp list`: connects to every configured MCP server and prints era, version, tools and latency. 0;
/// 1 where one is not usable; 2 with one sentence on standard error.
int mcp_list(const McpOptions& options);

/// `parley mcp call`: calls one tool and prints its result as JSON. 0; 1 where the tool failed; 2 with one
/// sentence on standard error.
int mcp_call(const McpOptions& options);

/// `parley mcp login`: see server/mcp_login.
int mcp_login(const McpOptions& options);

}  // namespace parley::server
