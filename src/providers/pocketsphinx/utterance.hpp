#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "parley/core/mailbox.hpp"
#include "parley/core/worker_pool.hpp"
#include "parley/engine/asr.hpp"
#include "parley/providers/pocketsphinx_asr.hpp"
#include "providers/pocketsphinx/pool.hpp"

namespace parley::providers::pocketsphinx {

/// What all utterances of a provider share.
struct Engine {
  Engine(PocketsphinxSettings engine_settings, WorkerPool& pool)
      : settings(std::move(engine_settings)),
        workers(pool),
        lexicon(settings.dictionary),
        decoders(settings.max_decoders) {}

  const PocketsphinxSettings settings;
  WorkerPool& workers;  // a job that held the last owner of its own pool could not join it
  Lexicon lexicon;
  DecoderPool decoders;

  /// Makes what is in a place hear `grammar`. An error leaves the place empty.
  Result<> prepare(std::unique_ptr<Decoder>& decoder, const engine::SpeechGrammar& grammar);
};

/// One utterance: audio comes from the I/O thread, one job at a time decodes it on the workers. A decoder is
/// taken from the first audio to the result; while none is free the audio waits.
class Utterance final : public Waiter, public std::enable_shared_from_this<Utterance> {
 public:
  using Event = engine::AsrEvent;

  Utterance(std::shared_ptr<Engine> engine, std::shared_ptr<const engine::SpeechGrammar> grammar,
            std::shared_ptr<Mailbox<Event>> mailbox)
      : engine_(std::move(engine)), grammar_(std::move(grammar)), mailbox_(std::move(mailbox)) {}

  void push(audio::PcmView samples);
  void finish();
  /// No result is wanted any more: the decoder goes back at once, or as soon as the running job sees it.
  void abandon();

  bool offer(std::unique_ptr<Decoder>& decoder) override;

 private:
  enum class Input { open, finished, abandoned };
  enum class Work {
    none,     ///< no job; a decoder may be held
    waiting,  ///< for a place in the pool
    running,  ///< a job is queued or runs; `decoder_` is its own
    done,     ///< the result is out, or not wanted
  };

  bool schedule_locked();
  void run();
  bool take_place();
  bool prepare();
  void decode(audio::PcmView samples);
  bool abandoned() const;
  Event judge(Heard heard) const;
  void end();

  const std::shared_ptr<Engine> engine_;
  const std::shared_ptr<const engine::SpeechGrammar> grammar_;
  const std::shared_ptr<Mailbox<Event>> mailbox_;

  mutable std::mutex mutex_;
  Input input_ = Input::open;
  Work work_ = Work::none;
  std::vector<std::int16_t> audio_;  // pushed, not yet decoded
  std::size_t accepted_ = 0;         // samples
  std::size_t dropped_ = 0;          // samples
  std::unique_ptr<Decoder> decoder_;
  bool has_place_ = false;
  bool prepared_ = false;
};

}  // namespace parley::providers::pocketsphinx
