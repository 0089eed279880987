#include "providers/pocketsphinx/decoder.hpp"

#include <pocketsphinx.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "providers/pocketsphinx/cepstra.hpp"
#include "providers/pocketsphinx/library.hpp"

namespace parley::providers::pocketsphinx {
namespace {

/// In frames: enough for a mean to be trusted, and what is left to decode when speech has ended.
constexpr std::size_t kMeanDelay = 150;
constexpr std::size_t kMeanLookAhead = 10;

constexpr const char* kSearch = "grammar";

struct FreeDecoder {
  void operator()(ps_decoder_t* decoder) const { ps_free(decoder); }
};
struct FreeConfig {
  void operator()(cmd_ln_t* config) const { cmd_ln_free_r(config); }
};
using DecoderHandle = std::unique_ptr<ps_decoder_t, FreeDecoder>;

using ConfigHandle = std::unique_ptr<cmd_ln_t, FreeConfig>;

ConfigHandle make_config(const DecoderOptions& options, int beam) {
  ConfigHandle config(cmd_ln_init(nullptr, ps_args(), FALSE, nullptr));
  cmd_ln_set_str_r(config.get(), "-hmm", options.model.c_str());
  cmd_ln_set_float_r(config.get(), "-beam", std::pow(10.0, -beam));
  cmd_ln_set_float_r(config.get(), "-pbeam", std::pow(10.0, -beam));
  cmd_ln_set_float_r(config.get(), "-wbeam", std::pow(10.0, -beam * 2.0 / 3.0));
  // JSGF gives each of n alternatives the probability 1/n; how a grammar is written must not matter that
  // much.
  cmd_ln_set_float_r(config.get(), "-lw", 1.0);
  cmd_ln_set_boolean_r(config.get(), "-remove_noise", options.remove_noise ? TRUE : FALSE);
  // Silence is the speech detector's business, and frames have to be counted.
  cmd_ln_set_boolean_r(config.get(), "-remove_silence", FALSE);
  return config;
}

/// A decoder with an empty dictionary and no search.
Result<DecoderHandle> make_handle(const DecoderOptions& options, cmd_ln_t& config) {
  DecoderHandle handle(ps_init(&config));
  if (!handle) {
    return Error(Errc::configuration, "the acoustic model " + options.model.string() +
                                          " cannot be loaded; install pocketsphinx-en-us or set `model`");
  }
  // RunningMean does it.
  ps_get_feat(handle.get())->cmn = CMN_NONE;
  return handle;
}

/// Adds what the decoder does not know yet.
Result<> add_words(ps_decoder_t& decoder, const Pronunciations& words, Pronunciations& known) {
  for (const auto& [word, variants] : words) {
    if (known.contains(word)) continue;
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const std::string name = i == 0 ? word : word + "(" + std::to_string(i + 1) + ")";
      if (ps_add_word(&decoder, name.c_str(), variants[i].c_str(), FALSE) < 0) {
        return Error(Errc::configuration, "the pronunciation \"" + variants[i] + "\" of \"" + word +
                                              "\" has phones that the acoustic model does not know");
      }
    }
    known.emplace(word, variants);
  }
  return {};
}

Result<> set_jsgf(ps_decoder_t& decoder, const std::string& jsgf) {
  ps_unset_search(&decoder, kSearch);
  last_complaint().clear();
  if (ps_set_jsgf_string(&decoder, kSearch, jsgf.c_str()) < 0 || ps_set_search(&decoder, kSearch) < 0) {
    std::string message = "the speech grammar is not valid";
    if (!last_complaint().empty()) message += ": " + last_complaint();
    return Error(Errc::configuration, std::move(message));
  }
  return {};
}

/// Any phones in any order. Phones without context, and every second frame's acoustics for two: three times
/// as cheap as more, and as good at telling commands from other speech.
Result<DecoderHandle> make_phone_loop(const DecoderOptions& options) {
  auto config = make_config(options, 20);
  cmd_ln_set_boolean_r(config.get(), "-allphone_ci", TRUE);
  cmd_ln_set_int_r(config.get(), "-ds", 2);
  auto handle = make_handle(options, *config);
  if (handle.has_error()) return handle.error();
  if (ps_set_allphone_file(handle->get(), kSearch, nullptr) < 0 ||
      ps_set_search(handle->get(), kSearch) < 0) {
    return Error(Errc::internal, "pocketsphinx made no search for phones");
  }
  return handle;
}

class PocketsphinxDecoder final : public Decoder {
 public:
  PocketsphinxDecoder(DecoderHandle grammar, DecoderHandle loop)
      : decoder_(std::move(grammar)), loop_(std::move(loop)), front_end_(ps_get_fe(decoder_.get())) {}
  PocketsphinxDecoder(const PocketsphinxDecoder&) = delete;
  PocketsphinxDecoder& operator=(const PocketsphinxDecoder&) = delete;
  PocketsphinxDecoder(PocketsphinxDecoder&&) = delete;
  PocketsphinxDecoder& operator=(PocketsphinxDecoder&&) = delete;
  ~PocketsphinxDecoder() override = default;

  Result<> set_grammar(const engine::SpeechGrammar& grammar, const Pronunciations& pronunciations) override {
    end();
    const std::scoped_lock lock(setup_mutex());
    grammar_id_.clear();
    if (auto added = add_words(*decoder_, pronunciations, known_); added.has_error()) return added;
    if (auto set = set_jsgf(*decoder_, grammar.jsgf); set.has_error()) return set;
    grammar_id_ = grammar.id;
    return {};
  }

  bool accepts(const Pronunciations& pronunciations) const override {
    return std::all_of(pronunciations.begin(), pronunciations.end(), [this](const auto& entry) {
      const auto found = known_.find(entry.first);
      return found == known_.end() || found->second == entry.second;
    });
  }

