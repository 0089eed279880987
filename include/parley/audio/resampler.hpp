#pragma once

#include <memory>
#include <vector>

#include "parley/audio/pcm.hpp"
#include "parley/core/error.hpp"

namespace parley::audio {

/// Streaming sample-rate conversion (speexdsp, quality 3: 1.5 ms delay). Equal rates copy.
class Resampler {
 public:
  static Result<Resampler> make(int from, int to);

  /// Appends what `input` becomes to `output`.
  void process(PcmView input, std::vector<std::int16_t>& output);
  /// Appends what the filter still holds; the next process() starts anew.
  void flush(std::vector<std::int16_t>& output);

  int from() const { return from_; }
  int to() const { return to_; }

 private:
  struct Free {
    void operator()(void* state) const;
  };
  Resampler(void* state, int from, int to);
  std::unique_ptr<void, Free> state_;
  int from_;
  int to_;
};

}  // namespace parley::audio
