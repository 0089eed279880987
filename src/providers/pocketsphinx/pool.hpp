#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "providers/pocketsphinx/decoder.hpp"

namespace parley::providers::pocketsphinx {

/// Waits for a decoder.
class Waiter {
 public:
  virtual ~Waiter() = default;
  /// A place for a decoder is this waiter's now (see DecoderPool::acquire()). Called once, on any thread,
  /// without locks. False: not wanted any more, nothing was taken.
  virtual bool offer(std::unique_ptr<Decoder>& decoder) = 0;
};

/// A limited number of places for decoders, each given to one utterance at a time, in the order of asking. A
/// place may be empty, or hold a decoder of another grammar: whoever gets it makes it fit. Thread-safe.
class DecoderPool {
 public:
  explicit DecoderPool(std::size_t places) : places_(places) {}

  /// A place: the decoder of this grammar used last, else a new place (null), else the decoder that has been
  /// idle for the longest time. nullopt: all are taken; `waiter`, if there is one, is offered a place when
  /// its turn comes.
  std::optional<std::unique_ptr<Decoder>> acquire(const std::string& grammar_id,
                                                  std::weak_ptr<Waiter> waiter);
  /// Gives a place back, with its decoder (null: it is broken or was never made).
  void release(std::unique_ptr<Decoder> decoder);
  /// Whether a decoder of this grammar is idle.
  bool has_idle(const std::string& grammar_id) const;

 private:
  const std::size_t places_;
  mutable std::mutex mutex_;
  std::size_t taken_ = 0;
  std::deque<std::unique_ptr<Decoder>> idle_;  // the one used last at the back
  std::deque<std::weak_ptr<Waiter>> waiting_;
};

}  // namespace parley::providers::pocketsphinx
