#include "material.hpp"

#include "parley/audio/opus_codec.hpp"
#include "parley/device/utterance.hpp"
#include "parley/protocol/binary_frame.hpp"
#include "parley/providers/flite_tts.hpp"

namespace parley::tools {
namespace {

constexpr int kUplinkBitrate = 16000;

Result<std::vector<UplinkFrame>> encode(audio::OpusEncoder& encoder, device::Microphone& microphone,
                                        std::size_t count, int version) {
  std::vector<UplinkFrame> frames;
  while (frames.size() < count) {
    const auto packet = encoder.encode(microphone.next_frame());
    if (!packet) return packet.error();
    auto message =
        protocol::write_frame(static_cast<protocol::Framing>(version), protocol::FrameType::opus, *packet, 0);
    if (!message) return message.error();
    frames.push_back({{packet->begin(), packet->end()},
                      std::make_shared<const std::vector<std::uint8_t>>(std::move(*message))});
  }
  return frames;
}

}  // namespace

Result<Material> make_material(const BenchOptions& options) {
  auto encoder = audio::OpusEncoder::make({audio::kListeningRate, kUplinkBitrate, 0, true, options.dtx});
  if (!encoder) return encoder.error();
  const auto frame_samples = audio::samples_in(options.frame, audio::kListeningRate);
  Material material;
  for (const auto& text : options.say) {
    const auto pcm = providers::flite_synthesize(text, "rms");
    if (!pcm) return pcm.error();
    const auto utterance = device::make_utterance(text, *pcm);
    if (!utterance) return utterance.error();
    device::Microphone microphone(frame_samples, device::NoiseBed());
    microphone.say(*utterance);
    encoder->reset();
    const auto count = (utterance->samples.size() + frame_samples - 1) / frame_samples;
    auto frames = encode(*encoder, microphone, count, options.version);
    if (!frames) return frames.error();
    const auto voiced = static_cast<std::size_t>((utterance->voice_end - Duration(1)) / options.frame);
    material.phrases.push_back({std::move(*frames), std::min(voiced, count - 1)});
  }
  constexpr std::size_t silent_frames = 50;
  device::Microphone microphone(frame_samples, device::NoiseBed());
  auto silence = encode(*encoder, microphone, silent_frames, options.version);
  if (!silence) return silence.error();
  material.silence = std::move(*silence);
  auto reply = providers::flite_synthesize(
      "The lamp in the living room is on now, and the volume is at fifty.", "slt");
  if (!reply) return reply.error();
  material.reply = std::move(*reply);
  return material;
}

}  // namespace parley::tools
