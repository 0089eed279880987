#include "parley/audio/wav.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <limits>
#include <string>

namespace parley::audio {
namespace {

using Bytes = std::vector<std::uint8_t>;

void put(Bytes& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}
void put(Bytes& out, std::string_view text) {
  out.insert(out.end(), text.begin(), text.end());
}

struct Layout {
  std::uint32_t code = 1;
  std::uint32_t channels = 1;
  std::uint32_t rate = 16000;
  std::uint32_t bits = 16;
};

Bytes header(const Layout& layout) {
  Bytes out;
  put(out, "RIFF");
  put(out, 0, 4);  // Nobody may rely on it.
  put(out, "WAVEfmt ");
  put(out, 16, 4);
  put(out, layout.code, 2);
  put(out, layout.channels, 2);
  put(out, layout.rate, 4);
  put(out, layout.rate * layout.channels * layout.bits / 8, 4);
  put(out, layout.channels * layout.bits / 8, 2);
  put(out, layout.bits, 2);
  return out;
}

Bytes wav(const Layout& layout, const Bytes& data) {
  auto out = header(layout);
  put(out, "data");
  put(out, static_cast<std::uint32_t>(data.size()), 4);
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

TEST(Wav, RoundTrip) {
  const std::vector<std::int16_t> samples = {0, 1, -1, 32767, -32768, 256, -257};
  const auto parsed = parse_wav(format_wav(samples, 22050));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->rate, 22050);
  EXPECT_EQ(parsed->samples, samples);
}

TEST(Wav, ReadsEveryDepth) {
  Bytes floats;
  for (const float value : {0.5F, -1.0F, 3.0F, std::numeric_limits<float>::quiet_NaN()})
    put(floats, bits_of(value), 4);
  const struct {
    const char* what;
    Layout layout;
    Bytes data;
    std::vector<std::int16_t> samples;
  } cases[] = {
      {"8 bits", {.bits = 8}, {0x80, 0x00, 0xff}, {0, -32768, 32512}},
      {"16 bits", {}, {0x34, 0x12, 0x00, 0x80}, {0x1234, -32768}},
      {"24 bits", {.bits = 24}, {0x00, 0x34, 0x12, 0x00, 0x00, 0x80}, {0x1234, -32768}},
      {"32 bits", {.bits = 32}, {0x00, 0x00, 0x34, 0x12, 0x00, 0x00, 0x00, 0x80}, {0x1234, -32768}},
      {"float", {.code = 3, .bits = 32}, floats, {16384, -32768, 32767, 0}},
      {"stereo", {.channels = 2}, {0x00, 0x10, 0x00, 0x30, 0x00, 0x20, 0x00, 0x20}, {0x2000, 0x2000}},
      {"half a sample is left out", {}, {0x34, 0x12, 0x7f}, {0x1234}},
      {"nothing", {}, {}, {}},
  };
  for (const auto& good : cases) {
    const auto parsed = parse_wav(wav(good.layout, good.data));
    ASSERT_TRUE(parsed) << good.what;
    EXPECT_EQ(parsed->samples, good.samples) << good.what;
    EXPECT_EQ(parsed->rate, 16000);
  }
}

TEST(Wav, ReadsTheExtensibleFormat) {
  auto bytes = header({.code = 0xFFFE});
  bytes[16] = 40;  // the length of the format chunk
  put(bytes, 22, 2);
  put(bytes, 16, 2);
  put(bytes, 4, 4);
  put(bytes, 1, 2);  // the code, then the rest of the GUID
  bytes.resize(bytes.size() + 14);
  put(bytes, "data");
  put(bytes, 2, 4);
  put(bytes, 0x1234, 2);
  const auto parsed = parse_wav(bytes);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->samples, std::vector<std::int16_t>{0x1234});
}

TEST(Wav, SkipsUnknownChunksOfOddLength) {
  auto bytes = header({});
  put(bytes, "LIST");
  put(bytes, 3, 4);
  put(bytes, "abc");
  put(bytes, 0, 1);
  put(bytes, "data");
  put(bytes, 2, 4);
  put(bytes, 7, 2);
  const auto parsed = parse_wav(bytes);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->samples, std::vector<std::int16_t>{7});
}

