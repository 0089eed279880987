#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parley/config/node.hpp"
#include "parley/core/clock.hpp"
#include "parley/engine/registry.hpp"
#include "parley/engine/tts.hpp"

namespace parley::providers {

struct CommandTtsSettings {
  enum class Format { wav, pcm };

  /// The program and its arguments; `{language}` and `{voice}` in them are replaced.
  std::vector<std::string> command;
  Format format = Format::wav;
  /// Of raw PCM (signed 16 bits, little-endian, mono), in Hz.
  int sample_rate = 22050;
  /// The voice where none is asked for.
  std::string voice;
  /// To the first audio, and from audio to audio.
  Millis timeout{10000};
  /// The longest speech; more is Errc::limit.
  Millis max_audio{300000};
  std::function<std::shared_ptr<Scheduler>(const asio::any_io_executor&)> clock = make_asio_scheduler;
};

/// One run of a program for each sentence: the text as one line on its standard input, audio on its standard
/// output, spoken as it arrives.
std::shared_ptr<engine::TtsProvider> make_command_tts(CommandTtsSettings settings);

/// Keys: command, format, sample_rate, voice, timeout, max_audio. A program that is not there is a complaint.
std::shared_ptr<engine::TtsProvider> command_tts_from_config(const config::Node& node,
                                                             const engine::EngineContext& context);

}  // namespace parley::providers
