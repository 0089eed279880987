#include "parley/session/playout.hpp"

#include <algorithm>
#include <utility>

#include "parley/core/log.hpp"

namespace parley::session {
namespace {

/// Bytes that may wait in the socket's queue before audio waits too: some frames.
constexpr std::size_t kMaxBacklog = 4096;
/// About what a character of speech lasts, while nothing better is known.
constexpr Millis kPerCharacter{65};

}  // namespace

Playout::Playout(Wire wire, const config::AudioSettings& settings,
                 std::shared_ptr<dialogue::TurnRecord> record)
    : wire_(std::move(wire)),
      settings_(settings),
      record_(std::move(record)),
      pacer_(settings.downlink_frame, settings.send_ahead, wire_.earliest),
      timer_(wire_.scheduler->make_timer()),
      changed_(wire_.executor),
      frame_samples_(audio::samples_in(settings.downlink_frame, settings.downlink_rate)),
      max_waiting_(audio::samples_in(settings.buffer, settings.downlink_rate)) {
}

void Playout::send(const protocol::ServerMessage& message) {
  wire_.connection->send_text(protocol::write_server_message(message, wire_.session_id));
}

void Playout::show(const dialogue::Emotion& emotion) {
  if (cancelled_) return;
  send(protocol::LlmEmotion{std::string(emotion.name), std::string(emotion.emoji)});
}

void Playout::begin_sentence(std::string text) {
  if (cancelled_) return;
  if (resampler_) resampler_->flush(samples_);  // The last sentence's tail belongs to it.
  subtitles_.push_back({std::move(text), position_ + static_cast<std::int64_t>(waiting())});
}

Result<> Playout::prepare(int rate) {
  if (!encoder_) {
    audio::OpusEncoderSettings encoding;
    encoding.rate = settings_.downlink_rate;
    encoding.bitrate = settings_.bitrate;
    encoding.complexity = settings_.complexity;
    auto made = audio::OpusEncoder::make(encoding);
    if (!made) return made.error();
    encoder_ = std::move(*made);
    samples_.reserve(max_waiting_ + 4 * frame_samples_);
  }
  if (!resampler_ || resampler_->from() != rate) {
    if (resampler_) resampler_->flush(samples_);
    auto made = audio::Resampler::make(rate, settings_.downlink_rate);
    if (!made) return made.error();
    resampler_ = std::move(*made);
  }
  return {};
}

Task<> Playout::play(const audio::Pcm& pcm) {
  const auto self = shared_from_this();
  if (cancelled_ || pcm.samples.empty()) co_return;
  if (const auto ready = prepare(pcm.rate); !ready) {
    log::error("audio cannot be played", {{"why", ready.error().message}});
    co_return;
  }
  // In slices of a frame, so that a long piece of audio is never held twice.
  const auto slice = std::max<std::size_t>(1, audio::samples_in(settings_.downlink_frame, pcm.rate));
  for (std::size_t at = 0; at < pcm.samples.size() && !cancelled_; at += slice) {
    const auto size = std::min(slice, pcm.samples.size() - at);
    resampler_->process(audio::PcmView(pcm.samples).subspan(at, size), samples_);
    tick();
    while (!cancelled_ && waiting() >= max_waiting_) co_await changed_.wait();
  }
}

Task<> Playout::finish() {
  const auto self = shared_from_this();
  if (resampler_) resampler_->flush(samples_);
  finishing_ = true;
  tick();
  while (!cancelled_ && (waiting() > 0 || wire_.scheduler->now() < pacer_.playout_end()))
    co_await changed_.wait();
}

void Playout::cancel() {
  cancelled_ = true;
  timer_->cancel();
  wire_.connection->drop_binary();
  samples_.clear();
  taken_ = 0;
  changed_.notify();
}

std::string Playout::heard() const {
  const auto played = pacer_.played(wire_.scheduler->now()) * static_cast<double>(frame_samples_);
  auto end = position_ + static_cast<std::int64_t>(waiting());
  if (!subtitles_.empty()) {
    end = subtitles_.front().position;
  } else if (!finishing_) {
    // The rest of the running sentence may not be synthesised yet.
    const auto length = kPerCharacter * static_cast<Millis::rep>(ledger_.last_size());
    end = std::max(end, ledger_.last_begin() +
                            static_cast<std::int64_t>(audio::samples_in(length, settings_.downlink_rate)));
  }
  return ledger_.heard(static_cast<std::int64_t>(played), end);
}

bool Playout::frame_ready() const {
  return waiting() >= frame_samples_ || (finishing_ && waiting() > 0);
}

void Playout::tick() {
  if (cancelled_) return;
  const auto now = wire_.scheduler->now();
  if (!frame_ready()) {
    ready_since_.reset();
  } else if (!ready_since_) {
    ready_since_ = now;
  }
  bool sent = false;
  const bool stalled = wire_.connection->queued_bytes() > kMaxBacklog;
  while (!stalled && frame_ready() && pacer_.next_due() <= now) {
    send_frame(now);
    sent = true;
  }
  if (sent) changed_.notify();
  if (stalled) {
    // The network does not take what was sent: more would only be late, and in the way of `tts stop`.
    timer_->arm(now + settings_.downlink_frame, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->tick();
    });
    return;
  }
  arm();
}

