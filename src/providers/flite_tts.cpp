#include "parley/providers/flite_tts.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/this_coro.hpp>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <set>
#include <utility>

#include "parley/core/log.hpp"
#include "parley/core/mailbox.hpp"

extern "C" {
#include <flite/flite.h>
cst_voice* register_cmu_us_slt(const char* voxdir);
cst_voice* register_cmu_us_rms(const char* voxdir);
}

namespace parley::providers {
namespace {

constexpr int kRate = 16000;
constexpr std::size_t kMaxSamples = 60U * kRate;
/// One downlink frame: what is heard first is ready first.
constexpr int kChunkSamples = kRate * 60 / 1000;
/// flite puts 140 to 230 ms of silence before the first sound; this much of it stays.
constexpr std::size_t kLeadSamples = kRate * 40 / 1000;
constexpr int kSilentAmplitude = 150;

/// Voices are data of the process: made once, then only read, by any number of threads.
struct Voices {
  cst_voice* slt = nullptr;
  cst_voice* rms = nullptr;
};

const Voices& voices() {
  static const Voices all = [] {
    flite_init();
    return Voices{register_cmu_us_slt(nullptr), register_cmu_us_rms(nullptr)};
  }();
  return all;
}

cst_voice* find_voice(std::string_view name) {
  if (name == "slt") return voices().slt;
  if (name == "rms") return voices().rms;
  return nullptr;
}

constexpr std::size_t kMaxPart = 160;

/// Takes the pieces of one synthesis; returns false to stop it.
using Sink = std::function<bool(audio::PcmView)>;

int on_piece(const cst_wave* wave, int start, int size, int /*last*/, cst_audio_streaming_info* info) {
  const auto& sink = *static_cast<const Sink*>(info->userdata);
  const audio::PcmView piece(wave->samples + start, static_cast<std::size_t>(size));
  return sink(piece) ? CST_AUDIO_STREAM_CONT : CST_AUDIO_STREAM_STOP;
}

/// False when flite failed. `text` comes from flite_speakable(): flite ends the process on some input.
bool synthesize(const std::string& text, cst_voice* voice, double speed, const Sink& sink) {
  cst_utterance* utterance = new_utterance();
  cst_audio_streaming_info* info = new_audio_streaming_info();
  info->min_buffsize = kChunkSamples;
  info->asc = on_piece;
  info->userdata = const_cast<Sink*>(&sink);  // NOLINT(cppcoreguidelines-pro-type-const-cast): only read.
  // On the utterance, not on the voice: that one is shared. The utterance owns `info` from here on.
  feat_set(utterance->features, "streaming_info", audio_streaming_info_val(info));
  if (speed != 1.0) feat_set_float(utterance->features, "duration_stretch", static_cast<float>(1.0 / speed));
  utt_set_input_text(utterance, text.c_str());
  const bool done = flite_do_synth(utterance, voice, utt_synth) != nullptr;
  if (done) delete_utterance(utterance);
  return done;
}

/// Where to cut `text` so that the first part has at most kMaxPart characters: after a sentence, else after a
/// clause, else at a blank.
std::size_t part_length(std::string_view text) {
  if (text.size() <= kMaxPart) return text.size();
  for (const std::string_view ends : {".!?", ",;:", ""}) {
    for (std::size_t at = kMaxPart; at > kMaxPart / 4; --at) {
      if (text[at] == ' ' && (ends.empty() || ends.find(text[at - 1]) != std::string_view::npos))
        return at + 1;
    }
  }
  return kMaxPart;
}

/// Part by part: flite makes nothing audible, and hears of no stop, before it has analysed a whole utterance.
bool synthesize_parts(std::string_view text, cst_voice* voice, double speed,
                      const std::function<Sink()>& sink_of_part) {
  bool wanted = true;
  while (!text.empty() && wanted) {
    const auto length = part_length(text);
    const Sink sink = [&wanted, part = sink_of_part()](audio::PcmView piece) { return wanted = part(piece); };
    if (!synthesize(std::string(text.substr(0, length)), voice, speed, sink)) return false;
    text.remove_prefix(length);
  }
  return true;
}

struct Speech {
  std::shared_ptr<Mailbox<engine::TtsAudio>> mailbox;
  std::atomic<bool> abandoned{false};
};

/// Holds back the silence before the first sound, but for its last kLeadSamples.
class LeadTrimmer {
 public:
  /// What of `piece`, and of what was held back, is to be heard.
  std::vector<std::int16_t> trim(audio::PcmView piece) {
    held_.insert(held_.end(), piece.begin(), piece.end());
    if (!sounding_) {
      const auto sound = std::find_if(held_.begin(), held_.end(), [](std::int16_t sample) {
        return std::abs(sample) > kSilentAmplitude;
      });
      sounding_ = sound != held_.end();
      const auto silent = static_cast<std::size_t>(sound - held_.begin());
      if (silent > kLeadSamples) {
        held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(silent - kLeadSamples));
      }
      if (!sounding_) return {};
    }
    return std::exchange(held_, {});
  }

