#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "parley/audio/pcm.hpp"
#include "parley/core/error.hpp"
#include "parley/engine/asr.hpp"
#include "providers/pocketsphinx/lexicon.hpp"

namespace parley::providers::pocketsphinx {

struct DecoderOptions {
  std::filesystem::path model;
  int beam = 60;  ///< PocketsphinxSettings::beam
  bool remove_noise = false;
  /// Also hears the utterance as phones in any order, for Heard::score.
  bool score = true;
};

/// What was heard of one utterance.
struct Heard {
  std::string text;  ///< empty: nothing of the grammar
  std::size_t words = 0;
  std::size_t frames = 0;         ///< of 10 ms, all
  std::size_t spoken_frames = 0;  ///< in words
  /// How much better the grammar explains a spoken frame than phones in any order. 0 without
  /// DecoderOptions::score.
  double score = 0;
  /// Frames taken for silence though louder than half of the spoken ones, per spoken frame: speech that the
  /// grammar has no words for.
  double unexplained = 0;
};

/// One pocketsphinx decoder (with the one for scores): hears one utterance after another against one grammar.
/// Used by one thread at a time. Frames are normalised by their own utterance alone: nothing of one speaker
/// reaches the next.
class Decoder {
 public:
  virtual ~Decoder() = default;

  /// Hears `grammar` from now on: 4 ms instead of the 20 ms of a new decoder. After an error it is of no use.
  virtual Result<> set_grammar(const engine::SpeechGrammar& grammar,
                               const Pronunciations& pronunciations) = 0;
  /// Whether set_grammar() can be called: false when a word has been learnt with another pronunciation.
  virtual bool accepts(const Pronunciations& pronunciations) const = 0;
  virtual const std::string& grammar_id() const = 0;

  /// Begins an utterance; ends the last one if it was not ended.
  virtual void start() = 0;
  /// 16 kHz mono.
  virtual void push(audio::PcmView samples) = 0;
  virtual Heard finish() = 0;
};

/// Errc::configuration when the model is missing or the grammar broken. Takes some 20 ms.
Result<std::unique_ptr<Decoder>> make_decoder(const DecoderOptions& options,
                                              const engine::SpeechGrammar& grammar,
                                              const Pronunciations& pronunciations);

}  // namespace parley::providers::pocketsphinx
