#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "parley/engine/registry.hpp"
#include "parley/engine/websocket_endpoint.hpp"

namespace parley::providers {

struct OpenAiRealtimeAsrSettings {
  engine::WebSocketEndpoint endpoint;
  std::string model;
  /// Empty: the device's; `auto`: the service finds out.
  std::string language;
  std::string prompt;  ///< words and names that are likely; may be empty
  Millis max_audio{60'000};
  /// Merged into the session (RFC 7396).
  nlohmann::json extra_body = nlohmann::json::object();
  /// The clock on an I/O thread.
  std::function<std::shared_ptr<Scheduler>(const asio::any_io_executor&)> clock = make_asio_scheduler;
};

/// A recogniser behind OpenAI's realtime transcription, one session for each utterance: audio goes up while
/// somebody speaks, and is committed when the utterance is over.
std::shared_ptr<engine::AsrProvider> make_openai_realtime_asr(OpenAiRealtimeAsrSettings settings);

/// Keys: model, language, prompt, max_audio, extra_body, and those of websocket_endpoint_from_config().
std::shared_ptr<engine::AsrProvider> openai_realtime_asr_from_config(const config::Node& node,
                                                                     const engine::EngineContext& context);

}  // namespace parley::providers
