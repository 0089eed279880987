#include "parley/audio/opus_codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <random>

namespace parley::audio {
namespace {

using namespace std::chrono_literals;

std::vector<std::int16_t> tone(double hertz, std::size_t samples, int rate, double amplitude = 8000) {
  std::vector<std::int16_t> out(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    out[i] = static_cast<std::int16_t>(
        amplitude * std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / rate));
  }
  return out;
}

double level(PcmView samples) {
  double sum = 0;
  for (const auto sample : samples) sum += static_cast<double>(sample) * sample;
  return std::sqrt(sum / static_cast<double>(samples.size()));
}

/// How much of `samples` is at `hertz`: the amplitude of that sine.
double amplitude_at(double hertz, PcmView samples, int rate) {
  double re = 0;
  double im = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double phase = 2 * std::numbers::pi * hertz * static_cast<double>(i) / rate;
    re += samples[i] * std::cos(phase);
    im += samples[i] * std::sin(phase);
  }
  return 2 * std::hypot(re, im) / static_cast<double>(samples.size());
}

OpusEncoder encoder(int rate) {
  return OpusEncoder::make({.rate = rate}).value();
}

struct Route {
  int from;
  int to;
  Millis frame;
};

class OpusRoundTrip : public testing::TestWithParam<Route> {};

TEST_P(OpusRoundTrip, KeepsTheToneAtTheRateAskedFor) {
  const auto [from, to, frame] = GetParam();
  auto encode = encoder(from);
  auto decode = OpusDecoder::make(to).value();
  const auto sound = tone(440, samples_in(frame, from) * 20, from);
  std::vector<std::int16_t> heard;
  for (std::size_t i = 0; i < 20; ++i) {
    const auto packet =
        encode.encode(PcmView(sound).subspan(i * samples_in(frame, from), samples_in(frame, from)));
    ASSERT_TRUE(packet);
    const auto pcm = decode.decode(*packet, frame);
    ASSERT_TRUE(pcm);
    ASSERT_EQ(pcm->size(), samples_in(frame, to));
    heard.insert(heard.end(), pcm->begin(), pcm->end());
  }
  EXPECT_NEAR(amplitude_at(440, PcmView(heard).last(heard.size() / 2), to), 8000, 1200);
}

INSTANTIATE_TEST_SUITE_P(Rates, OpusRoundTrip,
                         testing::Values(Route{16000, 16000, 60ms}, Route{16000, 24000, 60ms},
                                         Route{24000, 16000, 60ms}, Route{48000, 16000, 20ms},
                                         Route{24000, 24000, 120ms}, Route{16000, 8000, 40ms}));

TEST(OpusDecoder, RefusesRatesThatOpusDoesNotHave) {
  for (const int rate : {0, -16000, 11025, 22050, 44100, 96000}) {
    const auto made = OpusDecoder::make(rate);
    ASSERT_FALSE(made) << rate;
    EXPECT_EQ(made.error().code, Errc::unsupported);
  }
}

TEST(OpusDecoder, FillsDtxWithTheNominalDuration) {
  auto decode = OpusDecoder::make(16000).value();
  const std::uint8_t dtx[] = {0x0b, 0x00};
  for (const std::size_t size : {1U, 2U}) {
    for (const auto nominal : {20ms, 40ms, 60ms, 120ms}) {
      const auto pcm = decode.decode(std::span(dtx).first(size), nominal);
      ASSERT_TRUE(pcm);
      EXPECT_EQ(pcm->size(), samples_in(nominal, 16000));
      EXPECT_LT(level(*pcm), 1);
    }
  }
}

TEST(OpusDecoder, IsSilentInTheDtxThatFollowsSilence) {
  auto encode = OpusEncoder::make({.rate = 16000, .bitrate = 16000, .voip = true, .dtx = true}).value();
  auto decode = OpusDecoder::make(16000).value();
  const auto sound = tone(300, 960, 16000);
  const std::vector<std::int16_t> silence(960);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(decode.decode(*encode.encode(sound), 60ms));
  int dtx = 0;
  for (int i = 0; i < 30; ++i) {
    const auto packet = *encode.encode(silence);
    const auto pcm = decode.decode(packet, 60ms);
    ASSERT_TRUE(pcm);
    EXPECT_EQ(pcm->size(), 960U);
    if (packet.size() > 2) continue;
    ++dtx;
    EXPECT_LT(level(*pcm), 100);
  }
  EXPECT_GT(dtx, 10);
}

TEST(OpusDecoder, RoundsOddDurationsOfDtxUp) {
  auto decode = OpusDecoder::make(16000).value();
  const std::uint8_t dtx[] = {0x0b};
  EXPECT_EQ(decode.decode(dtx, 61ms)->size(), 1000U);  // 62.5 ms
}

