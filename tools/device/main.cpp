#include <algorithm>
#include <iostream>
#include <utility>

#include "options.hpp"
#include "parley/audio/wav.hpp"
#include "parley/core/log.hpp"
#include "parley/providers/flite_tts.hpp"

namespace parley::tools {
namespace {

constexpr int kFailed = 1;
constexpr int kRefused = 2;

/// The server's own voice is slt; a person is another one.
constexpr const char* kVoice = "rms";

Result<std::vector<device::Utterance>> prepare_speech(const DeviceOptions& options) {
  std::vector<device::Utterance> utterances;
  for (const auto& speech : options.speech) {
    const auto pcm =
        speech.is_file ? audio::read_wav(speech.value) : providers::flite_synthesize(speech.value, kVoice);
    if (!pcm) return pcm.error();
    auto utterance = device::make_utterance(speech.value, *pcm);
    if (!utterance) return utterance.error();
    utterances.push_back(std::move(*utterance));
  }
  return utterances;
}

Result<device::NoiseBed> prepare_noise(const DeviceOptions& options) {
  if (options.noise.empty()) return device::NoiseBed();
  const auto pcm = audio::read_wav(options.noise);
  if (!pcm) return pcm.error();
  auto noise = device::make_utterance(options.noise.string(), *pcm);
  if (!noise) return Error(Errc::invalid_input, options.noise.string() + " is silent");
  return device::NoiseBed(std::move(noise->samples), options.snr_db);
}

struct Outcome {
  int exit_code = 0;
  std::optional<std::string> error;
};

Task<Result<>> converse(device::Device& device, const DeviceOptions& options,
                        std::vector<device::Utterance> utterances) {
  if (!options.wake.empty()) {
    const auto greeted = co_await device.wake(options.wake);
    if (!greeted) co_return greeted.error();
  }
  for (auto& utterance : utterances) {
    const auto answered = co_await device.turn(std::move(utterance));
    if (!answered) co_return answered.error();
  }
  if (options.stay > Millis(0)) co_return co_await device.stay(options.stay);
  co_return Result<>();
}

Task<> run(device::Device& device, const DeviceOptions& options, std::vector<device::Utterance> utterances,
           Outcome& outcome) {
  const auto opened = co_await device.open();
  if (!opened) {
    const auto code = opened.error().code;
    outcome = {code == Errc::unavailable || code == Errc::unauthorized ? kRefused : kFailed,
               opened.error().message};
  } else {
    const auto done = co_await converse(device, options, std::move(utterances));
    if (!done) outcome = {kFailed, done.error().message};
  }
  device.close();
}

int converse_in_real_time(const DeviceOptions& options) {
  auto tools = options.tools.empty() ? Result<std::vector<device::Tool>>(device::stock_tools())
                                     : device::read_tools(options.tools);
  auto utterances = prepare_speech(options);
  auto noise = prepare_noise(options);
  std::optional<Error> wrong;
  if (!tools) wrong = tools.error();
  if (!utterances) wrong = utterances.error();
  if (!noise) wrong = noise.error();
  if (wrong) {
    std::cerr << "parley-device: " << wrong->message << '\n';
    return kRefused;
  }

  asio::io_context io(1);
  device::Conversation conversation(Clock::now());
  device::Device device(
      io.get_executor(), options.device, device::McpServer(std::move(*tools), options.tool_page),
      std::move(*noise), [&](const device::Event& event) {
        const auto line = conversation.add(event);
        std::cout << (options.json ? conversation.json_line(event) + "\n" : line) << std::flush;
      });
  Outcome outcome;
  asio::co_spawn(io, run(device, options, std::move(*utterances), outcome),
                 [](const std::exception_ptr& thrown) {
                   if (thrown) std::rethrow_exception(thrown);
                 });
  io.run();

  if (!options.reply_wav.empty()) {
    const auto heard = device.heard();
    const auto written = audio::write_wav(options.reply_wav, heard.samples, heard.rate);
    if (!written && outcome.exit_code == 0) outcome = {kFailed, written.error().message};
  }
  if (outcome.exit_code == 0 && conversation.violations() > 0) {
    outcome = {kFailed, "the server broke the protocol"};
  }
  if (options.json) {
    std::cout
        << conversation.summary(outcome.error).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
        << std::endl;
  } else {
    std::cout << conversation.summary_text({});
  }
  if (outcome.error) std::cerr << "parley-device: " << *outcome.error << std::endl;
  return outcome.exit_code;
}

}  // namespace
}  // namespace parley::tools

int main(int argc, char** argv) {
  std::optional<int> exit_code;
  const auto options = parley::tools::parse_device_options(argc, argv, exit_code);
  if (exit_code) return *exit_code;
  parley::log::configure(parley::log::Level::warn, false, false);
  try {
    return parley::tools::converse_in_real_time(options);
  } catch (const std::exception& unexpected) {
    std::cerr << "parley-device: " << unexpected.what() << '\n';
    return 1;
  }
}
