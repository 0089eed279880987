#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "parley/config/node.hpp"
#include "parley/core/worker_pool.hpp"
#include "parley/engine/asr.hpp"
#include "parley/engine/llm.hpp"
#include "parley/engine/tts.hpp"
#include "parley/engine/vad.hpp"

namespace parley::engine {

/// What factories may use. Outlives every provider.
struct EngineContext {
  std::shared_ptr<WorkerPool> workers;
};

/// Makes a provider from its block in the YAML: reads every key it knows through `node` (`type` is read
/// already) and throws Failure, by node.fail(), where a value is wrong. The caller calls node.finish().
template <class Provider>
using Factory =
    std::function<std::shared_ptr<Provider>(const config::Node& node, const EngineContext& context)>;

/// YAML `type` → factory, one table a role. Filled once at start by server/app.
struct Registry {
  std::map<std::string, Factory<VadProvider>> vad;
  std::map<std::string, Factory<AsrProvider>> asr;
  std::map<std::string, Factory<LlmProvider>> llm;
  std::map<std::string, Factory<TtsProvider>> tts;
};

}  // namespace parley::engine
