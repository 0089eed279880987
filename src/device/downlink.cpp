#include "downlink.hpp"

#include <utility>

namespace parley::device {

void Downlink::agree(const protocol::AudioParams& audio) {
  audio_ = audio;
  settings_.frame = Millis(audio.frame_duration);
  playout_ = Playout(settings_);
}

void Downlink::tts_start() {
  ++starts_;
  audible_ = false;
  auto decoder = audio::OpusDecoder::make(audio_.sample_rate);
  if (decoder) {
    decoder_ = std::move(*decoder);
  } else {
    listener_.violation(decoder.error().message);
  }
  playout_.tts_start(Clock::now());
  pump();
}

void Downlink::tts_stop() {
  playout_.tts_stop(Clock::now());
  pump();
}

void Downlink::push(protocol::Bytes packet) {
  playout_.push({packet.begin(), packet.end()}, Clock::now());
  pump();
}

void Downlink::close() {
  closed_ = true;
  timer_.cancel();
}

PlayoutCounts Downlink::counts() {
  pump();
  return playout_.counts();
}

void Downlink::pump() {
  for (const auto& packet : playout_.advance(Clock::now())) play(packet);
  listener_.changed();
  const auto next = playout_.next_change();
  if (!next || closed_) return;
  timer_.expires_at(*next);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& cancelled) {
    const auto self = weak.lock();
    if (self && !cancelled) self->pump();
  });
}

void Downlink::play(const Playout::Packet& packet) {
  // What is played before the main loop handled the newest start belongs to the reply before.
  if (!audible_ && starts_ > 0 && playout_.starts() == starts_) {
    audible_ = true;
    listener_.audible();
  }
  if (!decoder_) return;
  const Millis declared(audio_.frame_duration);
  const auto pcm = decoder_->decode(packet, declared);
  if (!pcm) return listener_.violation("an undecodable Opus packet: " + pcm.error().message);
  if (pcm->size() != audio::samples_in(declared, audio_.sample_rate)) {
    listener_.violation("a frame of " + std::to_string(pcm->size()) + " samples where hello declared " +
                        std::to_string(declared.count()) + " ms");
  }
  heard_.insert(heard_.end(), pcm->begin(), pcm->end());
}

}  // namespace parley::device
