#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "parley/audio/pcm.hpp"
#include "parley/config/settings.hpp"
#include "parley/engine/vad.hpp"
#include "parley/turn/noise_floor.hpp"

namespace parley::turn {

/// Finds utterances in a stream of 16 kHz audio. Pure: time is the audio's own, counted in samples, but for
/// idle().
///
/// Rules: an utterance begins after `speech_start` of voice within a window (hysteresis: a short gap does not
/// start the count anew), its audio begins `pre_roll` before that; it ends after `end_silence` without voice;
/// less than `min_speech` of voice in it makes it noise (discarded); `max_utterance` ends it as it stands.
/// With `adaptive`, a frame also has to be `min_snr_db` over the followed noise level to count as voice, and,
/// when it is not 12 dB more than that, to follow the pitch of a voice within 400 ms: dishes have none.
/// `held` counts what the VAD says alone. Listeners may call stop() and reset() from within a call, but not
/// push() and not the destructor.
class SpeechDetector {
 public:
  enum class Mode {
    endpointing,  ///< auto and realtime: silence ends the utterance
    held,  ///< manual: everything between start and stop is the utterance; only `max_utterance` ends it
  };
  struct Began {
    /// What to give the recogniser first: the pre-roll and the frames that decided. Valid during the call.
    audio::PcmView audio;
  };
  struct Audio {
    audio::PcmView audio;  ///< the next piece of the running utterance
  };
  struct Ended {
    /// From the last voiced frame to now: the endpointing wait. 0 for held and max_utterance.
    Duration trailing_silence{};
    Duration voiced{};       ///< voice in the utterance
    bool too_short = false;  ///< under min_speech: noise, not speech
    bool truncated = false;  ///< ended by max_utterance
  };
  /// Called from push(), idle() and stop(), in the order of the audio.
  struct Listener {
    std::function<void(const Began&)> began;
    std::function<void(const Audio&)> audio;
    std::function<void(const Ended&)> ended;
  };

  /// `noise`: what an earlier detector followed in the same room.
  SpeechDetector(const config::DetectorSettings& settings, std::unique_ptr<engine::Vad> vad, Mode mode,
                 Listener listener, NoiseFloor noise = {});

  /// Any number of samples; works in frames of 20 ms and keeps the rest for the next call.
  void push(audio::PcmView samples);
  /// The same, judged by `samples`, while the listener gets `cleaned` (as long): noise suppression leaves
  /// remnants that sound like voices to the detector.
  void push(audio::PcmView samples, audio::PcmView cleaned);
  /// No audio came for `silence` of wall-clock time (DTX, a lost device): counts as that much silence, so
  /// that an utterance ends (held: for `max_utterance`). Does nothing outside an utterance.
  void idle(Duration silence);
  /// manual: the button was released. Ends the running utterance, or says that there was none (voiced = 0,
  /// too_short). Audio and calls that come after it, or after `max_utterance` of a held one, are ignored
  /// until reset().
  void stop();
  /// Back to the beginning: waiting for speech; the noise level is kept.
  void reset();

  bool in_utterance() const;
  /// Voice within the last kRecentWindow of audio, at any time: for barge-in decisions.
  Duration recent_voice() const;
  static constexpr Millis kRecentWindow{500};
  /// The followed noise level in dB below full scale: -70 (nothing heard yet, or silence) to 0.
  double noise_level_db() const;
  const NoiseFloor& noise() const;

 private:
  struct State;
  std::unique_ptr<State, void (*)(State*)> state_;
};

}  // namespace parley::turn
