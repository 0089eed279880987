#include "parley/providers/command_tts.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "parley/audio/pcm_reader.hpp"
#include "providers/command_program.hpp"

namespace parley::providers {
namespace {

using engine::TtsAudio;
using Format = CommandTtsSettings::Format;

/// Programs such as piper read line by line.
std::string as_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  return text + "\n";
}

class CommandTtsStream final : public engine::TtsStream {
 public:
  CommandTtsStream(const CommandTtsSettings& settings, std::unique_ptr<ChildProcess> process,
                   std::shared_ptr<Scheduler> clock, std::string text)
      : settings_(settings),
        run_(std::move(process), settings.command[0], std::move(clock)),
        reader_(settings.sample_rate) {
    run_.feed(as_line(std::move(text)));
  }

  Task<Result<std::optional<TtsAudio>>> next() override {
    run_.expect_within(settings_.timeout);
    TtsAudio audio;
    while (audio.pcm.samples.empty()) {
      const auto size = co_await run_.read(buffer_);
      if (!size) co_return size.error();
      if (*size == 0) {
        run_.expect_nothing();
        co_return end();
      }
      auto taken = take(std::string_view(reinterpret_cast<const char*>(buffer_.data()), *size));
      if (!taken) co_return Error(taken.error().code, run_.name() + ": " + taken.error().message);
      audio.pcm = std::move(*taken);
    }
    // However late the next piece is asked for, the program is not to blame.
    run_.expect_nothing();
    samples_ += audio.pcm.samples.size();
    if (samples_ > audio::samples_in(settings_.max_audio, audio.pcm.rate)) {
      co_return Error(Errc::limit, run_.name() + " speaks longer than max_audio");
    }
    audio.ready_at = Clock::now();
    co_return std::optional(std::move(audio));
  }

 private:
  Result<audio::Pcm> take(std::string_view bytes) {
    constexpr std::string_view mark = "RIFF";
    if (settings_.format == Format::wav && seen_ < mark.size()) {
      const auto shared = std::min(mark.size() - seen_, bytes.size());
      if (bytes.substr(0, shared) != mark.substr(seen_, shared)) {
        return Error(Errc::invalid_input, "this is not a WAV");
      }
    }
    seen_ += bytes.size();
    return reader_.push(bytes);
  }

  Result<std::optional<TtsAudio>> end() const {
    if (settings_.format == Format::wav && seen_ == 0) {
      return Error(Errc::invalid_input, run_.name() + " wrote no WAV");
    }
    return std::optional<TtsAudio>();
  }

  const CommandTtsSettings settings_;
  ProgramRun run_;
  audio::PcmReader reader_;
  std::array<std::uint8_t, 16384> buffer_{};
  std::size_t seen_ = 0;  ///< bytes of output
  std::size_t samples_ = 0;
};

class CommandTts final : public engine::TtsProvider {
 public:
  explicit CommandTts(CommandTtsSettings settings) : settings_(std::move(settings)) {}

  Task<Result<std::unique_ptr<engine::TtsStream>>> speak(engine::TtsRequest request) override {
    const auto executor = co_await asio::this_coro::executor;
    const auto& voice = request.voice.empty() ? settings_.voice : request.voice;
    auto process = ChildProcess::spawn(
        executor, filled_in(settings_.command, {{"language", request.language}, {"voice", voice}}));
    if (!process) co_return process.error();
    co_return std::unique_ptr<engine::TtsStream>(std::make_unique<CommandTtsStream>(
        settings_, std::move(*process), settings_.clock(executor), std::move(request.text)));
  }

 private:
  const CommandTtsSettings settings_;
};

}  // namespace

std::shared_ptr<engine::TtsProvider> make_command_tts(CommandTtsSettings settings) {
  return std::make_shared<CommandTts>(std::move(settings));
}

std::shared_ptr<engine::TtsProvider> command_tts_from_config(const config::Node& node,
                                                             const engine::EngineContext& /*context*/) {
  using namespace std::chrono_literals;
  CommandTtsSettings settings;
  settings.command = command_from_config(node);
  const bool wav = node.get_choice("format", "wav", {"wav", "pcm"}) == "wav";
  settings.format = wav ? Format::wav : Format::pcm;
  if (wav && node.has("sample_rate")) node.fail("sample_rate", "is for `format: pcm`: a WAV says its own");
  settings.sample_rate = node.get("sample_rate", settings.sample_rate, 8000, 48000);
  settings.voice = node.get("voice", settings.voice);
  settings.timeout = node.get("timeout", settings.timeout, 100ms, 600'000ms);
  settings.max_audio = node.get("max_audio", settings.max_audio, 1000ms, 600'000ms);
  return make_command_tts(std::move(settings));
}

}  // namespace parley::providers
