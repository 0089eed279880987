#include "parley/audio/cleanup.hpp"

#include <webrtc/modules/audio_processing/include/audio_processing.h>
#include <webrtc/modules/interface/module_common_types.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace parley::audio {
namespace {

constexpr double kCutoff = 80;

struct Biquad {
  float b0, b1, b2, a1, a2;
};

// The bilinear transform of a second-order Butterworth high-pass.
Biquad design(double cutoff, double rate) {
  const double k = std::tan(std::numbers::pi * cutoff / rate);
  const double norm = 1 / (1 + std::numbers::sqrt2 * k + k * k);
  return {static_cast<float>(norm), static_cast<float>(-2 * norm), static_cast<float>(norm),
          static_cast<float>(2 * (k * k - 1) * norm),
          static_cast<float>((1 - std::numbers::sqrt2 * k + k * k) * norm)};
}

class WebrtcNoiseSuppressor final : public NoiseSuppressor {
 public:
  explicit WebrtcNoiseSuppressor(std::unique_ptr<webrtc::AudioProcessing> processing)
      : processing_(std::move(processing)) {}

  void process(std::span<std::int16_t> samples) override {
    webrtc::AudioFrame frame;
    frame.sample_rate_hz_ = kListeningRate;
    frame.num_channels_ = 1;
    frame.samples_per_channel_ = kBlock;
    for (; samples.size() >= kBlock; samples = samples.subspan(kBlock)) {
      const auto block = samples.first(kBlock);
      std::ranges::copy(block, std::begin(frame.data_));
      // A block that it refuses is left as it was: heard with its noise rather than not at all.
      if (processing_->ProcessStream(&frame) == webrtc::AudioProcessing::kNoError) {
        std::copy_n(std::begin(frame.data_), kBlock, block.begin());
      }
    }
  }

 private:
  static constexpr std::size_t kBlock = kListeningRate / 100;
  std::unique_ptr<webrtc::AudioProcessing> processing_;
};

}  // namespace

void HighPass::process(std::span<std::int16_t> samples) {
  static const Biquad filter = design(kCutoff, kListeningRate);
  float x1 = x1_, x2 = x2_, y1 = y1_, y2 = y2_;
  for (auto& sample : samples) {
    const auto in = static_cast<float>(sample);
    // The newest output last: only that has to be waited for.
    const float out = filter.b0 * in + filter.b1 * x1 + filter.b2 * x2 - filter.a2 * y2 - filter.a1 * y1;
    x2 = x1;
    x1 = in;
    y2 = y1;
    y1 = out;
    // Rounds without a library call.
    const float positive = std::clamp(out, -32768.0F, 32767.0F) + 32768.5F;
    sample = static_cast<std::int16_t>(static_cast<std::int32_t>(positive) - 32768);
  }
  // Silence would leave denormals behind, which are slow.
  const bool silent = std::abs(y1) < 1e-9F && std::abs(y2) < 1e-9F;
  x1_ = x1;
  x2_ = x2;
  y1_ = silent ? 0 : y1;
  y2_ = silent ? 0 : y2;
}

void HighPass::reset() {
  x1_ = x2_ = y1_ = y2_ = 0;
}

Result<std::unique_ptr<NoiseSuppressor>> make_noise_suppressor(std::string_view level) {
  using Suppression = webrtc::NoiseSuppression;
  constexpr std::pair<std::string_view, Suppression::Level> levels[] = {
      {"low", Suppression::kLow},
      {"moderate", Suppression::kModerate},
      {"high", Suppression::kHigh},
      {"very_high", Suppression::kVeryHigh}};
  const auto* const chosen = std::ranges::find(levels, level, [](const auto& entry) { return entry.first; });
  if (chosen == std::end(levels)) {
    return Error(Errc::configuration,
                 "the noise suppression level must be low, moderate, high or very_high, not '" +
                     std::string(level) + "'");
  }

  // The experimental gain control is part of a new instance unless it is refused.
  webrtc::Config config;
  config.Set<webrtc::ExperimentalAgc>(new webrtc::ExperimentalAgc(false));
  std::unique_ptr<webrtc::AudioProcessing> processing(webrtc::AudioProcessing::Create(config));
  constexpr auto ok = webrtc::AudioProcessing::kNoError;
  constexpr auto mono = webrtc::AudioProcessing::kMono;
  if (!processing ||
      processing->Initialize(kListeningRate, kListeningRate, kListeningRate, mono, mono, mono) != ok ||
      processing->noise_suppression()->set_level(chosen->second) != ok ||
      processing->noise_suppression()->Enable(true) != ok) {
    return Error(Errc::internal, "the noise suppression does not start");
  }
  return std::unique_ptr<NoiseSuppressor>(std::make_unique<WebrtcNoiseSuppressor>(std::move(processing)));
}

}  // namespace parley::audio
