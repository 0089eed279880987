#include "parley/providers/command_tts.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "parley/audio/wav_stream.hpp"
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
      : settings_(settings), run_(std::move(process), settings.command[0], std::move(clock)) {
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
      if (auto taken = take(std::span(buffer_).first(*size), audio.pcm.samples); !taken) {
        co_return Error(taken.error().code, run_.name() + ": " + taken.error().message);
      }
    }
    // However late the next piece is asked for, the program is not to blame.
    run_.expect_nothing();
    audio.pcm.rate = settings_.format == Format::wav ? wav_.rate() : settings_.sample_rate;
    samples_ += audio.pcm.samples.size();
    if (samples_ > audio::samples_in(settings_.max_audio, audio.pcm.rate)) {
      co_return Error(Errc::limit, run_.name() + " speaks longer than max_audio");
    }
    audio.ready_at = Clock::now();
    co_return std::optional(std::move(audio));
  }

 private:
  Result<> take(std::span<const std::uint8_t> bytes, std::vector<std::int16_t>& samples) {
    if (settings_.format == Format::wav) return wav_.feed(bytes, samples);
    pcm_.feed(bytes, samples);
    return {};
  }

  Result<std::optional<TtsAudio>> end() const {
    if (settings_.format == Format::wav && wav_.rate() == 0) {
      return Error(Errc::invalid_input, run_.name() + " wrote no WAV");
    }
    return std::optional<TtsAudio>();
  }

  const CommandTtsSettings settings_;
  ProgramRun run_;
  audio::WavStream wav_;
  audio::PcmAssembler pcm_;
  std::array<std::uint8_t, 16384> buffer_{};
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
