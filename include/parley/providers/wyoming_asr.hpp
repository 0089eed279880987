#pragma once

#include <memory>
#include <string>

#include "parley/engine/asr.hpp"
#include "parley/engine/registry.hpp"
#include "parley/providers/wyoming_endpoint.hpp"

namespace parley::providers {

struct WyomingAsrSettings {
  WyomingEndpoint endpoint;
  /// Empty: the device's; `auto`: the server finds out.
  std::string language;
  /// Empty: the server's default.
  std::string model;
  /// What is pushed beyond it is not heard.
  Millis max_audio{60'000};
};

/// A recogniser behind the Wyoming protocol (faster-whisper, speech-to-phrase, …), on a connection of its own
/// for each utterance. Audio goes up while it is spoken; servers that transcribe in a stream give partials.
/// As long as nothing was heard of the server, a connection that fails is made anew, with all the audio.
std::shared_ptr<engine::AsrProvider> make_wyoming_asr(WyomingAsrSettings settings);

/// Keys: language, model, max_audio, and those of wyoming_endpoint_from_config().
std::shared_ptr<engine::AsrProvider> wyoming_asr_from_config(const config::Node& node,
                                                             const engine::EngineContext& context);

}  // namespace parley::providers
