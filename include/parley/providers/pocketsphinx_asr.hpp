#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "parley/config/node.hpp"
#include "parley/core/error.hpp"
#include "parley/core/worker_pool.hpp"
#include "parley/engine/asr.hpp"
#include "parley/engine/registry.hpp"

namespace parley::providers {

struct PocketsphinxSettings {
  /// The acoustic model's directory.
  std::filesystem::path model = "/usr/share/pocketsphinx/model/en-us/en-us";
  /// Pronunciations, one `word PH ON ES` a line.
  std::filesystem::path dictionary = "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict";
  /// Utterances decoded at the same time, and decoders kept (5 to 10 MB each); more utterances wait, with
  /// their audio.
  std::size_t max_decoders = 32;
  /// The search keeps what is within this of the best, as a power of ten: 48 is fast, 80 finds little more.
  int beam = 60;
  /// The recogniser's own noise removal, for steady noise; it costs accuracy in the noises of a kitchen.
  bool remove_noise = false;

  /// Refuse speech that is nothing of the grammar, by any of the three limits.
  bool reject = true;
  /// How well the grammar has to explain a spoken frame (10 ms) compared with phones in any order, on
  /// average; lower accepts more.
  double min_score = -14.0;
  /// Frames taken for silence though they are as loud as the words, per spoken frame; higher accepts more.
  double max_unexplained = 0.5;
  /// Frames a word lasts on average.
  double max_frames_per_word = 70;
};

/// The embedded recogniser for what a SpeechGrammar allows. Decoding goes along with the audio on `workers`,
/// which outlive the streams; an utterance keeps 30 s of audio at most, what comes after is dropped. A stream
/// gives one event: final, with an empty text where nothing was understood, or rejected. open() fails with
/// Errc::unsupported without a grammar; next() with Errc::configuration where the model, the dictionary, the
/// grammar or the pronunciation of a word is missing or broken, Errc::overloaded when `workers` is full.
std::shared_ptr<engine::AsrProvider> make_pocketsphinx(PocketsphinxSettings settings,
                                                       std::shared_ptr<WorkerPool> workers);

/// Keys: `model`, `dictionary` (relative to the file), `max_decoders`, `beam`, `remove_noise`, `reject`,
/// `min_score`, `max_unexplained`, `max_frames_per_word`: as in PocketsphinxSettings.
PocketsphinxSettings pocketsphinx_settings(const config::Node& node);
std::shared_ptr<engine::AsrProvider> pocketsphinx_from_config(const config::Node& node,
                                                              const engine::EngineContext& context);

/// The words of the grammar without a pronunciation, neither in `dictionary` nor in the grammar's own,
/// sorted. Errc::configuration when the file cannot be read.
Result<std::vector<std::string>> words_without_pronunciation(const engine::SpeechGrammar& grammar,
                                                             const std::filesystem::path& dictionary);

/// The complaint about such words, for a person: names them and where in the YAML their pronunciations go.
std::string missing_pronunciations_message(const std::vector<std::string>& words);

}  // namespace parley::providers
