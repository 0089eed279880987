#pragma once

#include <memory>

#include "parley/audio/pcm.hpp"

namespace parley::engine {

/// Judges single frames; hysteresis, pre-roll and endpointing are the speech detector's.
class Vad {
 public:
  virtual ~Vad() = default;
  /// One frame of exactly 20 ms at 16 kHz (320 samples). True: it holds voice.
  virtual bool is_voice(audio::PcmView frame) = 0;
  /// Forgets what was heard, for the next utterance.
  virtual void reset() = 0;
};

/// Immutable and shared by all threads; each session makes a Vad of its own when it starts to listen.
class VadProvider {
 public:
  virtual ~VadProvider() = default;
  virtual std::unique_ptr<Vad> make() const = 0;
};

}  // namespace parley::engine
