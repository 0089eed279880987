#include "parley/audio/wav.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace parley::audio {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kMaxBytes = std::size_t{256} * 1024 * 1024;
constexpr std::size_t kHeaderBytes = 44;
constexpr std::size_t kFormatBytes = 16;
constexpr std::size_t kExtensibleBytes = 26;  // up to the code in the GUID
constexpr std::uint16_t kPcmFormat = 1;
constexpr std::uint16_t kFloatFormat = 3;
constexpr std::uint16_t kExtensibleFormat = 0xFFFE;
constexpr std::uint32_t kHighestRate = 384000;

std::uint16_t u16(Bytes bytes, std::size_t at) {
  return static_cast<std::uint16_t>(bytes[at] | (bytes[at + 1] << 8));
}
std::uint32_t u32(Bytes bytes, std::size_t at) {
  return static_cast<std::uint32_t>(u16(bytes, at)) | (static_cast<std::uint32_t>(u16(bytes, at + 2)) << 16U);
}
bool is(Bytes bytes, std::size_t at, std::string_view id) {
  return std::equal(id.begin(), id.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char c, std::uint8_t byte) { return static_cast<std::uint8_t>(c) == byte; });
}

struct Format {
  std::uint16_t code = 0;
  std::size_t channels = 0;
  std::uint32_t rate = 0;
  std::size_t bytes = 0;  // of one sample of one channel
};

Result<Format> parse_format(Bytes chunk) {
  if (chunk.size() < kFormatBytes) return Error(Errc::invalid_input, "the WAV format chunk is too short");
  Format format{u16(chunk, 0), u16(chunk, 2), u32(chunk, 4), 0};
  const auto bits = u16(chunk, 14);
  if (format.code == kExtensibleFormat && chunk.size() >= kExtensibleBytes) format.code = u16(chunk, 24);
  const bool integer = format.code == kPcmFormat && (bits == 8 || bits == 16 || bits == 24 || bits == 32);
  const bool floating = format.code == kFloatFormat && bits == 32;
  if (!integer && !floating) {
    return Error(Errc::unsupported, "this WAV is not PCM of 8, 16, 24 or 32 bits or 32-bit float (format " +
                                        std::to_string(format.code) + ", " + std::to_string(bits) + " bits)");
  }
  if (format.channels == 0) return Error(Errc::invalid_input, "this WAV has no channels");
  if (format.rate == 0 || format.rate > kHighestRate) {
    return Error(Errc::invalid_input,
                 "this WAV has an impossible sample rate, " + std::to_string(format.rate));
  }
  format.bytes = bits / 8U;
  return format;
}

// One sample on the scale of 16 bits.
float sample_at(Bytes data, std::size_t at, const Format& format) {
  switch (format.bytes) {
    case 1:
      return static_cast<float>(static_cast<int>(data[at]) - 128) * 256.0F;
    case 2:
      return static_cast<float>(static_cast<std::int16_t>(u16(data, at)));
    case 3:
      return static_cast<float>(static_cast<std::int16_t>(u16(data, at + 1))) +
             static_cast<float>(data[at]) / 256.0F;
    default:
      break;
  }
  const auto word = u32(data, at);
  if (format.code == kPcmFormat) return static_cast<float>(static_cast<std::int32_t>(word)) / 65536.0F;
  const auto value = std::bit_cast<float>(word);
  return std::isfinite(value) ? std::clamp(value, -1.0F, 1.0F) * 32768.0F : 0.0F;
}

std::vector<std::int16_t> mix(Bytes data, const Format& format) {
  const std::size_t stride = format.bytes * format.channels;
  std::vector<std::int16_t> samples(data.size() / stride);
  std::size_t at = 0;
  for (auto& out : samples) {
    float sum = 0;
    for (std::size_t channel = 0; channel < format.channels; ++channel, at += format.bytes) {
      sum += sample_at(data, at, format);
    }
    const float mean = sum / static_cast<float>(format.channels);
    out = static_cast<std::int16_t>(std::clamp(std::lround(mean), -32768L, 32767L));
  }
  return samples;
}

Error too_large() {
  return {Errc::limit, "a WAV of more than 256 MiB"};
}
Error file_error(const std::filesystem::path& file, const char* verb, const std::error_code& why) {
  return {Errc::unavailable, std::string("cannot ") + verb + " " + file.string() + ": " + why.message()};
}
std::error_code last_error() {
  return errno != 0 ? std::error_code(errno, std::generic_category())
                    : std::make_error_code(std::errc::io_error);
}

}  // namespace

Result<Pcm> parse_wav(std::span<const std::uint8_t> bytes) {
  if (bytes.size() > kMaxBytes) return too_large();
  if (bytes.size() < 12 || !is(bytes, 0, "RIFF") || !is(bytes, 8, "WAVE")) {
    return Error(Errc::invalid_input, "not a RIFF WAVE file");
  }
  std::optional<Format> format;
  for (std::size_t at = 12; at + 8 <= bytes.size();) {
    const std::size_t claimed = u32(bytes, at + 4);
    const auto chunk = bytes.subspan(at + 8, std::min(claimed, bytes.size() - at - 8));
    if (is(bytes, at, "fmt ")) {
      auto parsed = parse_format(chunk);
      if (!parsed) return parsed.error();
      format = *parsed;
    } else if (is(bytes, at, "data")) {
      if (!format) return Error(Errc::invalid_input, "this WAV has its data before its format");
      return Pcm{static_cast<int>(format->rate), mix(chunk, *format)};
    }
    at += 8 + claimed + claimed % 2;
  }
  return Error(Errc::invalid_input, "this WAV has no data");
}

Result<Pcm> read_wav(const std::filesystem::path& file) {
  std::error_code why;
  const auto size = std::filesystem::file_size(file, why);
  if (why) return file_error(file, "read", why);
  if (size > kMaxBytes) return too_large();
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::vector<std::uint8_t> bytes(size);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  if (!in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size))) {
    return file_error(file, "read", last_error());
  }
  auto parsed = parse_wav(bytes);
  if (!parsed) return Error(parsed.error().code, file.string() + ": " + parsed.error().message);
  return parsed;
}

std::vector<std::uint8_t> format_wav(PcmView samples, int rate) {
  std::vector<std::uint8_t> out;
  out.reserve(kHeaderBytes + samples.size() * 2);
  const auto put_id = [&](std::string_view id) { out.insert(out.end(), id.begin(), id.end()); };
  const auto put = [&](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
      out.push_back(static_cast<std::uint8_t>(value >> (8U * static_cast<unsigned>(i))));
  };
  const auto data_bytes = static_cast<std::uint32_t>(samples.size() * 2);
  const auto hertz = static_cast<std::uint32_t>(rate);
  put_id("RIFF");
  put(data_bytes + static_cast<std::uint32_t>(kHeaderBytes) - 8, 4);
  put_id("WAVEfmt ");
  put(static_cast<std::uint32_t>(kFormatBytes), 4);
  put(kPcmFormat, 2);
  put(1, 2);
  put(hertz, 4);
  put(hertz * 2, 4);
  put(2, 2);
  put(16, 2);
  put_id("data");
  put(data_bytes, 4);
  for (const auto sample : samples) put(static_cast<std::uint16_t>(sample), 2);
  return out;
}

Result<> write_wav(const std::filesystem::path& file, PcmView samples, int rate) {
  if (samples.size() * 2 > kMaxBytes - kHeaderBytes) return too_large();
  const auto bytes = format_wav(samples, rate);
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) return file_error(file, "write", last_error());
  return {};
}

}  // namespace parley::audio
