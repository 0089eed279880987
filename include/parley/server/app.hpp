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

/// `parley serve`: runs until SIGTERM or SIGINT. SIGHUP reads the configuration again. The exit code: 0, or 2
/// with one sentence on standard error where it cannot start.
int serve(const ServeOptions& options);

/// `parley check`: makes everything that serving needs and prints what is in force. 0, or 2 with what is
/// wrong. `online`: also asks every engine once and prints how long it took; 1 where one did not answer.
int check(const std::filesystem::path& config, bool online);

}  // namespace parley::server
