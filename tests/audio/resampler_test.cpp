#include "parley/audio/resampler.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace parley::audio {
namespace {

std::vector<std::int16_t> tone(double hertz, std::size_t samples, int rate) {
  std::vector<std::int16_t> out(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    out[i] = static_cast<std::int16_t>(
        10000 * std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / rate));
  }
  return out;
}

struct Rates {
  int from;
  int to;
};

class ResamplerRates : public testing::TestWithParam<Rates> {};

TEST_P(ResamplerRates, KeepsDurationAndTheToneInPlace) {
  const auto [from, to] = GetParam();
  auto resampler = Resampler::make(from, to).value();
  const auto input = tone(440, static_cast<std::size_t>(from) / 2, from);
  std::vector<std::int16_t> output;
  // Uneven pieces: a stream does not come in blocks.
  std::size_t at = 0;
  for (std::size_t size = 1; at < input.size(); size = size * 2 + 1) {
    const auto piece = PcmView(input).subspan(at, std::min(size, input.size() - at));
    resampler.process(piece, output);
    at += piece.size();
  }
  resampler.flush(output);
  const auto expected = tone(440, static_cast<std::size_t>(to) / 2, to);
  ASSERT_NEAR(static_cast<double>(output.size()), static_cast<double>(expected.size()), 4);
  for (std::size_t i = expected.size() / 4; i < expected.size() * 3 / 4; ++i) {
    ASSERT_NEAR(output[i], expected[i], 400) << "at " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Rates, ResamplerRates,
                         testing::Values(Rates{16000, 24000}, Rates{22050, 24000}, Rates{24000, 16000},
                                         Rates{48000, 16000}, Rates{8000, 48000}, Rates{16000, 16000}));

TEST(Resampler, RemovesWhatTheLowerRateCannotHold) {
  auto resampler = Resampler::make(48000, 16000).value();
  std::vector<std::int16_t> output;
  resampler.process(tone(14000, 48000, 48000), output);
  double sum = 0;
  for (const auto sample : output) sum += static_cast<double>(sample) * sample;
  EXPECT_LT(std::sqrt(sum / static_cast<double>(output.size())), 300);
}

TEST(Resampler, AppendsAndStartsAnewAfterFlush) {
  auto resampler = Resampler::make(16000, 24000).value();
  const auto input = tone(300, 1600, 16000);
  std::vector<std::int16_t> first;
  resampler.process(input, first);
  resampler.flush(first);
  std::vector<std::int16_t> both = {1, 2, 3};
  resampler.process(input, both);
  resampler.flush(both);
  ASSERT_EQ(both.size(), first.size() + 3);
  EXPECT_EQ(both[2], 3);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), both.begin() + 3));
}

TEST(Resampler, NothingGivesNothing) {
  auto resampler = Resampler::make(16000, 24000).value();
  std::vector<std::int16_t> output;
  resampler.process({}, output);
  EXPECT_TRUE(output.empty());
}

TEST(Resampler, RefusesImpossibleRates) {
  for (const auto& [from, to] : {Rates{0, 16000}, Rates{16000, 0}, Rates{-1, 16000}, Rates{16000, 1000000}}) {
    const auto made = Resampler::make(from, to);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Errc::unsupported);
  }
}

}  // namespace
}  // namespace parley::audio
