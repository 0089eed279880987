#include "parley/turn/speech_detector.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "pre_roll.hpp"
#include "voicing.hpp"

namespace parley::turn {
namespace {

constexpr std::size_t kFrame = audio::samples_in(Millis(20), audio::kListeningRate);
constexpr int kHistory = 64;  // frames that a word of bits remembers

// Judged on 60 recorded orders, clean and in kitchen noise 6 to 20 dB below them: the VAD alone takes the
// clatter of dishes for speech. What is not far above the noise has to have had the pitch of a voice within
// 400 ms (the length of the consonants between vowels), and an utterance begins with three frames of such a
// sound.
constexpr float kPitched = 0.82F;
constexpr int kPitchFrames = 20;
constexpr double kClearDb = 12;
constexpr int kSureFrames = 3;

int frames_in(Duration duration) {
  const auto samples = audio::samples_in(std::chrono::ceil<Millis>(duration), audio::kListeningRate);
  return static_cast<int>((samples + kFrame - 1) / kFrame);
}

std::uint64_t newest(int frames) {
  return frames >= kHistory ? ~0ULL : (1ULL << static_cast<unsigned>(frames)) - 1;
}

Duration time_of(std::size_t samples) {
  return audio::duration_of(samples, audio::kListeningRate);
}

// In dB below full scale, without the constant offset that cheap microphones have.
float level_of(audio::PcmView frame) {
  std::int64_t squares = 0;
  std::int32_t sum = 0;
  for (const auto sample : frame) {
    squares += std::int64_t{sample} * sample;
    sum += sample;
  }
  const auto count = static_cast<float>(frame.size());
  const float mean = static_cast<float>(sum) / count;
  const float variance = static_cast<float>(squares) / count - mean * mean;
  constexpr float kFullScale = 32768.0F * 32768.0F;
  return 10.0F * std::log10(std::max(variance, 1e-2F) / kFullScale);
}

}  // namespace

struct SpeechDetector::State {
  State(const config::DetectorSettings& given, std::unique_ptr<engine::Vad> detector, Mode how, Listener who)
      : settings(given),
        vad(std::move(detector)),
        mode(how),
        listener(std::move(who)),
        start_frames(std::clamp(frames_in(given.speech_start), 1, kHistory / 2)),
        pre_roll_frames(frames_in(given.pre_roll)),
        pre_roll(how == Mode::held ? 0
                                   : kFrame * static_cast<std::size_t>(pre_roll_frames + window_frames())) {}

  const config::DetectorSettings settings;
  const std::unique_ptr<engine::Vad> vad;
  const Mode mode;
  const Listener listener;
  const int start_frames;
  const int pre_roll_frames;

  NoiseFloor floor;
  Voicing voicing;
  PreRoll pre_roll;
  // Of the last push, less than a frame: as judged, and as given to the listener.
  std::array<std::int16_t, kFrame> rest{};
  std::array<std::int16_t, kFrame> cleaned_rest{};
  std::size_t rest_size = 0;
  audio::PcmView run;  // of the running utterance, contiguous, not given yet

  // One bit a frame, the newest lowest.
  std::uint64_t pitched = 0;  // has the pitch of a voice
  std::uint64_t sure = 0;     // pitched, or far above the noise
  std::uint64_t recent = 0;   // voice
  std::uint64_t history = 0;  // the same since the last utterance
  bool running = false;
  bool stopped = false;
  std::size_t length = 0;       // samples of the running utterance
  std::size_t since_voice = 0;  // samples since its last voice
  int voiced = 0;               // frames of it with voice

  // Half of the window may be gaps.
  int window_frames() const { return 2 * start_frames; }

