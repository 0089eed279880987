#include "parley/audio/resampler.hpp"

#include <speex/speex_resampler.h>

#include <algorithm>
#include <string>

namespace parley::audio {
namespace {

constexpr int kQuality = 3;
constexpr int kHighestRate = 192000;
// Bounds one call of speexdsp, whose lengths have 32 bits.
constexpr std::size_t kBlock = 1U << 16U;

SpeexResamplerState* resampler(void* state) {
  return static_cast<SpeexResamplerState*>(state);
}

void convert(SpeexResamplerState* state, PcmView input, std::size_t from, std::size_t to,
             std::vector<std::int16_t>& output) {
  while (!input.empty()) {
    auto taken = static_cast<spx_uint32_t>(std::min(input.size(), kBlock));
    const std::size_t before = output.size();
    auto made = static_cast<spx_uint32_t>(taken * to / from + 2);
    output.resize(before + made);
    speex_resampler_process_int(state, 0, input.data(), &taken, output.data() + before, &made);
    output.resize(before + made);
    input = input.subspan(taken);
  }
}

}  // namespace

void Resampler::Free::operator()(void* state) const {
  speex_resampler_destroy(resampler(state));
}

Resampler::Resampler(void* state, int from, int to) : state_(state), from_(from), to_(to) {
}

Result<Resampler> Resampler::make(int from, int to) {
  const auto valid = [](int rate) { return rate > 0 && rate <= kHighestRate; };
  if (!valid(from) || !valid(to)) {
    return Error(Errc::unsupported,
                 "cannot resample from " + std::to_string(from) + " to " + std::to_string(to) + " Hz");
  }
  if (from == to) return Resampler(nullptr, from, to);
  int status = RESAMPLER_ERR_SUCCESS;
  auto* state = speex_resampler_init(1, static_cast<spx_uint32_t>(from), static_cast<spx_uint32_t>(to),
                                     kQuality, &status);
  if (state == nullptr) {
    return Error(Errc::overloaded,
                 std::string("cannot make a resampler: ") + speex_resampler_strerror(status));
  }
  speex_resampler_skip_zeros(state);
  return Resampler(state, from, to);
}

void Resampler::process(PcmView input, std::vector<std::int16_t>& output) {
  if (!state_) {
    output.insert(output.end(), input.begin(), input.end());
    return;
  }
  convert(resampler(state_.get()), input, static_cast<std::size_t>(from_), static_cast<std::size_t>(to_),
          output);
}

void Resampler::flush(std::vector<std::int16_t>& output) {
  if (!state_) return;
  auto* const state = resampler(state_.get());
  const std::vector<std::int16_t> silence(static_cast<std::size_t>(speex_resampler_get_input_latency(state)));
  convert(state, silence, static_cast<std::size_t>(from_), static_cast<std::size_t>(to_), output);
  speex_resampler_reset_mem(state);
  speex_resampler_skip_zeros(state);
}

}  // namespace parley::audio
