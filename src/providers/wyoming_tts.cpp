#include "parley/providers/wyoming_tts.hpp"

#include <optional>
#include <utility>

#include "parley/audio/pcm_reader.hpp"
#include "providers/wyoming/ready_links.hpp"
#include "providers/wyoming/server_info.hpp"

namespace parley::providers {
namespace {

using engine::TtsAudio;
using engine::TtsStream;
using nlohmann::json;
using wyoming::Event;
using wyoming::Link;
using Streaming = WyomingTtsSettings::Streaming;

constexpr std::size_t kMaxUnsent = std::size_t{1024} * 1024;

/// Whether a sentence ends before the text does.
bool has_several_sentences(std::string_view text) {
  const auto end = text.find_last_not_of(" \t\r\n");
  for (const std::string_view mark : {". ", "! ", "? ", "\n", "。", "！", "？"}) {
    const auto at = text.find(mark);
    if (at != std::string_view::npos && end != std::string_view::npos && at + mark.size() <= end) return true;
  }
  return false;
}

/// One text, from the request to the end of its speech.
class Speech final : public TtsStream {
 public:
  Speech(std::unique_ptr<Link> link, std::string uri, bool streaming)
      : link_(std::move(link)), uri_(std::move(uri)), streaming_(streaming) {}

  Task<Result<std::optional<TtsAudio>>> next() override {
    while (true) {
      auto event = co_await link_->next();
      if (!event) co_return event.error();
      const auto arrived = Clock::now();
      if (event->type == "error") co_return wyoming::error_of(*event, uri_);
      if (event->type == "audio-start") {
        reader_.reset();
        if (auto taken = take_format(event->data); !taken) co_return taken.error();
      } else if (event->type == "audio-chunk") {
        if (auto taken = take_format(event->data); !taken) co_return taken.error();
        auto pcm = reader_->push(event->payload);
        if (!pcm) co_return pcm.error();
        if (pcm->samples.empty()) continue;
        heard_ = true;
        co_return TtsAudio{std::move(*pcm), arrived};
      } else if (event->type == (streaming_ ? "synthesize-stopped" : "audio-stop")) {
        link_.reset();
        if (heard_) co_return std::optional<TtsAudio>();
        co_return Error(Errc::unavailable, uri_ + " sent no audio", true);
      }
    }
  }

 private:
  Result<> take_format(const json& data) {
    const auto number = [&](const char* key) {
      const auto value = data.value(key, json());
      return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
    };
    const auto rate = number("rate");
    const auto width = number("width");
    const auto channels = number("channels");
    if (rate == 0 || width == 0 || channels == 0)
      return Error(Errc::invalid_input, uri_ + " sent audio without its rate, width and channels");
    constexpr std::uint64_t kLowest = 8000;
    constexpr std::uint64_t kHighest = 48000;
    if (width != 2 || channels > 2 || rate < kLowest || rate > kHighest) {
      return Error(Errc::unsupported,
                   uri_ + " sends audio of " + std::to_string(rate) + " Hz, " + std::to_string(8 * width) +
                       " bits, " + std::to_string(channels) +
                       " channels; 16 bits, one or two channels and 8000 to 48000 Hz are supported");
    }
    if (rate_ != 0 && rate != rate_)
      return Error(Errc::unsupported, uri_ + " changes the rate of its audio in the middle of a text");
    if (!reader_ || channels != channels_)
      reader_.emplace(static_cast<int>(rate), static_cast<int>(channels));
    rate_ = rate;
    channels_ = channels;
    return {};
  }

  std::unique_ptr<Link> link_;
  std::string uri_;
  bool streaming_;
  std::optional<audio::PcmReader> reader_;
  std::uint64_t rate_ = 0;
  std::uint64_t channels_ = 0;
  bool heard_ = false;
};

class WyomingTts final : public engine::TtsProvider {
 public:
  explicit WyomingTts(WyomingTtsSettings settings)
      : shared_(std::make_shared<const Shared>(std::move(settings))) {}

  Task<Result<std::unique_ptr<TtsStream>>> speak(engine::TtsRequest request) override {
    return speak_with(shared_, std::move(request));
  }