  void on_frame(audio::PcmView frame, audio::PcmView cleaned);
  void on_waiting(audio::PcmView frame);
  void on_running(audio::PcmView frame, bool voice);
  bool is_voice(audio::PcmView frame);
  void begin(audio::PcmView audio, int voiced_frames);
  void end_if_due();
  void end(bool truncated);
  void give(audio::PcmView audio);
  void flush();
};

bool SpeechDetector::State::is_voice(audio::PcmView frame) {
  sure <<= 1U;
  pitched <<= 1U;
  const float level = level_of(frame);
  const auto over = static_cast<double>(level - floor.level());
  const bool known = floor.known();
  floor.update(level);
  const bool voice = vad->is_voice(frame);
  // Whoever holds a button speaks, however quietly.
  if (mode == Mode::held || !settings.adaptive) {
    sure |= voice ? 1U : 0U;
    return voice;
  }
  voicing.add(frame);
  if (!voice || over < settings.min_snr_db) return false;
  const bool clear = known && over >= settings.min_snr_db + kClearDb;
  if (voicing.strength() >= kPitched) pitched |= 1U;
  if (clear || (pitched & 1U) != 0) sure |= 1U;
  return clear || (pitched & newest(kPitchFrames)) != 0;
}

void SpeechDetector::State::on_frame(audio::PcmView frame, audio::PcmView cleaned) {
  const bool voice = is_voice(frame);
  recent = recent << 1U | (voice ? 1U : 0U);
  history = history << 1U | (voice ? 1U : 0U);
  pre_roll.add(cleaned);
  if (running) {
    on_running(cleaned, voice);
  } else {
    on_waiting(cleaned);
  }
}

void SpeechDetector::State::on_waiting(audio::PcmView frame) {
  if (mode == Mode::held) return begin(frame, (history & 1U) != 0 ? 1 : 0);
  const auto window = history & newest(window_frames());
  const int voices = std::popcount(window);
  if (voices < start_frames || (history & 1U) == 0) return;
  if (std::popcount(window & sure) < std::min(start_frames, kSureFrames)) return;
  // From `pre_roll` before the first voice in the window.
  const auto frames = pre_roll_frames + static_cast<int>(std::bit_width(window));
  begin(pre_roll.last(kFrame * static_cast<std::size_t>(frames)), voices);
}

void SpeechDetector::State::begin(audio::PcmView audio, int voiced_frames) {
  running = true;
  length = audio.size();
  since_voice = 0;
  voiced = voiced_frames;
  if (listener.began) listener.began({audio});
}

void SpeechDetector::State::on_running(audio::PcmView frame, bool voice) {
  give(frame);
  if (!running) return;
  length += kFrame;
  since_voice += kFrame;
  if (voice) {
    ++voiced;
    since_voice = 0;
  }
  end_if_due();
}

void SpeechDetector::State::end_if_due() {
  if (mode == Mode::endpointing && time_of(since_voice) >= settings.end_silence) {
    end(false);
  } else if (time_of(length) >= settings.max_utterance) {
    stopped = mode == Mode::held;
    end(true);
  }
}

void SpeechDetector::State::end(bool truncated) {
  flush();
  if (!running) return;
  running = false;
  history = 0;
  Ended ended;
  if (!truncated && mode == Mode::endpointing) ended.trailing_silence = time_of(since_voice);
  ended.voiced = time_of(static_cast<std::size_t>(voiced) * kFrame);
  ended.too_short = ended.voiced < settings.min_speech;
  ended.truncated = truncated;
  // What was silence may hold the quiet beginning of what comes; words are not given twice.
  pre_roll.keep(truncated ? 0 : since_voice);
  if (listener.ended) listener.ended(ended);
}

void SpeechDetector::State::give(audio::PcmView audio) {
  if (!run.empty() && run.data() + run.size() == audio.data()) {
    run = {run.data(), run.size() + audio.size()};
    return;
  }
  flush();
  if (running) run = audio;
}

void SpeechDetector::State::flush() {
  const auto audio = std::exchange(run, {});
  if (running && !audio.empty() && listener.audio) listener.audio({audio});
}

SpeechDetector::SpeechDetector(const config::DetectorSettings& settings, std::unique_ptr<engine::Vad> vad,
                               Mode mode, Listener listener, NoiseFloor noise)
    : state_(new State(settings, std::move(vad), mode, std::move(listener)),
             [](State* state) { delete state; }) {
  state_->floor = noise;
}

void SpeechDetector::push(audio::PcmView samples) {
  push(samples, samples);
}

void SpeechDetector::push(audio::PcmView samples, audio::PcmView cleaned) {
  auto& state = *state_;
  samples = samples.first(std::min(samples.size(), cleaned.size()));
  const auto fill = [&](std::size_t count) {
    const auto at = static_cast<std::ptrdiff_t>(state.rest_size);
    std::ranges::copy(samples.first(count), state.rest.begin() + at);
    std::ranges::copy(cleaned.first(count), state.cleaned_rest.begin() + at);
    state.rest_size += count;
    samples = samples.subspan(count);
    cleaned = cleaned.subspan(count);
  };
  if (state.rest_size > 0 && !state.stopped) {
    fill(std::min(samples.size(), kFrame - state.rest_size));
    if (state.rest_size < kFrame) return;
    state.rest_size = 0;
    state.on_frame(state.rest, state.cleaned_rest);
  }
  // A listener may stop or reset from within.
  while (samples.size() >= kFrame && !state.stopped) {
    state.on_frame(samples.first(kFrame), cleaned.first(kFrame));
    samples = samples.subspan(kFrame);
    cleaned = cleaned.subspan(kFrame);
  }
  state.flush();
  if (!state.stopped) fill(samples.size());
}

void SpeechDetector::idle(Duration silence) {
  auto& state = *state_;
  if (!state.running || silence <= Duration::zero()) return;
  // Far beyond every limit, and far from an overflow.
  const auto counted = std::min(silence, Duration(std::chrono::hours(1)));
  const auto samples = audio::samples_in(std::chrono::duration_cast<Millis>(counted), audio::kListeningRate);
  state.length += samples;
  state.since_voice += samples;
  state.end_if_due();
}

void SpeechDetector::stop() {
  auto& state = *state_;
  if (state.stopped) return;
  state.stopped = true;
  if (state.running) {
    state.give(audio::PcmView(state.cleaned_rest).first(std::exchange(state.rest_size, 0)));
    state.end(false);
  } else {
    state.rest_size = 0;
    if (state.listener.ended) state.listener.ended({.too_short = true});
  }
}

void SpeechDetector::reset() {
  auto& state = *state_;
  state.vad->reset();
  state.pre_roll.keep(0);
  state.rest_size = 0;
  state.run = {};
  state.voicing = {};
  state.pitched = state.sure = state.recent = state.history = 0;
  state.running = false;
  state.stopped = false;
}

bool SpeechDetector::in_utterance() const {
  return state_->running;
}

Duration SpeechDetector::recent_voice() const {
  const auto frames = std::popcount(state_->recent & newest(frames_in(kRecentWindow)));
  return time_of(static_cast<std::size_t>(frames) * kFrame);
}

const NoiseFloor& SpeechDetector::noise() const {
  return state_->floor;
}

double SpeechDetector::noise_level_db() const {
  return static_cast<double>(state_->floor.level());
}

}  // namespace parley::turn
