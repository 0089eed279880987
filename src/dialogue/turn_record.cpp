#include "parley/dialogue/turn_record.hpp"

#include <algorithm>
#include <cmath>

namespace parley::dialogue {
namespace {

/// Microseconds are enough for people and keep the lines short.
double rounded(double ms) {
  return std::round(ms * 1000) / 1000;
}

}  // namespace

std::optional<double> TurnRecord::added_ms() const {
  if (!endpoint_decided || !first_frame) return std::nullopt;
  auto waits = waits_;
  std::ranges::sort(waits, {}, &Wait::from);
  auto covered_to = *endpoint_decided;
  Duration waited{};
  for (const auto& wait : waits) {
    const auto from = std::max(wait.from, covered_to);
    const auto to = std::min(wait.to, *first_frame);
    if (to <= from) continue;
    waited += to - from;
    covered_to = to;
  }
  return rounded(to_ms(*first_frame - *endpoint_decided - waited));
}

nlohmann::ordered_json TurnRecord::times() const {
  nlohmann::ordered_json out;
  if (!speech_ended) return out;
  const auto put = [&](const char* name, const std::optional<TimePoint>& at) {
    if (at) out[name] = rounded(to_ms(*at - *speech_ended));
  };
  put("endpoint_ms", endpoint_decided);
  put("asr_final_ms", asr_final);
  put("llm_first_text_ms", llm_first_text);
  put("tts_first_audio_ms", tts_first_audio);
  put("first_frame_ms", first_frame);
  put("last_frame_ms", last_frame);
  put("tts_stop_ms", tts_stop);
  if (const auto added = added_ms()) out["added_ms"] = *added;
  if (draft_saved) out["draft_saved_ms"] = rounded(to_ms(*draft_saved));
  if (drafts_dropped > 0) out["drafts_dropped"] = drafts_dropped;
  out["tools"] = nlohmann::ordered_json::array();
  for (const auto& tool : tools) {
    out["tools"].push_back({{"name", tool.name},
                            {"where", tool.where},
                            {"ended_ms", rounded(to_ms(tool.ended - *speech_ended))},
                            {"took_ms", rounded(to_ms(tool.took))},
                            {"ok", tool.ok}});
  }
  return out;
}

}  // namespace parley::dialogue