void Playout::arm() {
  const auto fire = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->tick();
  };
  if (frame_ready()) {
    timer_->arm(pacer_.next_due(), fire);
  } else if (finishing_) {
    if (wire_.scheduler->now() < pacer_.playout_end()) {
      timer_->arm(pacer_.playout_end(), fire);
    } else {
      changed_.notify();
    }
  }
}

void Playout::send_frame(TimePoint now) {
  if (waiting() < frame_samples_)
    samples_.resize(taken_ + frame_samples_);  // The end is padded with silence.
  const auto end = position_ + static_cast<std::int64_t>(frame_samples_);
  while (!subtitles_.empty() && subtitles_.front().position < end) {
    auto& subtitle = subtitles_.front();
    send(protocol::SentenceStart{subtitle.text});
    ledger_.begin_sentence(std::move(subtitle.text), subtitle.position);
    subtitles_.pop_front();
  }
  const auto packet = encoder_->encode(audio::PcmView(samples_).subspan(taken_, frame_samples_));
  taken_ += frame_samples_;
  position_ = end;
  ledger_.extend_to(end);
  // Moved down in large steps only.
  if (taken_ >= samples_.size()) {
    samples_.clear();
    taken_ = 0;
  } else if (taken_ >= 2 * frame_samples_) {
    samples_.erase(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
  }
  if (!packet) {
    log::error("a frame cannot be encoded", {{"why", packet.error().message}});
    return;
  }
  wire_.metrics->playout_lateness(to_ms(now - std::max(pacer_.next_due(), *ready_since_)));
  // Reckoned from when the first frame really leaves, its encoding done: no later one may be early by that.
  if (pacer_.sent(wire_.scheduler->now())) {
    ++record_->underruns;
    wire_.metrics->underrun();
  }
  auto frame = protocol::write_frame(wire_.framing, protocol::FrameType::opus, *packet, *wire_.timestamp);
  *wire_.timestamp += static_cast<std::uint32_t>(settings_.downlink_frame.count());
  if (*wire_.timestamp == 0) *wire_.timestamp = 1;  // 0 means "nothing playing" (section 6).
  if (!frame) return;
  wire_.metrics->frame_out(frame->size());
  wire_.connection->send_binary(std::move(*frame));
  if (!record_->first_frame) record_->first_frame = wire_.scheduler->now();
  if (const auto begun = std::exchange(wire_.on_begun, nullptr)) begun();
  record_->last_frame = now;
}

}  // namespace parley::session
