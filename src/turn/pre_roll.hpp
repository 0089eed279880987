#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parley/audio/pcm.hpp"

namespace parley::turn {

/// The newest audio, for the beginning of the next utterance: a ring of a fixed size.
class PreRoll {
 public:
  /// `samples`: 0 keeps nothing.
  explicit PreRoll(std::size_t samples) : ring_(samples) {}

  void add(audio::PcmView audio) {
    if (audio.size() > ring_.size()) audio = audio.last(ring_.size());
    const auto first = audio.first(std::min(audio.size(), ring_.size() - next_));
    const auto wrapped = audio.subspan(first.size());
    std::ranges::copy(first, ring_.begin() + static_cast<std::ptrdiff_t>(next_));
    std::ranges::copy(wrapped, ring_.begin());
    next_ += audio.size();
    if (next_ >= ring_.size()) next_ -= ring_.size();
    filled_ = std::min(filled_ + audio.size(), ring_.size());
  }

  /// The newest `samples`, or what there is of them; valid until the next add().
  audio::PcmView last(std::size_t samples) {
    std::ranges::rotate(ring_, ring_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
    return audio::PcmView(ring_).last(std::min(samples, filled_));
  }

  /// Forgets all but the newest `samples`.
  void keep(std::size_t samples) { filled_ = std::min(filled_, samples); }

 private:
  std::vector<std::int16_t> ring_;
  std::size_t next_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace parley::turn
