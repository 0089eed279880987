#include "parley/audio/opus_codec.hpp"

#include <opus.h>

#include <string>

namespace parley::audio {
namespace {

constexpr Millis kLongestPacket{120};
// 120 ms at Opus's highest rate, 510 kbit/s, with room for the lengths of its frames.
constexpr std::size_t kMaxPacket = 8192;
// What libopus recommends; it keeps to it by lowering the rate.
constexpr std::size_t kMaxEncoded = 4000;
// RFC 6716, section 3.1: lengths are multiples of 2.5 ms.
constexpr int kUnitsPerSecond = 400;

Error failed(Errc code, const char* what, int status) {
  return {code, std::string(what) + ": " + opus_strerror(status)};
}

::OpusDecoder* decoder(void* state) {
  return static_cast<::OpusDecoder*>(state);
}
::OpusEncoder* encoder(void* state) {
  return static_cast<::OpusEncoder*>(state);
}

}  // namespace

void OpusDecoder::Free::operator()(void* state) const {
  opus_decoder_destroy(decoder(state));
}

OpusDecoder::OpusDecoder(void* state, int rate) : state_(state), rate_(rate) {
}

Duration packet_duration(std::span<const std::uint8_t> packet, Millis nominal) {
  constexpr opus_int32 rate = 48000;
  if (packet.size() <= 2) return nominal;
  const auto samples =
      opus_packet_get_nb_samples(packet.data(), static_cast<opus_int32>(packet.size()), rate);
  return samples > 0 ? duration_of(static_cast<std::size_t>(samples), rate) : Duration(nominal);
}

Result<OpusDecoder> OpusDecoder::make(int rate) {
  int status = OPUS_OK;
  auto* state = opus_decoder_create(rate, 1, &status);
  if (state == nullptr) {
    return failed(status == OPUS_ALLOC_FAIL ? Errc::overloaded : Errc::unsupported,
                  "cannot decode Opus at this sample rate", status);
  }
  return OpusDecoder(state, rate);
}

Result<PcmView> OpusDecoder::decode(std::span<const std::uint8_t> packet, Millis nominal) {
  if (packet.empty()) return Error(Errc::invalid_input, "an empty Opus packet");
  if (packet.size() > kMaxPacket) return Error(Errc::invalid_input, "an Opus packet of more than 8 KiB");

  const bool dtx = packet.size() <= 2;
  int samples = 0;
  if (dtx) {
    if (nominal <= Millis::zero() || nominal > kLongestPacket) {
      return Error(Errc::invalid_input, "an Opus frame lasts between 2.5 and 120 ms");
    }
    const int unit = rate_ / kUnitsPerSecond;
    samples = (static_cast<int>(samples_in(nominal, rate_)) + unit - 1) / unit * unit;
  } else {
    samples = opus_packet_get_nb_samples(packet.data(), static_cast<opus_int32>(packet.size()), rate_);
    if (samples <= 0) return failed(Errc::invalid_input, "not an Opus packet", samples);
  }
  if (buffer_.size() < static_cast<std::size_t>(samples)) buffer_.resize(static_cast<std::size_t>(samples));

  // Without a packet libopus conceals it: after DTX that is comfort noise, before any packet silence.
  const int count = opus_decode(decoder(state_.get()), dtx ? nullptr : packet.data(),
                                dtx ? 0 : static_cast<opus_int32>(packet.size()), buffer_.data(), samples, 0);
  if (count < 0) return failed(Errc::invalid_input, "undecodable Opus packet", count);
  return PcmView(buffer_).first(static_cast<std::size_t>(count));
}

void OpusEncoder::Free::operator()(void* state) const {
  opus_encoder_destroy(encoder(state));
}

OpusEncoder::OpusEncoder(void* state) : state_(state), buffer_(kMaxEncoded) {
}

Result<OpusEncoder> OpusEncoder::make(const OpusEncoderSettings& settings) {
  int status = OPUS_OK;
  auto* state = opus_encoder_create(settings.rate, 1,
                                    settings.voip ? OPUS_APPLICATION_VOIP : OPUS_APPLICATION_AUDIO, &status);
  if (state == nullptr) {
    return failed(status == OPUS_ALLOC_FAIL ? Errc::overloaded : Errc::unsupported,
                  "cannot encode Opus at this sample rate", status);
  }
  OpusEncoder made(state);
  status = opus_encoder_ctl(state, OPUS_SET_BITRATE(settings.bitrate));
  if (status == OPUS_OK) status = opus_encoder_ctl(state, OPUS_SET_COMPLEXITY(settings.complexity));
  if (status == OPUS_OK) status = opus_encoder_ctl(state, OPUS_SET_DTX(settings.dtx ? 1 : 0));
  if (status == OPUS_OK) status = opus_encoder_ctl(state, OPUS_SET_LSB_DEPTH(16));
  if (status != OPUS_OK) {
    return failed(Errc::unsupported, "Opus does not have this bitrate or complexity", status);
  }
  return made;
}

Result<std::span<const std::uint8_t>> OpusEncoder::encode(PcmView frame) {
  // More than 120 ms at 48 kHz is no frame at any rate.
  if (frame.empty() || frame.size() > samples_in(kLongestPacket, 48000)) {
    return Error(Errc::invalid_input, "an Opus frame lasts between 2.5 and 120 ms");
  }
  const int size = opus_encode(encoder(state_.get()), frame.data(), static_cast<int>(frame.size()),
                               buffer_.data(), static_cast<opus_int32>(buffer_.size()));
  if (size < 0) {
    return failed(size == OPUS_BAD_ARG ? Errc::invalid_input : Errc::internal,
                  "cannot encode this Opus frame", size);
  }
  return std::span<const std::uint8_t>(buffer_).first(static_cast<std::size_t>(size));
}

void OpusEncoder::reset() {
  opus_encoder_ctl(encoder(state_.get()), OPUS_RESET_STATE);
}

}  // namespace parley::audio
