#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <optional>

namespace parley::providers::pocketsphinx {

/// What the front end makes of 10 ms: 13 mel cepstra.
using Cepstrum = std::array<float, 13>;

/// Takes the mean of the utterance off its cepstra while they come. Frame t loses the mean of the first
/// max(delay, t + look_ahead + 1) frames, or of all where the utterance is shorter, whatever the pieces it
/// came in. (pocketsphinx gives live audio a fixed mean, which loses every fourth command in noise; this is
/// as good as the mean of the whole utterance and leaves next to no work for its end.)
class RunningMean {
 public:
  RunningMean(std::size_t delay, std::size_t look_ahead) : delay_(delay), look_ahead_(look_ahead) {}

  void push(const Cepstrum& frame) { waiting_.push_back(frame); }
  /// No more will be pushed: everything comes out.
  void finish() { finished_ = true; }
  /// The next frame without the mean, when its time has come.
  std::optional<Cepstrum> pop();

 private:
  std::size_t delay_;
  std::size_t look_ahead_;
  std::array<double, 13> sum_{};
  std::size_t summed_ = 0;  // frames in `sum_`
  std::size_t popped_ = 0;
  std::deque<Cepstrum> waiting_;
  bool finished_ = false;
};

}  // namespace parley::providers::pocketsphinx
