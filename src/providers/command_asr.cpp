#include "parley/providers/command_asr.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "parley/audio/wav.hpp"
#include "parley/core/async_event.hpp"
#include "providers/command_program.hpp"

namespace parley::providers {
namespace {

using engine::AsrEvent;

constexpr std::size_t kMaxText = 65536;

/// One line of valid UTF-8: programs print line breaks, and recognisers of bytes print broken characters.
std::string one_line(std::string_view output) {
  const auto valid = nlohmann::json(output).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string line;
  for (const char c : nlohmann::json::parse(valid).get<std::string>()) {
    const bool blank = static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

class CommandAsrStream final : public engine::AsrStream {
 public:
  CommandAsrStream(const CommandAsrSettings& settings, std::unique_ptr<ChildProcess> process,
                   const asio::any_io_executor& executor)
      : timeout_(settings.timeout),
        max_samples_(audio::samples_in(settings.max_audio, audio::kListeningRate)),
        run_(std::move(process), settings.command[0], settings.clock(executor)),
        changed_(executor) {}

  void push(audio::PcmView samples) override {
    if (finished_ || overrun_) return;
    if (samples.size() > max_samples_ - samples_.size()) {
      overrun_ = true;
      samples_ = {};
      changed_.notify();
      return;
    }
    samples_.insert(samples_.end(), samples.begin(), samples.end());
  }

  void finish() override {
    if (std::exchange(finished_, true)) return;
    if (!overrun_) {
      const auto wav = audio::format_wav(std::exchange(samples_, {}), audio::kListeningRate);
      run_.expect_within(timeout_);
      run_.feed(std::string(wav.begin(), wav.end()));
    }
    changed_.notify();
  }

  Task<Result<std::optional<AsrEvent>>> next() override {
    if (delivered_) co_return std::optional<AsrEvent>();
    while (!finished_ && !overrun_) co_await changed_.wait();
    if (overrun_) co_return Error(Errc::limit, "the utterance is longer than max_audio");
    while (true) {
      const auto size = co_await run_.read(buffer_);
      if (!size) co_return size.error();
      if (*size == 0) break;
      output_.append(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(*size));
      if (output_.size() > kMaxText) co_return Error(Errc::limit, run_.name() + " printed more than 64 KiB");
    }
    run_.expect_nothing();
    delivered_ = true;
    co_return AsrEvent{AsrEvent::Kind::final, one_line(output_), Clock::now()};
  }

 private:
  Millis timeout_;
  std::size_t max_samples_;
  ProgramRun run_;
  AsyncEvent changed_;
  std::vector<std::int16_t> samples_;
  std::array<std::uint8_t, 4096> buffer_{};
  std::string output_;
  bool finished_ = false;
  bool overrun_ = false;
  bool delivered_ = false;
};

class CommandAsr final : public engine::AsrProvider {
 public:
  explicit CommandAsr(CommandAsrSettings settings) : settings_(std::move(settings)) {}

  Task<Result<std::unique_ptr<engine::AsrStream>>> open(engine::AsrRequest request) override {
    const auto executor = co_await asio::this_coro::executor;
    auto process =
        ChildProcess::spawn(executor, filled_in(settings_.command, {{"language", request.language}}));
    if (!process) co_return process.error();
    co_return std::unique_ptr<engine::AsrStream>(
        std::make_unique<CommandAsrStream>(settings_, std::move(*process), executor));
  }

 private:
  const CommandAsrSettings settings_;
};

}  // namespace

std::shared_ptr<engine::AsrProvider> make_command_asr(CommandAsrSettings settings) {
  return std::make_shared<CommandAsr>(std::move(settings));
}

std::shared_ptr<engine::AsrProvider> command_asr_from_config(const config::Node& node,
                                                             const engine::EngineContext& /*context*/) {
  using namespace std::chrono_literals;
  CommandAsrSettings settings;
  settings.command = command_from_config(node);
  settings.timeout = node.get("timeout", settings.timeout, 100ms, 600'000ms);
  settings.max_audio = node.get("max_audio", settings.max_audio, 1000ms, 600'000ms);
  return make_command_asr(std::move(settings));
}

}  // namespace parley::providers
