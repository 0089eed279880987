#pragma once

#include <string>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/server/deployment.hpp"

namespace parley::server {

/// What became of one real request to an engine.
struct Probe {
  std::string role;
  std::string name;
  std::string type;
  Result<std::string> said;  ///< in short, what it answered
  Duration took{};  ///< to the result (asr, from the end of the audio), the first word (llm), sound (tts)
};

/// Asks every engine of the deployment once, one after the other, each from a cold start, for at most
/// `limit`. `speech`: 16 kHz, for the recognisers.
Task<std::vector<Probe>> probe_engines(const Deployment& deployment, const audio::Pcm& speech, Millis limit);

}  // namespace parley::server
