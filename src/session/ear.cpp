#include "parley/session/ear.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <utility>

#include "parley/core/log.hpp"

namespace parley::session {
namespace {

/// How often a missing uplink is looked for while somebody speaks.
constexpr Millis kGapCheck{200};
/// Voice that it takes to interrupt a reply.
constexpr Millis kBargeInVoice{200};
/// Audio kept for a recogniser that is still being opened; older audio goes first.
constexpr std::size_t kMaxPending = 10 * audio::kListeningRate;
/// The suppressor works in blocks of 10 ms.
constexpr std::size_t kSuppressorBlock = 160;

}  // namespace

/// One utterance on its way through the recogniser.
struct Ear::Recognition {
  turn::Generation generation = 0;
  std::shared_ptr<dialogue::TurnRecord> record;
  std::unique_ptr<engine::AsrStream> stream;
  std::vector<std::int16_t> pending;
  bool finished = false;
  TimePoint finished_at{};
  std::unique_ptr<Timer> deadline;
  std::unique_ptr<Timer> draft;  ///< runs while `partial` stands
  std::string partial;
  asio::cancellation_signal stop;
  bool dropped = false;

  void push(audio::PcmView samples) {
    if (finished) return;
    if (stream) {
      stream->push(samples);
      return;
    }
    pending.insert(pending.end(), samples.begin(), samples.end());
    if (pending.size() > kMaxPending) {
      pending.erase(pending.begin(), pending.end() - static_cast<std::ptrdiff_t>(kMaxPending));
    }
  }
};

Ear::Ear(Wiring wiring) : wiring_(std::move(wiring)), gap_timer_(wiring_.scheduler->make_timer()) {
}

Result<> Ear::listen(protocol::ListenMode mode, bool guard) {
  const auto& profile = *wiring_.runtime->profile;
  if (!decoder_) {
    auto decoder = audio::OpusDecoder::make(audio::kListeningRate);
    if (!decoder) return decoder.error();
    decoder_ = std::move(*decoder);
    high_pass_.reset();
  }
  if (profile.noise.suppress && !suppressor_) {
    auto suppressor = audio::make_noise_suppressor(profile.noise.level);
    if (!suppressor) return suppressor.error();
    suppressor_ = std::move(*suppressor);
  }
  ++epoch_;
  auto settings = profile.detector;
  if (guard) settings.speech_start = std::max(settings.speech_start, kBargeInVoice);
  using turn::SpeechDetector;
  const auto held = mode == protocol::ListenMode::manual && !guard;
  SpeechDetector::Listener listener;
  listener.began = [this](const SpeechDetector::Began& began) { on_began(began); };
  listener.audio = [this](const SpeechDetector::Audio& audio) { on_audio(audio.audio); };
  listener.ended = [this](const SpeechDetector::Ended& ended) { on_ended(ended); };
  remember_noise();
  detector_ = std::make_unique<SpeechDetector>(
      settings, wiring_.runtime->engines.vad->make(),
      held ? SpeechDetector::Mode::held : SpeechDetector::Mode::endpointing, std::move(listener), noise_);
  in_utterance_ = false;
  begun_ = {};
  return {};
}

/// The room stays the same from one listening to the next.
void Ear::remember_noise() {
  if (detector_) noise_ = detector_->noise();
}

void Ear::stop() {
  ++epoch_;
  gap_timer_->cancel();
  remember_noise();
  detector_.reset();
  decoder_.reset();
  suppressor_.reset();
  scratch_ = {};
  uncleaned_ = {};
  begun_ = {};
  in_utterance_ = false;
}

void Ear::end_utterance() {
  if (detector_) detector_->stop();
}

Result<> Ear::push(std::span<const std::uint8_t> packet) {
  if (!detector_) return {};
  begun_.clear();  // An utterance that no turn was made of by now is nobody's.
  const auto decoded = decoder_->decode(packet, wiring_.frame_duration);
  if (!decoded) return decoded.error();
  last_audio_ = wiring_.scheduler->now();
  scratch_.assign(decoded->begin(), decoded->end());
  high_pass_.process(scratch_);
  if (!suppressor_) {
    detector_->push(scratch_);
    return {};
  }
  // Frames of 5 ms are half a block: what does not fill one waits for the next packet.
  uncleaned_.insert(uncleaned_.end(), scratch_.begin(), scratch_.end());
  const auto whole = uncleaned_.size() - uncleaned_.size() % kSuppressorBlock;
  scratch_.assign(uncleaned_.begin(), uncleaned_.begin() + static_cast<std::ptrdiff_t>(whole));
  suppressor_->process(scratch_);
  // The detector judges what was not suppressed: remnants of noise sound like voices to it.
  detector_->push(std::span(uncleaned_).first(whole), scratch_);
  uncleaned_.erase(uncleaned_.begin(), uncleaned_.begin() + static_cast<std::ptrdiff_t>(whole));
  return {};
}

void Ear::on_began(const turn::SpeechDetector::Began& began) {
  in_utterance_ = true;
  speech_ended_.reset();
  endpoint_decided_.reset();
  begun_.assign(began.audio.begin(), began.audio.end());
  wiring_.post(turn::SpeechBegan{epoch_});
  watch_for_gap();
}

void Ear::on_audio(audio::PcmView samples) {
  if (recognition_) {
    recognition_->push(samples);
  } else if (!begun_.empty()) {
    begun_.insert(begun_.end(), samples.begin(), samples.end());
  }
}

void Ear::on_ended(const turn::SpeechDetector::Ended& ended) {
  in_utterance_ = false;
  gap_timer_->cancel();
  endpoint_decided_ = wiring_.scheduler->now();
  speech_ended_ = *endpoint_decided_ - ended.trailing_silence;
  wiring_.post(turn::SpeechEnded{ended.too_short, epoch_});
}

/// A device that uses DTX, or that is gone, sends nothing: that is silence too.
void Ear::watch_for_gap() {
  const auto now = wiring_.scheduler->now();
  last_audio_ = std::max(last_audio_, now - kGapCheck);
  gap_timer_->arm(now + kGapCheck, [this] {
    if (!in_utterance_ || !detector_) return;
    const auto gap = wiring_.scheduler->now() - last_audio_;
    if (gap >= kGapCheck) {
      last_audio_ += gap;
      detector_->idle(gap);
    }
    if (in_utterance_) watch_for_gap();
  });
}

void Ear::open_recogniser(turn::Generation generation, Task<engine::AsrRequest> request,
                          std::shared_ptr<dialogue::TurnRecord> record) {
  drop_recogniser();
  const auto job = std::make_shared<Recognition>();
  recognition_ = job;
  job->generation = generation;
  job->record = std::move(record);
  job->pending = std::exchange(begun_, {});
  asio::co_spawn(
      wiring_.executor, recognise(shared_from_this(), job, std::move(request)),
      asio::bind_cancellation_slot(
          job->stop.slot(), [self = shared_from_this(), job](const std::exception_ptr& thrown) {
            if (!thrown || job->dropped || self->closed_) return;
            self->wiring_.post(turn::RecognitionFailed{job->generation, "the recogniser was interrupted"});
          }));
}

void Ear::finish_recogniser() {
  const auto job = recognition_;
  if (!job || job->finished) return;
  job->finished = true;
  job->finished_at = wiring_.scheduler->now();
  job->record->speech_ended = speech_ended_ ? speech_ended_ : job->finished_at;
  job->record->endpoint_decided = endpoint_decided_ ? endpoint_decided_ : job->finished_at;
  job->deadline = wiring_.scheduler->make_timer();
  const auto& profile = *wiring_.runtime->profile;
  const auto patience = config::patience_with(profile.roles.asr, profile.session.asr_timeout);
  job->deadline->arm(job->finished_at + patience, [this, weak = std::weak_ptr(job)] {
    const auto late = weak.lock();
    if (!late || late != recognition_) return;
    const auto generation = late->generation;
    drop_recogniser();
    wiring_.post(turn::RecognitionFailed{generation, "the recogniser did not answer in time"});
  });
  if (job->stream) job->stream->finish();
}

void Ear::drop_recogniser() {
  const auto job = std::exchange(recognition_, nullptr);
  if (!job) return;
  job->dropped = true;
  job->deadline.reset();
  job->draft.reset();
  job->stop.emit(asio::cancellation_type::terminal);
}

void Ear::on_partial(const std::shared_ptr<Recognition>& job, std::string text) {
  const auto wait = wiring_.runtime->profile->session.draft_after;
  if (wait == Millis::zero() || text == job->partial) return;
  job->partial = std::move(text);
  if (!job->draft) job->draft = wiring_.scheduler->make_timer();
  job->draft->cancel();
  if (job->partial.empty()) return;
  job->draft->arm(wiring_.scheduler->now() + wait, [this, weak = std::weak_ptr(job)] {
    if (const auto same = weak.lock()) wiring_.post(turn::PartialStood{same->generation, same->partial});
  });
}

Task<> Ear::recognise(std::shared_ptr<Ear> self, std::shared_ptr<Recognition> job,
                      Task<engine::AsrRequest> request) {
  const auto report = [&](turn::Event event) {
    if (job->dropped || self->closed_) return;
    self->recognition_.reset();
    job->deadline.reset();
    job->draft.reset();
    self->wiring_.post(std::move(event));
  };
  auto complete = co_await std::move(request);
  const auto asked = self->wiring_.scheduler->now();
  auto opened = co_await self->wiring_.runtime->engines.asr->open(std::move(complete));
  if (job->dropped) co_return;
  if (!opened) {
    report(turn::RecognitionFailed{job->generation, opened.error().message});
    co_return;
  }
  job->stream = std::move(*opened);
  job->stream->push(std::exchange(job->pending, {}));
  if (job->finished) job->stream->finish();
  while (true) {
    auto event = co_await job->stream->next();
    if (job->dropped) co_return;
    if (!event) {
      report(turn::RecognitionFailed{job->generation, event.error().message});
      co_return;
    }
    if (!*event) {
      report(turn::RecognitionFailed{job->generation, "the recogniser ended without a result"});
      co_return;
    }
    auto& heard = **event;
    if (heard.kind == engine::AsrEvent::Kind::partial) {
      self->on_partial(job, std::move(heard.text));
      continue;
    }
    job->record->asr_final = heard.ready_at;
    // Waiting for the device's tools is not the recogniser's time.
    if (job->finished) job->record->waited(std::max(asked, job->finished_at), heard.ready_at);
    job->record->heard_text = heard.text;
    report(turn::Recognised{job->generation, std::move(heard.text),
                            heard.kind == engine::AsrEvent::Kind::rejected});
    co_return;
  }
}

void Ear::close() {
  closed_ = true;
  drop_recogniser();
  stop();
}

}  // namespace parley::session