  void connect_ahead(const asio::any_io_executor& executor) override {
    const auto& endpoint = shared_->settings.endpoint;
    wyoming::ready_links(executor).prepare(executor, endpoint, kMaxUnsent);
    if (shared_->settings.streaming == Streaming::automatic || !shared_->settings.voice.empty())
      shared_->info->refresh(executor);
  }

 private:
  struct Shared {
    explicit Shared(WyomingTtsSettings with)
        : settings(std::move(with)),
          info(std::make_shared<wyoming::ServerInfo>(settings.endpoint, settings.voice)) {}
    const WyomingTtsSettings settings;
    const std::shared_ptr<wyoming::ServerInfo> info;
  };

  static bool streams(const Shared& shared, std::string_view text) {
    if (shared.settings.streaming != Streaming::automatic) return shared.settings.streaming == Streaming::on;
    // The text is whole already: streaming only helps servers that speak it sentence by sentence.
    return shared.info->supports_streaming() && has_several_sentences(text);
  }

  static std::unique_ptr<Speech> ask(const Shared& shared, std::unique_ptr<Link> link,
                                     const engine::TtsRequest& request) {
    const auto& settings = shared.settings;
    const auto& name = request.voice.empty() ? settings.voice : request.voice;
    auto voice = json::object();
    if (!name.empty()) voice["name"] = name;
    if (!settings.speaker.empty() && name == settings.voice) voice["speaker"] = settings.speaker;
    auto begin = json::object();
    if (!voice.empty()) begin["voice"] = voice;
    auto whole = begin;
    whole["text"] = request.text;
    const bool streaming = streams(shared, request.text);
    if (streaming) {
      link->send({"synthesize-start", std::move(begin), {}});
      link->send({"synthesize-chunk", {{"text", request.text}}, {}});
    }
    link->send({"synthesize", std::move(whole), {}});
    if (streaming) link->send({"synthesize-stop", json::object(), {}});
    link->expect_answer();
    return std::make_unique<Speech>(std::move(link), settings.endpoint.uri(), streaming);
  }

  /// With its first audio.
  static Task<Result<std::unique_ptr<TtsStream>>> begin(std::unique_ptr<TtsStream> speech) {
    auto first = co_await speech->next();
    if (!first) co_return first.error();
    co_return std::make_unique<engine::BegunStream<TtsAudio>>(std::move(speech), std::move(*first));
  }

  static Task<Result<std::unique_ptr<TtsStream>>> speak_with(std::shared_ptr<const Shared> shared,
                                                             engine::TtsRequest request) {
    const auto executor = co_await asio::this_coro::executor;
    const auto& endpoint = shared->settings.endpoint;
    // Named: it has to outlive the coroutine that it starts.
    const std::function<Task<Result<std::unique_ptr<TtsStream>>>()> attempt =
        [&]() -> Task<Result<std::unique_ptr<TtsStream>>> {
      if (auto ready = wyoming::ready_links(executor).take(endpoint)) {
        auto speech = co_await begin(ask(*shared, std::move(ready), request));
        // The server may have given the connection up in this very moment.
        if (speech || speech.error().code != Errc::closed) co_return speech;
      }
      co_return co_await begin(ask(*shared, std::make_unique<Link>(executor, endpoint, kMaxUnsent), request));
    };
    co_return co_await engine::retried<std::unique_ptr<TtsStream>>(endpoint.limits.retry, attempt);
  }

  std::shared_ptr<const Shared> shared_;
};

}  // namespace

std::shared_ptr<engine::TtsProvider> make_wyoming_tts(WyomingTtsSettings settings) {
  return std::make_shared<WyomingTts>(std::move(settings));
}

std::shared_ptr<engine::TtsProvider> wyoming_tts_from_config(const config::Node& node,
                                                             const engine::EngineContext& /*context*/) {
  WyomingTtsSettings settings;
  settings.endpoint = wyoming_endpoint_from_config(node);
  settings.voice = node.get("voice", "");
  settings.speaker = node.get("speaker", "");
  if (!settings.speaker.empty() && settings.voice.empty())
    node.fail("speaker", "this needs `voice`: speakers are those of a voice");
  const auto streaming = node.get_choice("streaming", "auto", {"auto", "on", "off"});
  if (streaming != "auto") settings.streaming = streaming == "on" ? Streaming::on : Streaming::off;
  return make_wyoming_tts(std::move(settings));
}

}  // namespace parley::providers
