#include "parley/providers/elevenlabs_tts.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace parley::providers {
namespace {

using nlohmann::json;

constexpr std::array kRates{8000, 16000, 22050, 24000, 44100, 48000};

class ElevenLabsTts final : public engine::TtsProvider {
 public:
  explicit ElevenLabsTts(ElevenLabsTtsSettings settings) : settings_(std::move(settings)) {}

  Task<Result<std::unique_ptr<engine::TtsStream>>> speak(engine::TtsRequest request) override {
    json body = {{"text", request.text}, {"model_id", settings_.model}};
    engine::add_extra(body, settings_.extra_body);
    const auto& voice = request.voice.empty() ? settings_.voice : request.voice;
    auto asked = engine::http_post(
        *settings_.endpoint,
        "/v1/text-to-speech/" + net::url_escaped(voice) + (settings_.stream ? "/stream" : "") +
            "?output_format=pcm_" + std::to_string(settings_.sample_rate),
        "application/json", body.dump(-1, ' ', false, json::error_handler_t::replace));
    return engine::http_speech(settings_.endpoint, std::move(asked), settings_.sample_rate);
  }

  void connect_ahead(const asio::any_io_executor& executor) override {
    const auto& endpoint = *settings_.endpoint;
    net::http_client(executor).connect_ahead(endpoint.base_url, endpoint.deadlines.connect);
  }

 private:
  ElevenLabsTtsSettings settings_;
};

}  // namespace

std::shared_ptr<engine::TtsProvider> make_elevenlabs_tts(ElevenLabsTtsSettings settings) {
  return std::make_shared<ElevenLabsTts>(std::move(settings));
}

std::shared_ptr<engine::TtsProvider> elevenlabs_tts_from_config(const config::Node& node,
                                                                const engine::EngineContext& /*context*/) {
  ElevenLabsTtsSettings settings;
  settings.endpoint = std::make_shared<const engine::HttpEndpoint>(
      engine::http_endpoint_from_config(node, "https://api.elevenlabs.io", "xi-api-key", ""));
  settings.model = node.get("model", "eleven_flash_v2_5");
  settings.voice = node.require("voice");
  settings.sample_rate = node.get("sample_rate", settings.sample_rate, 8000, 48000);
  if (std::ranges::find(kRates, settings.sample_rate) == kRates.end())
    node.fail("sample_rate", "expected 8000, 16000, 22050, 24000, 44100 or 48000");
  settings.stream = node.get("stream", settings.stream);
  settings.extra_body = engine::extra_body_from_config(node);
  return make_elevenlabs_tts(std::move(settings));
}

}  // namespace parley::providers
