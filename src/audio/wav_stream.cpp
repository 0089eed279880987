#include "parley/audio/wav_stream.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace parley::audio {
namespace {

constexpr std::size_t kMaxHeader = 65536;
constexpr std::size_t kChunkHeader = 8;
constexpr std::size_t kRiffHeader = 12;
constexpr std::size_t kFormatBytes = 16;
constexpr std::size_t kMaxChannels = 8;
constexpr std::uint32_t kHighestRate = 192000;
constexpr std::uint32_t kUnknownLength = 0x7FFFFFFF;
constexpr std::uint16_t kPcmFormat = 1;
constexpr std::uint16_t kExtensibleFormat = 0xFFFE;

using Bytes = std::span<const std::uint8_t>;

std::uint16_t u16(Bytes bytes, std::size_t at) {
  return static_cast<std::uint16_t>(bytes[at] | (bytes[at + 1] << 8));
}
std::uint32_t u32(Bytes bytes, std::size_t at) {
  return static_cast<std::uint32_t>(u16(bytes, at)) | (static_cast<std::uint32_t>(u16(bytes, at + 2)) << 16U);
}
bool is(Bytes bytes, std::size_t at, std::string_view id) {
  return std::equal(id.begin(), id.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace

void PcmAssembler::feed(std::span<const std::uint8_t> bytes, std::vector<std::int16_t>& samples) {
  const std::size_t frame = 2 * channels_;
  const auto mix = [&](Bytes one) {
    int sum = 0;
    for (std::size_t channel = 0; channel < channels_; ++channel) {
      sum += static_cast<std::int16_t>(u16(one, 2 * channel));
    }
    samples.push_back(static_cast<std::int16_t>(sum / static_cast<int>(channels_)));
  };
  if (!rest_.empty()) {
    const auto missing = std::min(frame - rest_.size(), bytes.size());
    rest_.insert(rest_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(missing));
    bytes = bytes.subspan(missing);
    if (rest_.size() < frame) return;
    mix(rest_);
    rest_.clear();
  }
  samples.reserve(samples.size() + bytes.size() / frame);
  for (; bytes.size() >= frame; bytes = bytes.subspan(frame)) mix(bytes);
  rest_.assign(bytes.begin(), bytes.end());
}

Result<> WavStream::feed(std::span<const std::uint8_t> bytes, std::vector<std::int16_t>& samples) {
  if (!in_data_) {
    header_.insert(header_.end(), bytes.begin(), bytes.end());
    while (!in_data_) {
      const auto more = read_chunk();
      if (!more) return more.error();
      if (!*more) return {};
    }
    bytes = header_;
  }
  if (data_left_) {
    bytes = bytes.first(std::min(bytes.size(), *data_left_));
    *data_left_ -= bytes.size();
  }
  pcm_.feed(bytes, samples);
  if (!header_.empty()) header_ = {};
  return {};
}

/// Takes one chunk from the front of what is kept; false: not all of it is there yet.
Result<bool> WavStream::read_chunk() {
  std::size_t at = 0;
  if (!riff_) {
    const auto known = std::min(header_.size(), kRiffHeader);
    for (std::size_t i = 0; i < known; ++i) {
      constexpr std::string_view expected = "RIFF????WAVE";
      if (expected[i] != '?' && header_[i] != static_cast<std::uint8_t>(expected[i])) {
        return Error(Errc::invalid_input, "this is not a RIFF WAVE");
      }
    }
    if (known < kRiffHeader) return false;
    riff_ = true;
    at = kRiffHeader;
  }
  const auto rest = Bytes(header_).subspan(at);
  const auto take = [&](std::size_t size) {
    header_.erase(header_.begin(), header_.begin() + static_cast<std::ptrdiff_t>(at + size));
  };
  if (rest.size() < kChunkHeader) {
    take(0);
    return false;
  }
  const std::size_t claimed = u32(rest, 4);
  if (is(rest, 0, "data")) {
    if (rate_ == 0) return Error(Errc::invalid_input, "this WAV has its data before its format");
    if (claimed != 0 && claimed < kUnknownLength) data_left_ = claimed;
    in_data_ = true;
    take(kChunkHeader);
    return true;
  }
  const std::size_t whole = kChunkHeader + claimed + claimed % 2;
  if (whole > kMaxHeader) return Error(Errc::limit, "this WAV has a header of more than 64 KiB");
  if (rest.size() < whole) {
    take(0);
    return false;
  }
  if (is(rest, 0, "fmt ")) {
    if (auto read = read_format(rest.subspan(kChunkHeader, claimed)); !read) return read.error();
  }
  if (skipped_ += whole; skipped_ > kMaxHeader) {
    return Error(Errc::limit, "this WAV has a header of more than 64 KiB");
  }
  take(whole);
  return true;
}

Result<> WavStream::read_format(std::span<const std::uint8_t> chunk) {
  if (chunk.size() < kFormatBytes) return Error(Errc::invalid_input, "the WAV format chunk is too short");
  const auto code = u16(chunk, 0);
  const auto channels = u16(chunk, 2);
  const auto rate = u32(chunk, 4);
  const auto bits = u16(chunk, 14);
  if ((code != kPcmFormat && code != kExtensibleFormat) || bits != 16) {
    return Error(Errc::unsupported, "this WAV is not 16-bit PCM (format " + std::to_string(code) + ", " +
                                        std::to_string(bits) + " bits)");
  }
  if (channels == 0 || channels > kMaxChannels || rate == 0 || rate > kHighestRate) {
    return Error(Errc::invalid_input, "this WAV claims " + std::to_string(channels) + " channels at " +
                                          std::to_string(rate) + " Hz");
  }
  rate_ = static_cast<int>(rate);
  pcm_ = PcmAssembler(channels);
  return {};
}

}  // namespace parley::audio
