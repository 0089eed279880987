#include "parley/audio/pcm_reader.hpp"

#include <algorithm>
#include <utility>

namespace parley::audio {
namespace {

constexpr std::size_t kMagic = 12;  // RIFF, a length, WAVE
constexpr std::size_t kChunkHeader = 8;
constexpr std::size_t kMinFormat = 16;
/// Titles and the like that come before the samples.
constexpr std::size_t kMaxChunk = std::size_t{64} * 1024;
constexpr std::uint32_t kPcmFormat = 1;
constexpr std::uint32_t kExtensibleFormat = 0xFFFE;

std::uint32_t number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = size; i > 0; --i) value = (value << 8U) | static_cast<std::uint8_t>(bytes[at + i - 1]);
  return value;
}

/// The name of a format that is not PCM, by its first bytes; empty: it may be PCM.
std::string_view other_format(std::string_view bytes) {
  if (bytes.starts_with("ID3")) return "MP3";
  if (bytes.starts_with("OggS")) return "Ogg";
  if (bytes.starts_with("fLaC")) return "FLAC";
  return {};
}

}  // namespace

Result<Pcm> PcmReader::push(std::string_view bytes) {
  pending_ += bytes;
  if (stage_ != Stage::samples) {
    if (auto read = read_header(); !read) return read.error();
  }
  if (stage_ == Stage::samples) return take_samples();
  return Pcm{rate_, {}};
}

Result<> PcmReader::read_header() {
  if (stage_ == Stage::start) {
    if (const auto format = other_format(pending_); !format.empty()) {
      return Error(Errc::unsupported, "this is " + std::string(format) + " audio; PCM was asked for");
    }
    constexpr std::string_view kRiff = "RIFF";
    const auto begin = std::string_view(pending_).substr(0, kRiff.size());
    if (!kRiff.starts_with(begin)) {
      stage_ = Stage::samples;
      return {};
    }
    if (pending_.size() < kMagic) return {};
    if (std::string_view(pending_).substr(8, 4) != "WAVE") {
      stage_ = Stage::samples;
      return {};
    }
    pending_.erase(0, kMagic);
    stage_ = Stage::chunks;
  }
  while (true) {
    if (stage_ == Stage::skipping) {
      const auto here = std::min(skip_, pending_.size());
      pending_.erase(0, here);
      skip_ -= here;
      if (skip_ > 0) return {};
      stage_ = Stage::chunks;
    }
    if (pending_.size() < kChunkHeader) return {};
    const auto id = pending_.substr(0, 4);
    const std::size_t size = number(pending_, 4, 4);
    if (id == "data") {
      if (!has_format_) return Error(Errc::invalid_input, "a WAV file without a format");
      pending_.erase(0, kChunkHeader);
      stage_ = Stage::samples;
      return {};
    }
    if (size > kMaxChunk) return Error(Errc::invalid_input, "a WAV file with an impossible header");
    const auto padded = size + size % 2;
    if (id != "fmt ") {
      pending_.erase(0, kChunkHeader);
      skip_ = padded;
      stage_ = Stage::skipping;
      continue;
    }
    if (pending_.size() < kChunkHeader + padded) return {};
    if (size < kMinFormat) return Error(Errc::invalid_input, "a WAV file with a format that is too short");
    const auto format = std::string_view(pending_).substr(kChunkHeader, padded);
    const auto code = number(format, 0, 2);
    const auto channels = number(format, 2, 2);
    const auto rate = number(format, 4, 4);
    if ((code != kPcmFormat && code != kExtensibleFormat) || number(format, 14, 2) != 16 || channels < 1 ||
        channels > 2 || rate < 8000 || rate > 48000) {
      return Error(Errc::unsupported,
                   "a WAV file that is not 16-bit PCM of 8000 to 48000 Hz with one or two channels");
    }
    rate_ = static_cast<int>(rate);
    channels_ = static_cast<int>(channels);
    has_format_ = true;
    pending_.erase(0, kChunkHeader + padded);
  }
}

Pcm PcmReader::take_samples() {
  const auto frame = 2 * static_cast<std::size_t>(channels_);
  const auto whole = pending_.size() / frame;
  Pcm pcm{rate_, {}};
  pcm.samples.reserve(whole);
  for (std::size_t i = 0; i < whole; ++i) {
    int sum = 0;
    for (std::size_t channel = 0; channel < frame; channel += 2)
      sum += static_cast<std::int16_t>(number(pending_, i * frame + channel, 2));
    pcm.samples.push_back(static_cast<std::int16_t>(sum / channels_));
  }
  pending_.erase(0, whole * frame);
  return pcm;
}

}  // namespace parley::audio
