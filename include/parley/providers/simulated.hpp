#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parley/config/node.hpp"
#include "parley/engine/registry.hpp"

// Engines that take a configured time and no processor, and say what they are told: for benchmarks and tests.
// What they deliver is stamped with the instant at which it was due, so lateness of our own loop is never
// taken for theirs.
namespace parley::providers {

struct SimulatedAsrSettings {
  std::vector<std::string> texts{"hello"};  ///< heard in turn, over all streams
  Millis delay{100};                        ///< from finish() to the result
  /// Each so much audio, one more word is a partial result; zero: there are none.
  Millis partials{0};
  bool reject = false;  ///< the result is a rejection
  bool fail = false;
};

struct SimulatedReply {
  std::string text;
  /// Asked for before the text is said; names as on the wire or as the model sees them.
  std::vector<engine::ToolCall> calls;
  bool end_conversation = false;
};

struct SimulatedLlmSettings {
  /// Which one answers is decided by the number of the user's messages.
  std::vector<SimulatedReply> replies{{"Hello.", {}, false}};
  Millis delay{300};              ///< to the first event
  double tokens_per_second = 60;  ///< deltas of four characters
  bool fail = false;
};

struct SimulatedTtsSettings {
  Millis delay{100};             ///< to the first audio
  Millis per_character{60};      ///< of audio
  double realtime_factor = 0.1;  ///< time that a piece of audio takes to be made, in its own length
  int rate = 24000;
  bool fail = false;
};

std::shared_ptr<engine::AsrProvider> make_simulated_asr(SimulatedAsrSettings settings);
std::shared_ptr<engine::LlmProvider> make_simulated_llm(SimulatedLlmSettings settings);
std::shared_ptr<engine::TtsProvider> make_simulated_tts(SimulatedTtsSettings settings);

/// Keys: text or texts, delay, partials, reject, fail.
std::shared_ptr<engine::AsrProvider> simulated_asr_from_config(const config::Node& node,
                                                               const engine::EngineContext& context);
/// Keys: replies (list of {text, tool_calls: [{name, arguments}], end_conversation}), delay,
/// tokens_per_second, fail.
std::shared_ptr<engine::LlmProvider> simulated_llm_from_config(const config::Node& node,
                                                               const engine::EngineContext& context);
/// Keys: delay, per_character, realtime_factor, rate, fail.
std::shared_ptr<engine::TtsProvider> simulated_tts_from_config(const config::Node& node,
                                                               const engine::EngineContext& context);

}  // namespace parley::providers