TEST(OpusDecoder, RefusesWhatIsNoPacket) {
  auto decode = OpusDecoder::make(16000).value();
  const std::uint8_t dtx[] = {0x0b};
  const std::vector<std::uint8_t> huge(9000, 0x0b);
  // Code 3 of RFC 6716, section 3.2.5: no frames, and 48 frames of 20 ms (more than 120 ms).
  const std::uint8_t none[] = {0x0b, 0x00, 0x00, 0x00};
  const std::uint8_t many[] = {0x0b, 0x30, 0x00, 0x00};
  const struct {
    std::span<const std::uint8_t> packet;
    Millis nominal;
  } cases[] = {{{}, 60ms}, {dtx, 0ms}, {dtx, -20ms}, {dtx, 121ms}, {huge, 60ms}, {none, 60ms}, {many, 60ms}};
  for (const auto& bad : cases) {
    const auto pcm = decode.decode(bad.packet, bad.nominal);
    ASSERT_FALSE(pcm) << bad.packet.size() << " bytes, " << bad.nominal.count() << " ms";
    EXPECT_EQ(pcm.error().code, Errc::invalid_input);
  }
}

TEST(OpusDecoder, SurvivesJunk) {
  auto decode = OpusDecoder::make(16000).value();
  std::mt19937 random(1);
  std::uniform_int_distribution<int> byte(0, 255);
  std::uniform_int_distribution<std::size_t> length(1, 400);
  int decoded = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::uint8_t> packet(length(random));
    for (auto& value : packet) value = static_cast<std::uint8_t>(byte(random));
    const auto pcm = decode.decode(packet, 60ms);
    if (!pcm) continue;
    ++decoded;
    EXPECT_LE(pcm->size(), samples_in(120ms, 16000));
  }
  EXPECT_GT(decoded, 0);
  // And plays on: what it hears next is not disturbed.
  auto encode = encoder(16000);
  const auto sound = tone(500, 960, 16000);
  double last = 0;
  for (int i = 0; i < 20; ++i) last = amplitude_at(500, *decode.decode(*encode.encode(sound), 60ms), 16000);
  EXPECT_NEAR(last, 8000, 1500);
}

TEST(OpusEncoder, RefusesSettingsThatOpusDoesNotHave) {
  const OpusEncoderSettings bad[] = {
      {.rate = 22050}, {.bitrate = 0}, {.bitrate = -7}, {.complexity = 11}, {.complexity = -1}};
  for (const auto& settings : bad) {
    const auto made = OpusEncoder::make(settings);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Errc::unsupported);
  }
}

TEST(OpusEncoder, RefusesFramesThatOpusDoesNotHave) {
  auto encode = encoder(24000);
  for (const std::size_t samples : {0U, 1U, 59U, 1000U, 2881U, 6000U}) {
    const std::vector<std::int16_t> frame(samples);
    const auto packet = encode.encode(frame);
    ASSERT_FALSE(packet) << samples;
    EXPECT_EQ(packet.error().code, Errc::invalid_input);
  }
  EXPECT_TRUE(encode.encode(std::vector<std::int16_t>(60)));  // 2.5 ms
}

TEST(OpusEncoder, KeepsNearTheBitrate) {
  auto encode = OpusEncoder::make({.rate = 16000, .bitrate = 16000, .voip = true}).value();
  std::size_t bytes = 0;
  const auto sound = tone(200, 960 * 50, 16000);
  for (std::size_t i = 0; i < 50; ++i) bytes += encode.encode(PcmView(sound).subspan(i * 960, 960))->size();
  EXPECT_LT(bytes, 2U * 50 * 120);  // 16 kbit/s are 120 bytes a frame
}

TEST(OpusEncoder, SendsHardlyAnythingInSilenceWithDtx) {
  auto encode = OpusEncoder::make({.rate = 16000, .bitrate = 16000, .voip = true, .dtx = true}).value();
  const std::vector<std::int16_t> silence(960);
  std::size_t last = 100;
  std::size_t tiny = 0;
  for (int i = 0; i < 50; ++i) {
    last = encode.encode(silence)->size();
    if (last <= 2) ++tiny;
  }
  EXPECT_GT(tiny, 20U);
}

TEST(OpusEncoder, ResetForgetsWhatWasEncoded) {
  auto used = encoder(24000);
  auto fresh = encoder(24000);
  const auto loud = tone(300, 1440, 24000, 30000);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(used.encode(loud));
  used.reset();
  const auto quiet = tone(500, 1440, 24000, 1000);
  for (int i = 0; i < 3; ++i) {
    const auto a = used.encode(quiet);
    const auto b = fresh.encode(quiet);
    EXPECT_TRUE(std::ranges::equal(*a, *b));
  }
}

}  // namespace
}  // namespace parley::audio
