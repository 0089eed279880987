#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parley/audio/pcm.hpp"
#include "parley/core/error.hpp"

// What the microphone of a simulated device hears. Pure.
namespace parley::device {

/// One thing that a person says, at 16 kHz.
struct Utterance {
  std::string label;  ///< the text or the file's name
  std::vector<std::int16_t> samples;
  Duration voice_end{};  ///< where the voiced audio ends, from the beginning
};

/// Converts to 16 kHz and finds the end of speech. Errc::invalid_input for audio without any voice.
Result<Utterance> make_utterance(std::string label, const audio::Pcm& pcm);

/// The end of the last 10 ms that stand out: within 35 dB of the loudest and over the background by 10 dB.
/// nullopt: nothing louder than -60 dBFS.
std::optional<std::size_t> end_of_voice(audio::PcmView samples, int rate);

/// RMS of the loudest 2,048 samples (blocks; the whole, when shorter), 0 to 32768.
double loudest_rms(audio::PcmView samples);

/// A noise that never ends, at a level set by the signal-to-noise ratio.
class NoiseBed {
 public:
  /// Faint noise (about -75 dBFS), so that silence is not digital silence.
  NoiseBed() = default;
  /// `noise` at 16 kHz, repeated. The ratio compares loudest_rms() of both.
  NoiseBed(std::vector<std::int16_t> noise, double snr_db);

  /// Sets the level under `speech`.
  void fit(audio::PcmView speech);
  /// Adds the next piece of noise.
  void mix(std::span<std::int16_t> samples);

 private:
  std::vector<std::int16_t> noise_;
  double snr_db_ = 0;
  double loudest_ = 0;
  double gain_ = 0;
  std::size_t position_ = 0;
  std::uint32_t random_ = 1;
};

/// Cuts what is heard into frames: the running utterance, or nothing, over the noise.
class Microphone {
 public:
  Microphone(std::size_t frame_samples, NoiseBed noise) : noise_(std::move(noise)), frame_(frame_samples) {}

  /// Begins with the next frame; replaces what was being said.
  void say(Utterance utterance);
  void hush() { said_ = utterance_.samples.size(); }
  bool talking() const { return said_ < utterance_.samples.size(); }
  /// What is left of the utterance, in samples.
  std::size_t remaining() const { return utterance_.samples.size() - said_; }
  /// Valid until the next call.
  audio::PcmView next_frame();

 private:
  NoiseBed noise_;
  Utterance utterance_;
  std::size_t said_ = 0;
  std::vector<std::int16_t> frame_;
};

}  // namespace parley::device
