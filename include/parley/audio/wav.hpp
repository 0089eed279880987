#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "parley/audio/pcm.hpp"
#include "parley/core/error.hpp"

namespace parley::audio {

/// RIFF WAVE, PCM 8, 16, 24 or 32 bits or 32-bit float, any number of channels (mixed to mono), up to 256
/// MiB. Unknown chunks are skipped; a data chunk that claims more than there is gives what there is.
Result<Pcm> parse_wav(std::span<const std::uint8_t> bytes);
Result<Pcm> read_wav(const std::filesystem::path& file);

/// 16-bit mono.
std::vector<std::uint8_t> format_wav(PcmView samples, int rate);
Result<> write_wav(const std::filesystem::path& file, PcmView samples, int rate);

}  // namespace parley::audio
