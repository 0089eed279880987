#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/core/metrics.hpp"
#include "parley/engine/asr.hpp"
#include "parley/engine/llm.hpp"
#include "parley/engine/tts.hpp"

// Resilience by decoration: sessions see one provider a role.
namespace parley::engine {

template <class Provider>
struct Named {
  std::string name;  ///< of the block in the YAML
  std::shared_ptr<Provider> provider;
};

/// How long an engine may take before it counts as failed.
struct Patience {
  /// asr: to open, and from finish() to the result; llm, tts: to the first event, and between events.
  Millis limit;
  /// The clock on an I/O thread.
  std::function<std::shared_ptr<Scheduler>(const asio::any_io_executor&)> clock = make_asio_scheduler;
};

/// Asks the first engine; one that fails, or is silent beyond `patience`, before its first event hands over
/// to the next. Every failure is counted and logged with the engine's name. `engines` is not empty. A
/// recogniser's audio is kept for its successor, 30 s at most, and its partial results do not count as
/// events.
std::shared_ptr<AsrProvider> with_fallback(std::vector<Named<AsrProvider>> engines,
                                           std::shared_ptr<Metrics> metrics, Patience patience);
/// The same for models; and those in front of the last one get only the requests that they understand.
std::shared_ptr<LlmProvider> with_fallback(std::vector<Named<LlmProvider>> engines,
                                           std::shared_ptr<Metrics> metrics, Patience patience);
std::shared_ptr<TtsProvider> with_fallback(std::vector<Named<TtsProvider>> engines,
                                           std::shared_ptr<Metrics> metrics, Patience patience);

}  // namespace parley::engine
