#include "providers/pocketsphinx/cepstra.hpp"

#include <algorithm>

namespace parley::providers::pocketsphinx {

std::optional<Cepstrum> RunningMean::pop() {
  const std::size_t heard = popped_ + waiting_.size();
  const std::size_t wanted = std::max(delay_, popped_ + look_ahead_ + 1);
  if (waiting_.empty() || (heard < wanted && !finished_)) return std::nullopt;
  for (; summed_ < std::min(wanted, heard); ++summed_) {
    const Cepstrum& frame = waiting_[summed_ - popped_];
    for (std::size_t i = 0; i < frame.size(); ++i) sum_.at(i) += static_cast<double>(frame.at(i));
  }
  Cepstrum frame = waiting_.front();
  waiting_.pop_front();
  ++popped_;
  for (std::size_t i = 0; i < frame.size(); ++i) {
    frame.at(i) -= static_cast<float>(sum_.at(i) / static_cast<double>(summed_));
  }
  return frame;
}

}  // namespace parley::providers::pocketsphinx
