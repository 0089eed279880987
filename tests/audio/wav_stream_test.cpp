#include "parley/audio/wav_stream.hpp"

#include <gtest/gtest.h>

#include <string>

#include "parley/audio/wav.hpp"

namespace parley::audio {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes sample_wav() {
  std::vector<std::int16_t> samples;
  for (int i = -40; i < 40; ++i) samples.push_back(static_cast<std::int16_t>(i * 700));
  return format_wav(samples, 22050);
}

/// In two pieces, cut at `cut`.
Result<std::vector<std::int16_t>> read(const Bytes& bytes, std::size_t cut, int& rate) {
  WavStream stream;
  std::vector<std::int16_t> samples;
  const auto whole = std::span(bytes);
  for (const auto piece : {whole.first(cut), whole.subspan(cut)}) {
    if (auto fed = stream.feed(piece, samples); !fed) return fed.error();
  }
  rate = stream.rate();
  return samples;
}

void set_u32(Bytes& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

TEST(WavStream, IsTheSameWhereverItIsCut) {
  const auto wav = sample_wav();
  const auto expected = parse_wav(wav)->samples;
  for (std::size_t cut = 0; cut <= wav.size(); ++cut) {
    int rate = 0;
    const auto samples = read(wav, cut, rate);
    ASSERT_TRUE(samples) << cut;
    EXPECT_EQ(*samples, expected) << cut;
    EXPECT_EQ(rate, 22050);
  }
  WavStream stream;
  std::vector<std::int16_t> samples;
  for (const auto byte : wav) ASSERT_TRUE(stream.feed(std::span(&byte, 1), samples));
  EXPECT_EQ(samples, expected) << "byte by byte";
}

TEST(WavStream, DoesNotBelieveALengthThatTheWriterCouldNotKnow) {
  for (const std::uint32_t claimed : {0U, 0x7FFFFFFFU, 0xFFFFFFFFU, 0x7FFFF000U + 0xFFFU}) {
    auto wav = sample_wav();
    set_u32(wav, 40, claimed);
    int rate = 0;
    EXPECT_EQ(read(wav, 50, rate)->size(), 80U) << claimed;
  }
  auto wav = sample_wav();
  set_u32(wav, 40, 20);
  int rate = 0;
  EXPECT_EQ(read(wav, 50, rate)->size(), 10U) << "what follows the data is no audio";
}

TEST(WavStream, SkipsOtherChunksAndMixesChannels) {
  auto wav = sample_wav();
  wav[22] = 2;
  const Bytes extra = {'L', 'I', 'S', 'T', 3, 0, 0, 0, 'a', 'b', 'c', 0};
  wav.insert(wav.begin() + 36, extra.begin(), extra.end());
  for (std::size_t cut = 0; cut <= wav.size(); ++cut) {
    int rate = 0;
    const auto samples = read(wav, cut, rate);
    ASSERT_TRUE(samples);
    ASSERT_EQ(samples->size(), 40U);
    EXPECT_EQ((*samples)[0], (-40 * 700 - 39 * 700) / 2);
  }
}

TEST(WavStream, RefusesWhatItCannotRead) {
  const auto broken = [](std::size_t at, std::uint8_t value) {
    auto wav = sample_wav();
    wav[at] = value;
    int rate = 0;
    const auto samples = read(wav, 7, rate);
    return samples ? "" : std::string(to_string(samples.error().code));
  };
  EXPECT_EQ(broken(0, 'X'), to_string(Errc::invalid_input));
  EXPECT_EQ(broken(11, 'X'), to_string(Errc::invalid_input));
  EXPECT_EQ(broken(20, 3), to_string(Errc::unsupported)) << "float";
  EXPECT_EQ(broken(34, 8), to_string(Errc::unsupported)) << "8 bits";
  EXPECT_EQ(broken(22, 0), to_string(Errc::invalid_input)) << "no channels";
  EXPECT_EQ(broken(22, 200), to_string(Errc::invalid_input)) << "many channels";
  EXPECT_EQ(broken(27, 0x7f), to_string(Errc::invalid_input)) << "an impossible rate";
  EXPECT_EQ(broken(16, 4), to_string(Errc::invalid_input)) << "a short format";
  EXPECT_EQ(broken(18, 0x7f), to_string(Errc::limit)) << "a huge format";
  EXPECT_EQ(broken(12, 'x'), to_string(Errc::invalid_input)) << "no format";
}

TEST(WavStream, BoundsItsHeader) {
  Bytes bytes = {'R', 'I', 'F', 'F', 0, 0, 0, 0, 'W', 'A', 'V', 'E'};
  const Bytes chunk = {'j', 'u', 'n', 'k', 0, 0, 0, 0};
  WavStream stream;
  std::vector<std::int16_t> samples;
  ASSERT_TRUE(stream.feed(bytes, samples));
  Result<> fed;
  for (int i = 0; i < 10000 && fed; ++i) fed = stream.feed(chunk, samples);
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().code, Errc::limit);
}

}  // namespace
}  // namespace parley::audio