 private:
  std::vector<std::int16_t> held_;
  bool sounding_ = false;
};

void speak_into(Speech& speech, const std::string& text, cst_voice* voice, double speed) {
  std::size_t sent = 0;
  const auto sink_of_part = [&]() -> Sink {
    return [&, trimmer = std::make_shared<LeadTrimmer>()](audio::PcmView piece) {
      if (speech.abandoned.load(std::memory_order_relaxed)) return false;
      engine::TtsAudio audio;
      audio.pcm.rate = kRate;
      audio.pcm.samples = trimmer->trim(piece.first(std::min(piece.size(), kMaxSamples - sent)));
      if (!audio.pcm.samples.empty()) {
        audio.ready_at = Clock::now();
        speech.mailbox->send(std::move(audio));
      }
      sent += piece.size();
      return sent < kMaxSamples;
    };
  };
  if (synthesize_parts(text, voice, speed, sink_of_part)) {
    speech.mailbox->close();
  } else {
    speech.mailbox->fail(Error(Errc::internal, "flite could not synthesise the sentence"));
  }
}

class FliteStream final : public engine::TtsStream {
 public:
  explicit FliteStream(std::shared_ptr<Speech> speech) : speech_(std::move(speech)) {}
  FliteStream(const FliteStream&) = delete;
  FliteStream& operator=(const FliteStream&) = delete;
  FliteStream(FliteStream&&) = delete;
  FliteStream& operator=(FliteStream&&) = delete;
  ~FliteStream() override { speech_->abandoned.store(true, std::memory_order_relaxed); }

  Task<Result<std::optional<engine::TtsAudio>>> next() override { return speech_->mailbox->next(); }

 private:
  std::shared_ptr<Speech> speech_;
};

class FliteTts final : public engine::TtsProvider {
 public:
  FliteTts(FliteSettings settings, std::shared_ptr<WorkerPool> workers)
      : settings_(std::move(settings)), workers_(std::move(workers)), default_(find_voice(settings_.voice)) {
    if (default_ == nullptr) {
      throw Failure(Error(Errc::configuration, "flite has the voices slt and rms, not " + settings_.voice));
    }
  }

  Task<Result<std::unique_ptr<engine::TtsStream>>> speak(engine::TtsRequest request) override {
    auto speech = std::make_shared<Speech>();
    speech->mailbox = Mailbox<engine::TtsAudio>::make(co_await asio::this_coro::executor);
    std::string text = flite_speakable(request.text);
    if (text.empty()) {
      speech->mailbox->close();
    } else {
      cst_voice* voice = voice_for(request.voice);
      const double speed = settings_.speed;
      auto submitted = workers_->submit([speech, text = std::move(text), voice, speed] {
        if (!speech->abandoned.load(std::memory_order_relaxed)) speak_into(*speech, text, voice, speed);
      });
      if (submitted.has_error()) co_return submitted.error();
    }
    std::unique_ptr<engine::TtsStream> stream = std::make_unique<FliteStream>(std::move(speech));
    co_return stream;
  }

 private:
  cst_voice* voice_for(const std::string& name) {
    if (name.empty()) return default_;
    if (cst_voice* voice = find_voice(name)) return voice;
    constexpr std::size_t max_remembered = 16;
    const std::scoped_lock lock(mutex_);
    if (unknown_.size() < max_remembered && unknown_.insert(name).second) {
      log::warn("flite has no such voice; its default speaks",
                {{"voice", name}, {"default", settings_.voice}});
    }
    return default_;
  }

  const FliteSettings settings_;
  const std::shared_ptr<WorkerPool> workers_;
  cst_voice* const default_;
  std::mutex mutex_;
  std::set<std::string> unknown_;
};

}  // namespace

std::shared_ptr<engine::TtsProvider> make_flite(FliteSettings settings, std::shared_ptr<WorkerPool> workers) {
  return std::make_shared<FliteTts>(std::move(settings), std::move(workers));
}

std::shared_ptr<engine::TtsProvider> flite_from_config(const config::Node& node,
                                                       const engine::EngineContext& context) {
  FliteSettings settings;
  settings.voice = node.get_choice("voice", settings.voice, {"slt", "rms"});
  settings.speed = node.get("speed", settings.speed, 0.25, 4.0);
  return make_flite(std::move(settings), context.workers);
}

Result<audio::Pcm> flite_synthesize(std::string_view text, std::string_view voice) {
  cst_voice* found = find_voice(voice);
  if (found == nullptr) {
    return Error(Errc::invalid_input, "flite has the voices slt and rms, not " + std::string(voice));
  }
  audio::Pcm pcm;
  pcm.rate = kRate;
  const std::string speakable = flite_speakable(text);
  if (speakable.empty()) return pcm;
  const Sink sink = [&pcm](audio::PcmView piece) {
    piece = piece.first(std::min(piece.size(), kMaxSamples - pcm.samples.size()));
    pcm.samples.insert(pcm.samples.end(), piece.begin(), piece.end());
    return pcm.samples.size() < kMaxSamples;
  };
  if (!synthesize_parts(speakable, found, 1.0, [&sink] { return sink; })) {
    return Error(Errc::internal, "flite could not synthesise the sentence");
  }
  return pcm;
}

}  // namespace parley::providers
