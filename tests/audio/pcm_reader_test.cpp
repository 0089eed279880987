#include "parley/audio/pcm_reader.hpp"

#include <gtest/gtest.h>

#include "parley/audio/wav.hpp"

namespace parley::audio {
namespace {

using Samples = std::vector<std::int16_t>;

struct Read {
  Samples samples;
  int rate = 0;
  std::optional<Error> error;
};

Read read(const std::vector<std::string_view>& pieces) {
  PcmReader reader(24000);
  Read all;
  for (const auto piece : pieces) {
    const auto pcm = reader.push(piece);
    if (!pcm) {
      all.error = pcm.error();
      return all;
    }
    if (!pcm->samples.empty()) all.rate = pcm->rate;
    all.samples.insert(all.samples.end(), pcm->samples.begin(), pcm->samples.end());
  }
  return all;
}

std::string wav(const Samples& samples, int rate) {
  const auto bytes = format_wav(samples, rate);
  return {bytes.begin(), bytes.end()};
}

std::string stereo() {
  auto bytes = wav({100, 200, -100, -300}, 8000);
  bytes[22] = 2;
  return bytes;
}

std::string with_list() {
  auto bytes = wav({1, 2}, 16000);
  return bytes.insert(36, std::string("LIST\x05\0\0\0title\0", 14));
}

TEST(PcmReader, ReadsTheSameWhereverItIsCut) {
  struct Case {
    std::string bytes;
    Samples samples;
    int rate;
  };
  const std::vector<Case> cases{
      {std::string("\x01\x00\xFF\xFF\x00\x80", 6), {1, -1, -32768}, 24000},
      {"RIFx", {0x4952, 0x7846}, 24000},
      {"RIFF1234WAVx", {0x4952, 0x4646, 0x3231, 0x3433, 0x4157, 0x7856}, 24000},
      {wav({1, 2, 3}, 16000), {1, 2, 3}, 16000},
      {stereo(), {150, -200}, 8000},
      {with_list(), {1, 2}, 16000},
  };
  for (const auto& [bytes, samples, rate] : cases) {
    const std::string_view whole(bytes);
    for (std::size_t at = 0; at <= bytes.size(); ++at) {
      const auto got = read({whole.substr(0, at), whole.substr(at)});
      EXPECT_FALSE(got.error);
      EXPECT_EQ(got.samples, samples) << "cut at " << at;
      EXPECT_EQ(got.rate, rate);
    }
  }
}

TEST(PcmReader, DoesNotBelieveTheLengthInAStreamedHeader) {
  for (const char byte : {'\0', '\xFF'}) {
    auto bytes = wav({1, 2, 3}, 16000);
    for (const std::size_t at : {4U, 40U}) bytes.replace(at, 4, std::string(4, byte));
    EXPECT_EQ(read({bytes}).samples, (Samples{1, 2, 3}));
  }
}

TEST(PcmReader, RefusesOtherAudio) {
  for (const auto* bytes : {"ID3 x", "OggS x", "fLaC x"})
    EXPECT_EQ(read({bytes}).error->code, Errc::unsupported) << bytes;
  auto bits = wav({1}, 16000);
  bits[34] = 8;
  EXPECT_EQ(read({bits}).error->code, Errc::unsupported);
  auto rate = wav({1}, 16000);
  rate.replace(24, 4, std::string(4, '\xFF'));
  EXPECT_EQ(read({rate}).error->code, Errc::unsupported);
  auto no_format = wav({1}, 16000);
  no_format.erase(12, 24);
  EXPECT_EQ(read({no_format}).error->code, Errc::invalid_input);
  auto huge = wav({1}, 16000);
  huge.replace(16, 4, std::string(4, '\x7F'));
  EXPECT_EQ(read({huge}).error->code, Errc::invalid_input);
}

TEST(PcmReader, KeepsNothingOfAHeaderThatNeverEnds) {
  const auto bytes = wav({1}, 16000).substr(0, 30);
  EXPECT_TRUE(read({bytes}).samples.empty());
}

}  // namespace
}  // namespace parley::audio
