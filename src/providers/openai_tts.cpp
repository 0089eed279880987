#include "parley/providers/openai_tts.hpp"

#include <utility>

namespace parley::providers {
namespace {

using nlohmann::json;

class OpenAiTts final : public engine::TtsProvider {
 public:
  explicit OpenAiTts(OpenAiTtsSettings settings) : settings_(std::move(settings)) {}

  Task<Result<std::unique_ptr<engine::TtsStream>>> speak(engine::TtsRequest request) override {
    json body = {{"model", settings_.model},
                 {"input", request.text},
                 {"voice", request.voice.empty() ? settings_.voice : request.voice},
                 {"response_format", "pcm"}};
    engine::add_extra(body, settings_.extra_body);
    auto asked = engine::http_post(*settings_.endpoint, "/audio/speech", "application/json",
                                   body.dump(-1, ' ', false, json::error_handler_t::replace));
    return engine::http_speech(settings_.endpoint, std::move(asked), settings_.sample_rate);
  }

  void connect_ahead(const asio::any_io_executor& executor) override {
    const auto& endpoint = *settings_.endpoint;
    net::http_client(executor).connect_ahead(endpoint.base_url, endpoint.deadlines.connect);
  }

 private:
  OpenAiTtsSettings settings_;
};

}  // namespace

std::shared_ptr<engine::TtsProvider> make_openai_tts(OpenAiTtsSettings settings) {
  return std::make_shared<OpenAiTts>(std::move(settings));
}

std::shared_ptr<engine::TtsProvider> openai_tts_from_config(const config::Node& node,
                                                            const engine::EngineContext& /*context*/) {
  OpenAiTtsSettings settings;
  settings.endpoint = std::make_shared<const engine::HttpEndpoint>(
      engine::http_endpoint_from_config(node, "https://api.openai.com/v1", "Authorization", "Bearer "));
  settings.model = node.require("model");
  settings.voice = node.require("voice");
  settings.sample_rate = node.get("sample_rate", settings.sample_rate, 8000, 48000);
  settings.extra_body = engine::extra_body_from_config(node);
  return make_openai_tts(std::move(settings));
}

}  // namespace parley::providers