  const std::string& grammar_id() const override { return grammar_id_; }

  void start() override {
    end();
    fe_start_stream(front_end_);
    ps_start_utt(decoder_.get());
    if (loop_) ps_start_utt(loop_.get());
    fe_start_utt(front_end_);
    mean_ = RunningMean(kMeanDelay, kMeanLookAhead);
    loudness_.clear();
    running_ = true;
  }

  void push(audio::PcmView samples) override {
    while (!samples.empty()) {
      const std::int16_t* next = samples.data();
      std::size_t left = samples.size();
      auto count = static_cast<std::int32_t>(rows_.size());
      std::int32_t unused = 0;
      if (fe_process_frames(front_end_, &next, &left, rows_.data(), &count, &unused) < 0) return;
      take(count);
      if (left == samples.size() && count == 0) return;
      samples = samples.last(left);
    }
    decode();
  }

  Heard finish() override {
    std::int32_t count = 0;
    fe_end_utt(front_end_, rows_.front(), &count);
    take(count);
    mean_.finish();
    decode();
    end();
    Heard heard;
    heard.frames = loudness_.size();
    if (loudness_.empty()) return heard;
    std::int32_t score = 0;
    if (const char* text = ps_get_hyp(decoder_.get(), &score)) heard.text = text;
    if (heard.text.empty()) return heard;
    look_at_words(heard);
    std::int32_t loop_score = 0;
    if (loop_ && heard.spoken_frames > 0 && ps_get_hyp(loop_.get(), &loop_score) != nullptr) {
      const auto better = static_cast<double>(score) - static_cast<double>(loop_score);
      heard.score = better / static_cast<double>(heard.spoken_frames);
    }
    return heard;
  }

 private:
  /// The first `count` of `rows_` are new.
  void take(std::int32_t count) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) mean_.push(block_.at(i));
  }

  void look_at_words(Heard& heard) const {
    std::vector<float> spoken;
    std::vector<float> silent;
    for (ps_seg_t* segment = ps_seg_iter(decoder_.get()); segment != nullptr;
         segment = ps_seg_next(segment)) {
      int first = 0;
      int last = 0;
      ps_seg_frames(segment, &first, &last);
      // `<sil>`, `[NOISE]`, `(NULL)` are no words.
      const bool word = std::strchr("<[(", *ps_seg_word(segment)) == nullptr;
      if (word) ++heard.words;
      for (auto i = static_cast<std::size_t>(std::max(first, 0)); std::cmp_less_equal(i, last); ++i) {
        if (i < loudness_.size()) (word ? spoken : silent).push_back(loudness_[i]);
      }
    }
    heard.spoken_frames = spoken.size();
    if (spoken.empty()) return;
    const auto middle = spoken.begin() + static_cast<std::ptrdiff_t>(spoken.size() / 2);
    std::nth_element(spoken.begin(), middle, spoken.end());
    const auto loud =
        std::count_if(silent.begin(), silent.end(), [&](float level) { return level > *middle; });
    heard.unexplained = static_cast<double>(loud) / static_cast<double>(spoken.size());
  }

  void decode() {
    while (true) {
      std::size_t count = 0;
      for (; count < block_.size(); ++count) {
        const auto frame = mean_.pop();
        if (!frame) break;
        block_.at(count) = *frame;
        loudness_.push_back(frame->front());
      }
      if (count == 0) return;
      const auto n = static_cast<int>(count);
      ps_process_cep(decoder_.get(), rows_.data(), n, FALSE, FALSE);
      if (loop_) ps_process_cep(loop_.get(), rows_.data(), n, FALSE, FALSE);
    }
  }

  void end() {
    if (!running_) return;
    running_ = false;
    ps_end_utt(decoder_.get());
    if (loop_) ps_end_utt(loop_.get());
  }

  using Block = std::array<Cepstrum, 32>;
  static std::array<float*, 32> rows_of(Block& block) {
    std::array<float*, 32> rows{};
    std::transform(block.begin(), block.end(), rows.begin(), [](Cepstrum& row) { return row.data(); });
    return rows;
  }

  const DecoderHandle decoder_;
  const DecoderHandle loop_;  // null: no scores
  fe_t* const front_end_;     // the decoder's own
  Pronunciations known_;
  std::string grammar_id_;
  RunningMean mean_{kMeanDelay, kMeanLookAhead};
  std::vector<float> loudness_;  // of every decoded frame: its first cepstrum
  bool running_ = false;
  Block block_{};
  std::array<float*, 32> rows_ = rows_of(block_);
};

Result<std::pair<DecoderHandle, DecoderHandle>> make_handles(const DecoderOptions& options) {
  const std::scoped_lock lock(setup_mutex());
  const auto config = make_config(options, options.beam);
  auto grammar = make_handle(options, *config);
  if (grammar.has_error()) return grammar.error();
  if (!options.score) return std::pair{std::move(*grammar), DecoderHandle()};
  auto loop = make_phone_loop(options);
  if (loop.has_error()) return loop.error();
  return std::pair{std::move(*grammar), std::move(*loop)};
}

}  // namespace

Result<std::unique_ptr<Decoder>> make_decoder(const DecoderOptions& options,
                                              const engine::SpeechGrammar& grammar,
                                              const Pronunciations& pronunciations) {
  auto handles = make_handles(options);
  if (handles.has_error()) return handles.error();
  auto decoder = std::make_unique<PocketsphinxDecoder>(std::move(handles->first), std::move(handles->second));
  if (auto set = decoder->set_grammar(grammar, pronunciations); set.has_error()) return set.error();
  return std::unique_ptr<Decoder>(std::move(decoder));
}

}  // namespace parley::providers::pocketsphinx
