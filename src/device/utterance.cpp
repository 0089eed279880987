#include "parley/device/utterance.hpp"

#include <algorithm>
#include <cmath>

#include "parley/audio/resampler.hpp"

namespace parley::device {
namespace {

constexpr double kFullScale = 32768;
constexpr std::size_t kLoudnessBlock = 2048;

double rms(audio::PcmView samples) {
  if (samples.empty()) return 0;
  double sum = 0;
  for (const auto sample : samples) sum += static_cast<double>(sample) * sample;
  return std::sqrt(sum / static_cast<double>(samples.size()));
}

std::int16_t clipped(double value) {
  return static_cast<std::int16_t>(std::lround(std::clamp(value, -kFullScale, kFullScale - 1)));
}

double from_db(double db) {
  return std::pow(10, db / 20);
}

}  // namespace

std::optional<std::size_t> end_of_voice(audio::PcmView samples, int rate) {
  const auto block = audio::samples_in(Millis(10), rate);
  std::vector<double> levels;
  for (std::size_t at = 0; at < samples.size(); at += block) {
    levels.push_back(rms(samples.subspan(at, std::min(block, samples.size() - at))));
  }
  if (levels.empty()) return std::nullopt;
  const double loudest = *std::max_element(levels.begin(), levels.end());
  if (loudest < kFullScale * from_db(-60)) return std::nullopt;

  auto sorted = levels;
  const auto tenth = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 10);
  std::nth_element(sorted.begin(), tenth, sorted.end());
  // A steady voice without pauses must not count as its own background.
  const double over_background = std::min(*tenth * from_db(10), loudest * from_db(-12));
  const double threshold = std::max(loudest * from_db(-35), over_background);
  const auto last =
      std::find_if(levels.rbegin(), levels.rend(), [&](double level) { return level >= threshold; });
  const auto blocks = static_cast<std::size_t>(levels.rend() - last);
  return std::min(blocks * block, samples.size());
}

double loudest_rms(audio::PcmView samples) {
  if (samples.size() < kLoudnessBlock) return rms(samples);
  double loudest = 0;
  for (std::size_t at = 0; at + kLoudnessBlock <= samples.size(); at += kLoudnessBlock) {
    loudest = std::max(loudest, rms(samples.subspan(at, kLoudnessBlock)));
  }
  return loudest;
}

Result<Utterance> make_utterance(std::string label, const audio::Pcm& pcm) {
  Utterance made{std::move(label), {}, {}};
  if (pcm.rate == audio::kListeningRate) {
    made.samples = pcm.samples;
  } else {
    auto resampler = audio::Resampler::make(pcm.rate, audio::kListeningRate);
    if (!resampler) return resampler.error();
    resampler->process(pcm.samples, made.samples);
    resampler->flush(made.samples);
  }
  const auto end = end_of_voice(made.samples, audio::kListeningRate);
  if (!end) return Error(Errc::invalid_input, "there is no voice in \"" + made.label + "\"");
  made.voice_end = audio::duration_of(*end, audio::kListeningRate);
  return made;
}

NoiseBed::NoiseBed(std::vector<std::int16_t> noise, double snr_db)
    : noise_(std::move(noise)), snr_db_(snr_db), loudest_(loudest_rms(noise_)) {
}

void NoiseBed::fit(audio::PcmView speech) {
  if (loudest_ > 0) gain_ = loudest_rms(speech) / (loudest_ * from_db(snr_db_));
}

void NoiseBed::mix(std::span<std::int16_t> samples) {
  for (auto& sample : samples) {
    double noise = 0;
    if (noise_.empty()) {
      random_ = random_ * 1664525U + 1013904223U;
      noise = static_cast<double>(random_ >> 28U) - 7.5;
    } else {
      noise = gain_ * noise_[position_];
      position_ = (position_ + 1) % noise_.size();
    }
    sample = clipped(sample + noise);
  }
}

void Microphone::say(Utterance utterance) {
  utterance_ = std::move(utterance);
  said_ = 0;
  noise_.fit(utterance_.samples);
}

audio::PcmView Microphone::next_frame() {
  const auto voiced = std::min(remaining(), frame_.size());
  const auto from = utterance_.samples.begin() + static_cast<std::ptrdiff_t>(said_);
  std::fill(std::copy_n(from, voiced, frame_.begin()), frame_.end(), std::int16_t{0});
  said_ += voiced;
  noise_.mix(frame_);
  return frame_;
}

}  // namespace parley::device
