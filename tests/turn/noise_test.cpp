// The detector among noises: with `adaptive`, the VAD has the last word no more.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <random>

#include "fakes/scripted_vad.hpp"
#include "parley/providers/webrtc_vad.hpp"
#include "parley/turn/noise_floor.hpp"
#include "parley/turn/speech_detector.hpp"
#include "turn/voicing.hpp"

namespace parley::turn {
namespace {

using namespace std::chrono_literals;
using Samples = std::vector<std::int16_t>;

constexpr std::size_t kFrame = 320;

std::size_t at(double seconds) {
  return static_cast<std::size_t>(seconds * 16000);
}

/// White noise of `db` below full scale.
Samples noise(double seconds, double db, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 32768 * std::pow(10, db / 20));
  Samples out(at(seconds));
  for (auto& sample : out) sample = static_cast<std::int16_t>(std::clamp(normal(random), -32768.0, 32767.0));
  return out;
}

/// Syllables of a vowel at `pitch` with pauses of 80 ms, at `db` below full scale between them, added to
/// `out` from `from` to `to` seconds.
void speak(Samples& out, double from, double to, double db, double pitch = 140) {
  std::vector<double> sound(at(to) - at(from));
  double energy = 0;
  for (std::size_t i = 0; i < sound.size(); ++i) {
    const double t = static_cast<double>(i) / 16000;
    const double syllable = std::fmod(t, 0.3);
    if (syllable > 0.22) continue;
    for (int k = 1; k <= 12; ++k) {
      const double hertz = pitch * k;
      const double vibrato = 0.3 * k * std::sin(2 * std::numbers::pi * 3 * t);
      sound[i] +=
          std::sin(2 * std::numbers::pi * hertz * t + vibrato) / (1 + std::pow((hertz - 600) / 300, 2));
    }
    sound[i] *= std::sin(std::numbers::pi * syllable / 0.22);
    energy += sound[i] * sound[i];
  }
  const double voiced = static_cast<double>(sound.size()) * 0.22 / 0.3;
  const double gain = 32768 * std::pow(10, db / 20) / std::sqrt(energy / voiced);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    auto& sample = out[at(from) + i];
    sample = static_cast<std::int16_t>(std::clamp(sample + gain * sound[i], -32768.0, 32767.0));
  }
}

struct Utterance {
  double from = 0;
  double to = 0;
  bool too_short = false;
  bool truncated = false;
};

std::vector<Utterance> utterances(const Samples& sound, std::unique_ptr<engine::Vad> vad) {
  std::vector<Utterance> found;
  std::size_t pushed = 0;
  SpeechDetector::Listener listener;
  listener.began = [&](const SpeechDetector::Began& began) {
    found.push_back({.from = static_cast<double>(pushed - began.audio.size()) / 16000});
  };
  listener.ended = [&](const SpeechDetector::Ended& ended) {
    found.back().to = static_cast<double>(pushed) / 16000;
    found.back().too_short = ended.too_short;
    found.back().truncated = ended.truncated;
  };
  SpeechDetector detector({}, std::move(vad), SpeechDetector::Mode::endpointing, std::move(listener));
  for (std::size_t i = 0; i + kFrame <= sound.size(); i += kFrame) {
    pushed = i + kFrame;
    detector.push(audio::PcmView(sound).subspan(i, kFrame));
  }
  return found;
}

/// The worst judge there is.
std::unique_ptr<engine::Vad> always_voice(test::ScriptedVad::Record& record) {
  return std::make_unique<test::ScriptedVad>([](auto) { return true; }, &record);
}

TEST(DetectorInNoise, SteadyNoiseIsNoVoiceWhateverTheVadSays) {
  test::ScriptedVad::Record record;
  for (const double db : {-60, -40, -25})
    EXPECT_TRUE(utterances(noise(60, db), always_voice(record)).empty()) << db;
}

TEST(DetectorInNoise, NoiseThatSetsInIsForgottenAfterAWhile) {
  test::ScriptedVad::Record record;
  auto sound = noise(3, -65);
  const auto fan = noise(40, -35);
  sound.insert(sound.end(), fan.begin(), fan.end());
  const auto found = utterances(sound, always_voice(record));
  ASSERT_LE(found.size(), 1U);
  if (!found.empty()) {
    EXPECT_LT(found[0].to, 12);
  }
}

TEST(DetectorInNoise, FindsSpeechInNoiseAndItsEnd) {
  for (const double speech : {-20.0, -30.0, -45.0}) {
    for (const double below : {10.0, 15.0, 30.0}) {
      auto sound = noise(8, speech - below);
      speak(sound, 3, 5, speech);
      test::ScriptedVad::Record record;
      const auto found = utterances(sound, always_voice(record));
      ASSERT_EQ(found.size(), 1U) << speech << " dB, noise " << below << " dB below";
      EXPECT_LT(found[0].from, 3);
      EXPECT_GT(found[0].to, 5);
      EXPECT_LT(found[0].to, 6.1);
      EXPECT_FALSE(found[0].too_short);
    }
  }
}

