#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parley/config/node.hpp"
#include "parley/core/clock.hpp"
#include "parley/engine/asr.hpp"
#include "parley/engine/registry.hpp"

namespace parley::providers {

struct CommandAsrSettings {
  /// The program and its arguments; `{language}` in them is replaced.
  std::vector<std::string> command;
  /// From the end of the utterance to the end of the program.
  Millis timeout{20000};
  /// The longest utterance; more is Errc::limit.
  Millis max_audio{60000};
  std::function<std::shared_ptr<Scheduler>(const asio::any_io_executor&)> clock = make_asio_scheduler;
};

/// One run of a program for each utterance: a WAV (16 kHz, mono, 16 bits) on its standard input, the text on
/// its standard output. It is started when speech begins, so that it can load what it needs meanwhile.
std::shared_ptr<engine::AsrProvider> make_command_asr(CommandAsrSettings settings);

/// Keys: command, timeout, max_audio. A program that is not there is a complaint.
std::shared_ptr<engine::AsrProvider> command_asr_from_config(const config::Node& node,
                                                             const engine::EngineContext& context);

}  // namespace parley::providers