TEST(Wav, GivesWhatThereIsOfATruncatedFile) {
  for (const std::uint32_t claimed : {5000U, 0xFFFFFFFFU, 0x7FFFFFFEU}) {
    auto bytes = header({});
    put(bytes, "data");
    put(bytes, claimed, 4);
    put(bytes, 9, 2);
    const auto parsed = parse_wav(bytes);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->samples, std::vector<std::int16_t>{9});
  }
}

TEST(Wav, RefusesWhatIsNoWav) {
  const Bytes data = {1, 2, 3, 4};
  Bytes no_format;
  put(no_format, "RIFF");
  put(no_format, 0, 4);
  put(no_format, "WAVEdata");
  put(no_format, 2, 4);
  put(no_format, 1, 2);
  auto huge_chunk = header({});
  put(huge_chunk, "LIST");
  put(huge_chunk, 0xFFFFFFFF, 4);
  Bytes short_format;
  put(short_format, "RIFF");
  put(short_format, 0, 4);
  put(short_format, "WAVEfmt ");
  put(short_format, 16, 4);
  put(short_format, 1, 2);
  const struct {
    const char* what;
    Bytes bytes;
    Errc code;
  } cases[] = {
      {"empty", {}, Errc::invalid_input},
      {"not RIFF", Bytes(100, 'x'), Errc::invalid_input},
      {"no data", header({}), Errc::invalid_input},
      {"data before format", no_format, Errc::invalid_input},
      {"a chunk beyond the end", huge_chunk, Errc::invalid_input},
      {"half a format", short_format, Errc::invalid_input},
      {"no channels", wav({.channels = 0}, data), Errc::invalid_input},
      {"no rate", wav({.rate = 0}, data), Errc::invalid_input},
      {"a rate of 4 GHz", wav({.rate = 0xFFFFFFFF}, data), Errc::invalid_input},
      {"12 bits", wav({.bits = 12}, data), Errc::unsupported},
      {"64-bit float", wav({.code = 3, .bits = 64}, data), Errc::unsupported},
      {"mu-law", wav({.code = 7, .bits = 8}, data), Errc::unsupported},
  };
  for (const auto& bad : cases) {
    const auto parsed = parse_wav(bad.bytes);
    ASSERT_FALSE(parsed) << bad.what;
    EXPECT_EQ(parsed.error().code, bad.code) << bad.what;
  }
}

TEST(Wav, SurvivesEveryTruncation) {
  const auto whole = wav({.channels = 2, .bits = 24}, Bytes(60, 3));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto parsed = parse_wav(std::span(whole).first(size));
    EXPECT_EQ(parsed.has_value(), size >= 44) << size;
  }
}

TEST(WavFile, RoundTrip) {
  const auto file = std::filesystem::path(testing::TempDir()) / "parley_wav_test.wav";
  const std::vector<std::int16_t> samples = {5, -5, 1000};
  ASSERT_TRUE(write_wav(file, samples, 24000));
  const auto read = read_wav(file);
  std::filesystem::remove(file);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->rate, 24000);
  EXPECT_EQ(read->samples, samples);
}

TEST(WavFile, SaysWhatIsWrongWithWhichFile) {
  const auto missing = read_wav("/no/such/file.wav");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::unavailable);
  EXPECT_NE(missing.error().message.find("/no/such/file.wav: No such file"), std::string::npos)
      << missing.error().message;
  EXPECT_FALSE(read_wav(testing::TempDir()));
  const auto unwritable = write_wav("/no/such/file.wav", {}, 16000);
  ASSERT_FALSE(unwritable);
  EXPECT_EQ(unwritable.error().code, Errc::unavailable);
}

}  // namespace
}  // namespace parley::audio
