#include "parley/providers/webrtc_vad.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace parley::providers {
namespace {

constexpr std::size_t kFrame = 320;

/// Harmonics of 150 Hz with the formants of a vowel.
std::vector<std::int16_t> vowel(std::size_t samples) {
  std::vector<std::int16_t> out(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    double sum = 0;
    for (int k = 1; k <= 20; ++k) {
      const double hertz = 150.0 * k;
      const double formants =
          1 / (1 + std::pow((hertz - 600) / 200, 2)) + 0.5 / (1 + std::pow((hertz - 1700) / 250, 2));
      sum += formants * std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / 16000);
    }
    out[i] = static_cast<std::int16_t>(4000 * sum);
  }
  return out;
}

std::size_t voiced_frames(engine::Vad& vad, audio::PcmView samples) {
  std::size_t voiced = 0;
  for (; samples.size() >= kFrame; samples = samples.subspan(kFrame)) {
    if (vad.is_voice(samples.first(kFrame))) ++voiced;
  }
  return voiced;
}

class Aggressiveness : public testing::TestWithParam<int> {};

TEST_P(Aggressiveness, HearsAVowelButNotSilence) {
  const auto vad = make_webrtc_vad(GetParam())->make();
  EXPECT_EQ(voiced_frames(*vad, std::vector<std::int16_t>(kFrame * 50)), 0U);
  EXPECT_GT(voiced_frames(*vad, vowel(kFrame * 50)), 40U);
}

TEST_P(Aggressiveness, ResetForgets) {
  const auto provider = make_webrtc_vad(GetParam());
  const auto used = provider->make();
  const auto sound = vowel(kFrame * 20);
  voiced_frames(*used, sound);
  used->reset();
  const auto fresh = provider->make();
  for (std::size_t at = 0; at < sound.size(); at += kFrame) {
    const auto frame = audio::PcmView(sound).subspan(at, kFrame);
    EXPECT_EQ(used->is_voice(frame), fresh->is_voice(frame));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Aggressiveness, testing::Values(0, 1, 2, 3));

TEST(WebrtcVad, FramesOfAnotherLengthAreNoVoice) {
  const auto vad = make_webrtc_vad(0)->make();
  const auto sound = vowel(kFrame * 10);
  EXPECT_FALSE(vad->is_voice({}));
  EXPECT_FALSE(vad->is_voice(audio::PcmView(sound).first(kFrame - 1)));
}

TEST(WebrtcVad, RefusesOtherAggressiveness) {
  for (const int bad : {-1, 4}) {
    try {
      make_webrtc_vad(bad);
      ADD_FAILURE() << bad;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, Errc::configuration);
    }
  }
}

TEST(WebrtcVad, ReadsItsBlock) {
  EXPECT_NE(webrtc_vad_from_config(config::Node::parse("aggressiveness: 3", "p.yaml"), {}), nullptr);
  EXPECT_NE(webrtc_vad_from_config(config::Node::parse("{}", "p.yaml"), {}), nullptr);
  EXPECT_THROW(webrtc_vad_from_config(config::Node::parse("aggressiveness: 4", "p.yaml"), {}), Failure);
}

}  // namespace
}  // namespace parley::providers
