#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "parley/engine/registry.hpp"
#include "parley/engine/websocket_endpoint.hpp"

namespace parley::providers {

struct FunAsrSettings {
  engine::WebSocketEndpoint endpoint;
  std::string mode = "2pass";  ///< or online, offline
  /// What is looked back at, decoded at once and looked ahead at, in steps of 60 ms.
  std::vector<int> chunk_size{5, 10, 5};
  bool itn = true;                                     ///< numbers as digits
  nlohmann::json hotwords = nlohmann::json::object();  ///< word → weight
  /// How long a server that does not mark its last result is silent when it has said everything.
  Millis settle{500};
  nlohmann::json extra_body = nlohmann::json::object();  ///< added to the first message
  /// The clock on an I/O thread.
  std::function<std::shared_ptr<Scheduler>(const asio::any_io_executor&)> clock = make_asio_scheduler;
};

/// A recogniser behind FunASR's WebSocket protocol (its `runtime/docs/websocket_protocol.md`), one connection
/// for each utterance: audio goes up while somebody speaks, texts come down as partial results.
std::shared_ptr<engine::AsrProvider> make_funasr(FunAsrSettings settings);

/// Keys: mode, chunk_size, itn, hotwords, settle, extra_body, and those of websocket_endpoint_from_config().
std::shared_ptr<engine::AsrProvider> funasr_from_config(const config::Node& node,
                                                        const engine::EngineContext& context);

}  // namespace parley::providers
