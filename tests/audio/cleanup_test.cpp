#include "parley/audio/cleanup.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <string>

namespace parley::audio {
namespace {

std::vector<std::int16_t> tone(double hertz, std::size_t samples, double amplitude) {
  std::vector<std::int16_t> out(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    out[i] = static_cast<std::int16_t>(
        amplitude * std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / kListeningRate));
  }
  return out;
}

double level(PcmView samples) {
  double sum = 0;
  for (const auto sample : samples) sum += static_cast<double>(sample) * sample;
  return std::sqrt(sum / static_cast<double>(samples.size()));
}

double gain_db(double hertz) {
  HighPass filter;
  auto sound = tone(hertz, 32000, 10000);
  const double before = level(sound);
  filter.process(sound);
  return 20 * std::log10(level(PcmView(sound).last(16000)) / before);
}

TEST(HighPass, FollowsButterworth) {
  EXPECT_LT(gain_db(20), -22);
  EXPECT_NEAR(gain_db(80), -3, 0.3);
  EXPECT_NEAR(gain_db(160), -0.26, 0.2);
  EXPECT_NEAR(gain_db(1000), 0, 0.1);
  EXPECT_NEAR(gain_db(7000), 0, 0.1);
}

TEST(HighPass, RemovesAConstantOffset) {
  HighPass filter;
  std::vector<std::int16_t> sound(16000, 12000);
  filter.process(sound);
  EXPECT_EQ(sound.back(), 0);
}

TEST(HighPass, DoesNotDependOnTheSizeOfThePieces) {
  auto whole = tone(333, 4000, 20000);
  auto pieces = whole;
  HighPass one;
  one.process(whole);
  HighPass many;
  for (std::size_t at = 0; at < pieces.size(); at += 77) {
    many.process(std::span(pieces).subspan(at, std::min<std::size_t>(77, pieces.size() - at)));
  }
  EXPECT_EQ(whole, pieces);
}

TEST(HighPass, ClipsInsteadOfWrapping) {
  HighPass filter;
  std::vector<std::int16_t> sound(100, -32768);
  sound.resize(200, 32767);  // The step is twice as high as the range.
  filter.process(sound);
  EXPECT_EQ(sound[100], 32767);
}

TEST(HighPass, ResetForgets) {
  HighPass used;
  auto loud = tone(100, 1000, 30000);
  used.process(loud);
  used.reset();
  auto a = tone(500, 1000, 1000);
  auto b = a;
  used.process(a);
  HighPass().process(b);
  EXPECT_EQ(a, b);
}

class NoiseSuppressorLevels : public testing::TestWithParam<const char*> {};

TEST_P(NoiseSuppressorLevels, LowersSteadyNoise) {
  auto suppressor = make_noise_suppressor(GetParam()).value();
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, 500);
  std::vector<std::int16_t> noise(16000 * 5);
  for (auto& sample : noise) sample = static_cast<std::int16_t>(normal(random));
  auto cleaned = noise;
  for (std::size_t at = 0; at < cleaned.size(); at += 320) {
    suppressor->process(std::span(cleaned).subspan(at, 320));
  }
  EXPECT_LT(level(PcmView(cleaned).last(16000)), level(PcmView(noise).last(16000)) * 0.7);
  EXPECT_GT(level(cleaned), 0);
}

INSTANTIATE_TEST_SUITE_P(Levels, NoiseSuppressorLevels,
                         testing::Values("low", "moderate", "high", "very_high"));

TEST(NoiseSuppressor, LeavesWhatIsNoWholeBlock) {
  auto suppressor = make_noise_suppressor("low").value();
  std::vector<std::int16_t> sound(170, 1234);
  suppressor->process(sound);
  EXPECT_EQ(sound.back(), 1234);
  suppressor->process({});
}

TEST(NoiseSuppressor, RefusesUnknownLevels) {
  for (const char* level_name : {"", "High", "extreme"}) {
    const auto made = make_noise_suppressor(level_name);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Errc::configuration);
    EXPECT_NE(made.error().message.find(std::string("'") + level_name + "'"), std::string::npos);
  }
}

}  // namespace
}  // namespace parley::audio
