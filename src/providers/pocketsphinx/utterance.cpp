#include "providers/pocketsphinx/utterance.hpp"

#include <algorithm>
#include <utility>

#include "parley/core/log.hpp"

namespace parley::providers::pocketsphinx {
namespace {

constexpr std::size_t kMaxSamples = 30U * audio::kListeningRate;
/// Between two looks at whether the result is still wanted.
constexpr std::size_t kBlock = audio::kListeningRate / 10;
/// Of 10 ms. No word is shorter.
constexpr std::size_t kMinFrames = 20;

}  // namespace

Result<> Engine::prepare(std::unique_ptr<Decoder>& decoder, const engine::SpeechGrammar& grammar) {
  if (decoder && decoder->grammar_id() == grammar.id) return {};
  auto pronunciations = lexicon.of(grammar);
  if (pronunciations.has_error()) {
    decoder.reset();
    return pronunciations.error();
  }
  if (decoder && decoder->accepts(**pronunciations)) {
    auto set = decoder->set_grammar(grammar, **pronunciations);
    if (set.has_error()) decoder.reset();
    return set;
  }
  decoder.reset();
  DecoderOptions options;
  options.model = settings.model;
  options.beam = settings.beam;
  options.remove_noise = settings.remove_noise;
  options.score = settings.reject;
  auto made = make_decoder(options, grammar, **pronunciations);
  if (made.has_error()) return made.error();
  decoder = std::move(*made);
  return {};
}

void Utterance::push(audio::PcmView samples) {
  const std::scoped_lock lock(mutex_);
  if (input_ != Input::open || work_ == Work::done) return;
  const auto taken = samples.first(std::min(samples.size(), kMaxSamples - accepted_));
  dropped_ += samples.size() - taken.size();
  accepted_ += taken.size();
  audio_.insert(audio_.end(), taken.begin(), taken.end());
  // Where the workers are full the next push, or the end, asks again.
  if (!taken.empty()) schedule_locked();
}

void Utterance::finish() {
  {
    const std::scoped_lock lock(mutex_);
    if (input_ != Input::open || work_ == Work::done) return;
    input_ = Input::finished;
    if (dropped_ > 0) {
      log::warn("an utterance was too long; its end was dropped",
                {{"dropped_s", dropped_ / static_cast<std::size_t>(audio::kListeningRate)}});
    }
    if (accepted_ > 0 && schedule_locked()) return;
    if (accepted_ == 0) {
      mailbox_->send(judge(Heard{}));
      mailbox_->close();
    } else {
      mailbox_->fail(Error(Errc::overloaded, "there are too many utterances to recognise", true));
    }
  }
  end();
}

void Utterance::abandon() {
  {
    const std::scoped_lock lock(mutex_);
    input_ = Input::abandoned;
    audio_ = {};
    if (work_ == Work::running) return;
  }
  end();
}

bool Utterance::offer(std::unique_ptr<Decoder>& decoder) {
  const std::scoped_lock lock(mutex_);
  if (work_ != Work::waiting) return false;
  work_ = Work::none;
  if (!schedule_locked()) {
    work_ = Work::done;
    mailbox_->fail(Error(Errc::overloaded, "there are too many utterances to recognise", true));
    return false;
  }
  decoder_ = std::move(decoder);
  has_place_ = true;
  return true;
}

/// Whether the audio will be seen to: a job is on its way, or a place in the pool.
bool Utterance::schedule_locked() {
  if (work_ != Work::none) return true;
  auto submitted = engine_->workers.submit([self = shared_from_this()] { self->run(); });
  if (submitted.has_error()) return false;
  work_ = Work::running;
  return true;
}

void Utterance::run() {
  if (!take_place()) return;
  if (!prepare()) return end();
  while (true) {
    std::vector<std::int16_t> samples;
    Input input = Input::open;
    {
      const std::scoped_lock lock(mutex_);
      input = input_;
      samples.swap(audio_);
      if (input == Input::open && samples.empty()) {
        work_ = Work::none;
        return;
      }
    }
    if (input == Input::abandoned) return end();
    decode(samples);
    if (input == Input::finished) {
      Event event = judge(decoder_->finish());
      event.ready_at = Clock::now();
      mailbox_->send(std::move(event));
      mailbox_->close();
      return end();
    }
  }
}

/// False: it waits for a place, or nobody wants one.
bool Utterance::take_place() {
  {
    const std::scoped_lock lock(mutex_);
    if (has_place_) return true;
    if (input_ != Input::abandoned) {
      auto place = engine_->decoders.acquire(grammar_->id, weak_from_this());
      if (!place) {
        work_ = Work::waiting;
        return false;
      }
      decoder_ = std::move(*place);
      has_place_ = true;
      return true;
    }
  }
  end();
  return false;
}

/// False: it has failed, or is not wanted.
bool Utterance::prepare() {
  if (prepared_) return true;
  if (abandoned()) return false;
  if (auto ready = engine_->prepare(decoder_, *grammar_); ready.has_error()) {
    mailbox_->fail(ready.error());
    return false;
  }
  decoder_->start();
  prepared_ = true;
  return true;
}

void Utterance::decode(audio::PcmView samples) {
  while (!samples.empty() && !abandoned()) {
    const auto block = samples.first(std::min(samples.size(), kBlock));
    decoder_->push(block);
    samples = samples.subspan(block.size());
  }
}

bool Utterance::abandoned() const {
  const std::scoped_lock lock(mutex_);
  return input_ == Input::abandoned;
}

Utterance::Event Utterance::judge(Heard heard) const {
  const auto& settings = engine_->settings;
  Event event;
  if (heard.frames < kMinFrames || heard.text.empty()) return event;
  event.text = std::move(heard.text);
  const auto words = static_cast<double>(std::max<std::size_t>(heard.words, 1));
  const double frames_per_word = static_cast<double>(heard.spoken_frames) / words;
  const bool accepted = heard.score >= settings.min_score && heard.unexplained <= settings.max_unexplained &&
                        frames_per_word <= settings.max_frames_per_word;
  if (settings.reject && !accepted) event.kind = Event::Kind::rejected;
  log::debug("an utterance was decoded", {{"score", heard.score},
                                          {"unexplained", heard.unexplained},
                                          {"frames_per_word", frames_per_word},
                                          {"rejected", event.kind == Event::Kind::rejected}});
  return event;
}

void Utterance::end() {
  std::unique_ptr<Decoder> decoder;
  {
    const std::scoped_lock lock(mutex_);
    work_ = Work::done;
    audio_ = {};
    if (!has_place_) return;
    has_place_ = false;
    decoder = std::move(decoder_);
  }
  engine_->decoders.release(std::move(decoder));
}

}  // namespace parley::providers::pocketsphinx
