#include "options.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>

namespace parley::tools {
namespace {

constexpr int kBadUsage = 2;

/// CLI11 gathers --say and --wav apart; their order on the command line is the order of the turns.
std::vector<DeviceOptions::Speech> in_order(const CLI::App& app, const std::vector<std::string>& says,
                                            const std::vector<std::string>& wavs) {
  std::vector<DeviceOptions::Speech> speech;
  std::size_t next_say = 0;
  std::size_t next_wav = 0;
  for (const auto* const option : app.parse_order()) {
    if (option->check_name("--say")) speech.push_back({false, says.at(next_say++)});
    if (option->check_name("--wav")) speech.push_back({true, wavs.at(next_wav++)});
  }
  return speech;
}

void complain_if(bool wrong, const char* sentence) {
  if (wrong) throw CLI::ValidationError(sentence);
}

}  // namespace

DeviceOptions parse_device_options(int argc, const char* const* argv, std::optional<int>& exit_code) {
  DeviceOptions options;
  CLI::App app(
      "A simulated xiaozhi device: talks to a voice-assistant server as the firmware does, in real time.\n"
      "Exit code: 0 all went well, 1 the conversation failed, 2 bad usage or a refused connection.",
      "parley-device");
  app.set_version_flag("-V,--show-version", PARLEY_VERSION);
  std::string url = "ws://127.0.0.1:8000/xiaozhi/v1/";
  std::vector<std::string> says;
  std::vector<std::string> wavs;
  std::string mode = "auto";
  int frame = 60;
  int interrupt_after = 0;
  double timeout = 20;
  auto& device = options.device;
  app.add_option("--url", url, "The server")->capture_default_str();
  app.add_option("--token", device.token, "Access token")->envname("PARLEY_TOKEN");
  app.add_option("--device-id", device.device_id, "MAC address")->capture_default_str();
  app.add_option("--client-id", device.client_id, "UUID")->capture_default_str();
  app.add_option("--version", device.version, "Binary framing")
      ->check(CLI::IsMember({1, 2, 3}))
      ->capture_default_str();
  app.add_option("--mode", mode,
                 "Who ends the utterance: auto the server, manual the button, realtime nobody")
      ->check(CLI::IsMember({"auto", "manual", "realtime"}))
      ->capture_default_str();
  app.add_option("--frame-duration", frame, "Uplink frame in ms")
      ->check(CLI::IsMember({5, 10, 20, 40, 60, 80, 100, 120}))
      ->capture_default_str();
  app.add_option("--say", says, "Text to say in one turn, synthesised; may be repeated")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  app.add_option("--wav", wavs, "Recording to say in one turn; may be repeated")->allow_extra_args(false);
  app.add_option("--noise", options.noise, "Recording of a noise to speak in");
  app.add_option("--snr", options.snr_db, "Signal-to-noise ratio in dB, at the loudest 2,048 samples of each")
      ->check(CLI::Range(-60.0, 100.0))
      ->capture_default_str();
  app.add_option("--tools", options.tools,
                 "JSON list of the device's tools: {name, description, inputSchema, result|error, delay_ms}");
  app.add_option("--tool-page", options.tool_page, "Largest page of tools/list in bytes")
      ->check(CLI::Range(64, 1'000'000))
      ->capture_default_str();
  auto* const interrupt = app.add_option("--interrupt-after", interrupt_after,
                                         "Interrupts the first reply this many ms after it is heard")
                              ->check(CLI::Range(0, 600'000));
  app.add_flag("--talk-over", device.talk_over,
               "Interrupts by the voice of the next turn, not by an abort (realtime)");
  app.add_option("--wake", options.wake, "Wake word to begin with");
  app.add_option("--reply-wav", options.reply_wav, "Writes what was played");
  app.add_option("--timeout", timeout, "Longest silence of the server in s while an answer is awaited")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  double stay = 0;
  app.add_option("--stay", stay, "Longest time in s to wait at the end for the server to speak by itself")
      ->check(CLI::Range(0.0, 86'400.0));
  bool no_dtx = false;
  app.add_flag("--no-dtx", no_dtx, "Sends silence in full instead of 1-byte packets");
  app.add_flag("--json", options.json, "One JSON object a line instead of the timeline");
  try {
    app.parse(argc, argv);
    const auto parsed = device::parse_url(url);
    if (!parsed) throw CLI::ValidationError(parsed.error().message);
    device.url = *parsed;
    options.speech = in_order(app, says, wavs);
    complain_if(options.speech.empty() && options.wake.empty() && stay == 0,
                "nothing to say: give --say TEXT or --wav FILE");
    complain_if(device.talk_over && (mode != "realtime" || !*interrupt),
                "--talk-over needs --mode realtime and --interrupt-after MS");
    complain_if(device.token.find_first_of("\r\n") != std::string::npos, "a token cannot hold line breaks");
  } catch (const CLI::ParseError& wrong) {
    exit_code = app.exit(wrong, std::cout, std::cerr) == 0 ? 0 : kBadUsage;
    return options;
  }
  const std::map<std::string, protocol::ListenMode> modes{{"auto", protocol::ListenMode::automatic},
                                                          {"manual", protocol::ListenMode::manual},
                                                          {"realtime", protocol::ListenMode::realtime}};
  device.mode = modes.at(mode);
  device.frame = Millis(frame);
  device.dtx = !no_dtx;
  options.stay = Millis(static_cast<Millis::rep>(stay * 1000));
  device.reply_timeout = Millis(static_cast<Millis::rep>(timeout * 1000));
  if (*interrupt) device.interrupt_after = Millis(interrupt_after);
  return options;
}

}  // namespace parley::tools
