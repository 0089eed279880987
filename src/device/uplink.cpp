#include "uplink.hpp"

#include <utility>

#include "parley/protocol/binary_frame.hpp"

namespace parley::device {
namespace {

// The firmware's encoder.
constexpr int kBitrate = 16000;
constexpr int kComplexity = 0;

}  // namespace

Result<std::shared_ptr<Uplink>> Uplink::make(const asio::any_io_executor& executor, Millis frame, int version,
                                             bool dtx, NoiseBed noise, Listener listener) {
  auto encoder = audio::OpusEncoder::make({audio::kListeningRate, kBitrate, kComplexity, true, dtx});
  if (!encoder) return encoder.error();
  return std::shared_ptr<Uplink>(
      new Uplink(executor, frame, version, std::move(noise), std::move(listener), std::move(*encoder)));
}

Uplink::Uplink(const asio::any_io_executor& executor, Millis frame, int version, NoiseBed noise,
               Listener listener, audio::OpusEncoder encoder)
    : frame_(frame),
      version_(version),
      microphone_(audio::samples_in(frame, audio::kListeningRate), std::move(noise)),
      listener_(std::move(listener)),
      encoder_(std::move(encoder)),
      timer_(executor) {
}

void Uplink::open() {
  if (open_) return;
  open_ = true;
  encoder_.reset();
  next_ = Clock::now() + frame_;
  arm();
}

void Uplink::close() {
  open_ = false;
  ++round_;
  timer_.cancel();
}

void Uplink::say(Utterance utterance) {
  voice_end_ = utterance.voice_end;
  began_.reset();
  microphone_.say(std::move(utterance));
}

void Uplink::arm() {
  timer_.expires_at(next_);
  timer_.async_wait([weak = weak_from_this(), round = ++round_](const boost::system::error_code&) {
    const auto self = weak.lock();
    if (!self || !self->open_ || self->round_ != round) return;
    self->send_frame();
    if (self->open_ && self->round_ == round) self->arm();
  });
}

void Uplink::send_frame() {
  if (voice_end_ && !began_ && talking()) began_ = next_ - frame_;
  const auto samples = microphone_.next_frame();
  // A frame is sent when its last sample was recorded; the next one is due a frame later, however late this
  // is.
  const auto recorded = std::exchange(next_, next_ + frame_);
  if (recorded >= stalled_until_) hand_on(samples);
  if (!began_) return;
  if (voice_end_ && recorded >= *began_ + *voice_end_) {
    listener_.speech_ended(*began_ + *std::exchange(voice_end_, std::nullopt));
  }
  if (!talking()) {
    began_.reset();
    listener_.said();
  }
}

void Uplink::hand_on(audio::PcmView samples) {
  const auto packet = encoder_.encode(samples);
  if (!packet) return listener_.failed(packet.error());
  auto message =
      protocol::write_frame(static_cast<protocol::Framing>(version_), protocol::FrameType::opus, *packet, 0);
  if (!message) return listener_.failed(message.error());
  listener_.frame(std::make_shared<const std::vector<std::uint8_t>>(std::move(*message)));
}

}  // namespace parley::device
