#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "parley/audio/pcm.hpp"
#include "parley/config/node.hpp"
#include "parley/core/error.hpp"
#include "parley/core/worker_pool.hpp"
#include "parley/engine/registry.hpp"
#include "parley/engine/tts.hpp"

namespace parley::providers {

struct FliteSettings {
  /// `slt` (female) or `rms` (male), both American English at 16 kHz.
  std::string voice = "slt";
  /// 1: as the voice was made; 2: twice as fast. 0.25 to 4.
  double speed = 1.0;
};

/// The embedded synthesiser. A request is one sentence; its audio arrives in pieces of about 60 ms as they
/// are synthesised, at most 60 s of it. Text without anything to say ends cleanly without audio; an unknown
/// voice becomes the one of the settings. The silence before the first sound is cut to 40 ms.
/// Errc::overloaded when `workers` is full. `workers` outlives the provider's streams.
std::shared_ptr<engine::TtsProvider> make_flite(FliteSettings settings, std::shared_ptr<WorkerPool> workers);

/// Keys: `voice` (slt, rms), `speed` (0.25 to 4).
std::shared_ptr<engine::TtsProvider> flite_from_config(const config::Node& node,
                                                       const engine::EngineContext& context);

/// Synthesises on the calling thread, at most 60 s. An unknown voice is Errc::invalid_input; text without
/// anything to say gives no samples.
Result<audio::Pcm> flite_synthesize(std::string_view text, std::string_view voice);

/// What flite is given for `text`: ASCII, one line, at most 2,000 characters, no token over 60; empty when
/// there is nothing to say. Typographic punctuation and Latin letters become their nearest ASCII, other
/// characters blanks.
std::string flite_speakable(std::string_view text);

}  // namespace parley::providers