TEST(DetectorInNoise, FindsQuietSpeechInAQuietRoom) {
  auto sound = noise(6, -75);
  speak(sound, 2, 4, -50);
  const auto found = utterances(sound, providers::make_webrtc_vad(2)->make());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_LT(found[0].from, 2);
  EXPECT_GT(found[0].to, 4);
}

TEST(DetectorInNoise, FindsSpeechFromTheFirstSampleOn) {
  for (const double room : {-75.0, -40.0}) {
    auto sound = noise(5, room);
    speak(sound, 0, 3, -22);
    const auto found = utterances(sound, providers::make_webrtc_vad(2)->make());
    ASSERT_EQ(found.size(), 1U) << room;
    EXPECT_EQ(found[0].from, 0);
    EXPECT_GT(found[0].to, 3);
  }
}

TEST(DetectorInNoise, LongSpeechIsNotTakenForNoise) {
  auto sound = noise(18, -55);
  speak(sound, 1, 16, -25);
  const auto found = utterances(sound, providers::make_webrtc_vad(2)->make());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GT(found[0].to, 16);
}

TEST(DetectorInNoise, BurstsWithoutPitchAreNoVoice) {
  test::ScriptedVad::Record record;
  auto sound = noise(20, -45);
  for (double t = 3; t < 18; t += 2) {
    const auto burst = noise(0.8, -34, static_cast<unsigned>(t * 10));
    std::ranges::copy(burst, sound.begin() + static_cast<std::ptrdiff_t>(at(t)));
  }
  EXPECT_TRUE(utterances(sound, always_voice(record)).empty());
}

TEST(DetectorInNoise, AConstantOffsetIsNoNoise) {
  auto sound = noise(6, -65);
  speak(sound, 2, 4, -40);
  for (auto& sample : sound) sample = static_cast<std::int16_t>(sample + 6000);
  test::ScriptedVad::Record record;
  const auto found = utterances(sound, always_voice(record));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_LT(found[0].from, 2);
}

TEST(DetectorInNoise, KeepsTheNoiseLevelOverReset) {
  test::ScriptedVad::Record record;
  SpeechDetector detector({}, always_voice(record), SpeechDetector::Mode::endpointing, {});
  EXPECT_EQ(detector.noise_level_db(), -70);
  detector.push(noise(5, -40));
  EXPECT_NEAR(detector.noise_level_db(), -40, 3);
  detector.reset();
  EXPECT_NEAR(detector.noise_level_db(), -40, 3);
}

TEST(NoiseFloor, FallsFastAndRisesSlowly) {
  NoiseFloor floor;
  EXPECT_EQ(floor.level(), NoiseFloor::kLowest);
  EXPECT_FALSE(floor.known());
  for (int i = 0; i < 150; ++i) floor.update(-40);
  EXPECT_TRUE(floor.known());
  EXPECT_NEAR(floor.level(), -38, 1);
  for (int i = 0; i < 25; ++i) floor.update(-60);
  EXPECT_NEAR(floor.level(), -58, 1) << "half a second falls 20 dB";
  for (int i = 0; i < 25; ++i) floor.update(-30);
  EXPECT_NEAR(floor.level(), -58, 1) << "half a second does not rise";
  for (int i = 0; i < 400; ++i) floor.update(-30);
  EXPECT_NEAR(floor.level(), -28, 1) << "8 seconds do";
}

TEST(NoiseFloor, PausesHoldItDown) {
  NoiseFloor floor;
  for (int i = 0; i < 150; ++i) floor.update(-60);
  for (int i = 0; i < 1500; ++i) floor.update(i % 75 < 10 ? -60.0F : -20.0F);
  EXPECT_LT(floor.level(), -50);
}

TEST(NoiseFloor, DigitalSilenceSaysNothing) {
  NoiseFloor floor;
  for (int i = 0; i < 150; ++i) floor.update(-45);
  const auto before = floor.level();
  for (int i = 0; i < 500; ++i) floor.update(-110);
  EXPECT_EQ(floor.level(), before);
}

float strength_of(const Samples& sound) {
  Voicing voicing;
  for (std::size_t i = 0; i + kFrame <= sound.size(); i += kFrame) {
    voicing.add(audio::PcmView(sound).subspan(i, kFrame));
  }
  return voicing.strength();
}

TEST(Voicing, TellsVowelsFromNoise) {
  for (const double pitch : {85.0, 140.0, 250.0, 380.0}) {
    Samples sound(at(0.12));
    speak(sound, 0, 0.12, -20, pitch);
    EXPECT_GT(strength_of(sound), 0.85F) << pitch;
  }
  for (unsigned seed = 1; seed <= 200; ++seed) EXPECT_LT(strength_of(noise(0.1, -30, seed)), 0.82F) << seed;
  EXPECT_LT(strength_of(Samples(at(0.1))), 0.1F);
  EXPECT_LT(strength_of(noise(0.1, -90)), 0.5F);
}

TEST(Voicing, NeverExceedsOne) {
  for (const std::int16_t value : {std::int16_t{32767}, std::int16_t{-32768}}) {
    const auto strength = strength_of(Samples(at(0.1), value));
    EXPECT_GE(strength, 0.0F);
    EXPECT_LE(strength, 1.0F);
  }
}

}  // namespace
}  // namespace parley::turn
