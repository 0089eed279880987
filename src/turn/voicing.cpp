#include "voicing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace parley::turn {
namespace {

// In eight sums, because the compiler may not reorder one.
template <std::size_t kCount>
float dot(const float* a, const float* b) {
  constexpr std::size_t kLanes = 8;
  static_assert(kCount % kLanes == 0);
  std::array<float, kLanes> sums{};
  for (std::size_t i = 0; i < kCount; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0F);
}

}  // namespace

void Voicing::add(audio::PcmView frame) {
  std::copy(heard_.begin() + kFrame, heard_.end(), heard_.begin());
  auto out = heard_.end() - kFrame;
  // The mean of means of four samples: cheap, and enough of a low-pass for a decision.
  for (std::size_t at = 0; at + kDecimation <= frame.size(); at += kDecimation) {
    float sum = 0;
    for (std::size_t i = 0; i < kDecimation; ++i) sum += static_cast<float>(frame[at + i]);
    std::shift_left(sums_.begin(), sums_.end(), 1);
    sums_.back() = sum;
    *out++ = sums_[kDecimation - 1] + sums_[kDecimation - 2];
  }
}

float Voicing::strength() const {
  // Rounding noise is no voice.
  constexpr float kLeast = 1000.0F;
  const float* const newest = heard_.data() + kLongest;
  const float energy = dot<kWindow>(newest, newest) + kLeast;
  float earlier_energy = dot<kWindow>(newest - kShortest, newest - kShortest) + kLeast;
  float best = 0;
  for (std::size_t lag = kShortest; lag <= kLongest; ++lag) {
    const float* const earlier = newest - lag;
    const float both = dot<kWindow>(newest, earlier);
    // Compared as squares: one root in all instead of one a lag.
    if (both > 0) best = std::max(best, both * both / (energy * std::max(earlier_energy, kLeast)));
    if (lag == kLongest) break;
    const float entering = earlier[-1];
    const float leaving = earlier[kWindow - 1];
    earlier_energy += entering * entering - leaving * leaving;
  }
  return std::min(std::sqrt(best), 1.0F);
}

}  // namespace parley::turn
