#include "parley/device/utterance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace parley::device {
namespace {

std::vector<std::int16_t> tone(int ms, double level, int rate = 16000) {
  std::vector<std::int16_t> samples(audio::samples_in(Millis(ms), rate));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<std::int16_t>(
        level * std::sin(2 * std::numbers::pi * 400 * static_cast<double>(i) / rate));
  }
  return samples;
}

std::vector<std::int16_t> join(std::initializer_list<std::vector<std::int16_t>> parts) {
  std::vector<std::int16_t> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(EndOfVoice, IsTheLastLoudBlock) {
  struct Case {
    const char* name;
    std::vector<std::int16_t> samples;
    std::optional<std::size_t> end_ms;
  };
  const Case cases[] = {
      {"voice between silences", join({tone(200, 0), tone(500, 8000), tone(300, 0)}), 700},
      {"a quiet tail belongs to it", join({tone(200, 0), tone(500, 8000), tone(100, 400), tone(300, 0)}),
       800},
      {"background does not", join({tone(200, 30), tone(500, 8000), tone(300, 30)}), 700},
      {"voice without pause", tone(400, 8000), 400},
      {"a pause inside", join({tone(300, 8000), tone(400, 0), tone(100, 8000), tone(50, 0)}), 800},
      {"silence", tone(500, 0), std::nullopt},
      {"nothing over -60 dBFS", tone(500, 20), std::nullopt},
      {"empty", {}, std::nullopt},
  };
  for (const auto& each : cases) {
    const auto end = end_of_voice(each.samples, 16000);
    ASSERT_EQ(end.has_value(), each.end_ms.has_value()) << each.name;
    if (end) {
      EXPECT_EQ(*end, *each.end_ms * 16) << each.name;
    }
  }
}

TEST(Utterance, IsConvertedTo16Khz) {
  const auto made = make_utterance("x", {48000, tone(600, 8000, 48000)});
  ASSERT_TRUE(made);
  EXPECT_NEAR(static_cast<double>(made->samples.size()), 9600, 100);
  EXPECT_NEAR(to_ms(made->voice_end), 600, 15);
}

TEST(Utterance, WithoutVoiceIsAnError) {
  const auto made = make_utterance("quiet.wav", {16000, tone(600, 0)});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "there is no voice in \"quiet.wav\"");
}

TEST(Noise, IsMixedAtTheRatioOfTheLoudestBlocks) {
  const auto speech = join({tone(300, 1000), tone(300, 8000)});
  for (const double snr : {0.0, 6.0, 20.0}) {
    NoiseBed bed(tone(700, 3000), snr);
    bed.fit(speech);
    auto silence = tone(600, 0);
    bed.mix(silence);
    EXPECT_NEAR(20 * std::log10(loudest_rms(speech) / loudest_rms(silence)), snr, 0.1) << snr;
  }
}

TEST(Noise, RepeatsAndClips) {
  NoiseBed bed({10000, -10000, 30000}, 0);
  const std::vector<std::int16_t> speech(4096, 32000);
  bed.fit(speech);
  std::vector<std::int16_t> samples(9, 32000);
  bed.mix(samples);
  EXPECT_EQ(samples[0], samples[3]);
  EXPECT_EQ(samples[1], samples[7]);
  EXPECT_EQ(samples[2], 32767);
}

TEST(Noise, DefaultIsFaintButNotDigitalSilence) {
  NoiseBed bed;
  auto silence = tone(200, 0);
  bed.mix(silence);
  const auto level = loudest_rms(silence);
  EXPECT_GT(level, 1);
  EXPECT_LT(level, 10);
  EXPECT_EQ(end_of_voice(silence, 16000), std::nullopt);
}

TEST(Microphone, PadsTheLastFrameAndThenHearsNothing) {
  Microphone microphone(960, NoiseBed({0, 0}, 0));
  Utterance utterance{"x", std::vector<std::int16_t>(1000, 77), {}};
  EXPECT_FALSE(microphone.talking());
  microphone.say(utterance);
  EXPECT_EQ(microphone.next_frame()[959], 77);
  EXPECT_TRUE(microphone.talking());
  EXPECT_EQ(microphone.remaining(), 40U);
  const auto last = microphone.next_frame();
  EXPECT_EQ(last[39], 77);
  EXPECT_EQ(last[40], 0);
  EXPECT_FALSE(microphone.talking());
  EXPECT_EQ(microphone.next_frame()[0], 0);
}

TEST(Microphone, HushEndsTheUtterance) {
  Microphone microphone(320, NoiseBed({0}, 0));
  microphone.say({"x", std::vector<std::int16_t>(1000, 77), {}});
  microphone.hush();
  EXPECT_FALSE(microphone.talking());
  EXPECT_EQ(microphone.next_frame()[0], 0);
}

}  // namespace
}  // namespace parley::device
