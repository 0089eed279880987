#pragma once

#include <memory>
#include <string>
#include <vector>

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

/// Asks the first engine; one that fails before its first event hands over to the next. Every failure is
/// counted and logged with the engine's name. `engines` is not empty. A recogniser's audio is kept for its
/// successor, 30 s at most.
std::shared_ptr<AsrProvider> with_fallback(std::vector<Named<AsrProvider>> engines,
                                           std::shared_ptr<Metrics> metrics);
std::shared_ptr<LlmProvider> with_fallback(std::vector<Named<LlmProvider>> engines,
                                           std::shared_ptr<Metrics> metrics);
std::shared_ptr<TtsProvider> with_fallback(std::vector<Named<TtsProvider>> engines,
                                           std::shared_ptr<Metrics> metrics);

}  // namespace parley::engine
