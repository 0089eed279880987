#include "options.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>

namespace parley::tools {
namespace {

constexpr int kBadUsage = 2;

Duration in_seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

std::string_view to_string(Profile profile) {
  switch (profile) {
    case Profile::idle:
      return "idle";
    case Profile::listening:
      return "listening";
    case Profile::talking:
      break;
  }
  return "talking";
}

BenchOptions parse_bench_options(int argc, const char* const* argv, std::optional<int>& exit_code) {
  BenchOptions options;
  CLI::App app(
      "A load of simulated devices in one thread, what it costs the server, and the floor under that cost.\n"
      "Exit code: 0 all went well, 1 devices or turns failed, 2 bad usage or no connection at all.",
      "parley-bench");
  app.set_version_flag("-V,--show-version", PARLEY_VERSION);
  options.url_text = "ws://127.0.0.1:8000/xiaozhi/v1/";
  std::string profile = "talking";
  double ramp = -1;
  double warm_up = -1;
  double duration = 30;
  double think = 2;
  double timeout = 15;
  double floor_duration = 10;
  int send_ahead = 180;
  int frame = 60;
  bool no_floor = false;
  const CLI::Range seconds(0.0, 86'400.0);
  app.add_option("--url", options.url_text, "The server")->capture_default_str();
  app.add_option("--token", options.token, "Access token")->envname("PARLEY_TOKEN");
  app.add_option("--devices", options.devices, "How many")
      ->check(CLI::Range(1, 50'000))
      ->capture_default_str();
  app.add_option(
         "--profile", profile,
         "idle: connected; listening: the microphone is open, nobody speaks; talking: turn after turn")
      ->check(CLI::IsMember({"idle", "listening", "talking"}))
      ->capture_default_str();
  app.add_option("--ramp", ramp, "Seconds over which the devices connect (default: 100 devices a second)")
      ->check(seconds);
  app.add_option("--warm-up", warm_up,
                 "Seconds from there to the measured window (default: 10 talking, else 2)")
      ->check(seconds);
  app.add_option("--duration", duration, "Seconds of the measured window")
      ->check(CLI::Range(0.5, 3600.0))
      ->capture_default_str();
  app.add_option("--think", think, "Mean seconds between turns")->check(seconds)->capture_default_str();
  app.add_option("--timeout", timeout, "Seconds without an answer that make a turn a failed one")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  app.add_option("--say", options.say, "Text that the devices say, in turn; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--frame-duration", frame, "Uplink frame in ms")
      ->check(CLI::IsMember({10, 20, 40, 60}))
      ->capture_default_str();
  app.add_option("--version", options.version, "Binary framing")
      ->check(CLI::IsMember({1, 2, 3}))
      ->capture_default_str();
  app.add_flag("--dtx", options.dtx, "Silence as 1-byte packets, as the firmware has it; without: in full");
  app.add_option("--tools", options.tools, "Tools of each device (default: the stock ones)")
      ->check(CLI::Range(0, 1000));
  app.add_option("--send-ahead", send_ahead, "The server's, in ms")
      ->check(CLI::Range(0, 10'000))
      ->capture_default_str();
  app.add_option("--server-pid", options.server_pid,
                 "Process whose CPU and memory are measured (memory: best freshly started)")
      ->check(CLI::PositiveNumber);
  app.add_option("--turn-log", options.turn_log, "The server's turn log, to read added_ms from");
  app.add_option("--json", options.json, "Writes the results there");
  app.add_flag("--no-floor", no_floor, "Skips the floor");
  app.add_option("--floor-duration", floor_duration, "Seconds of traffic that the floor replays at most")
      ->check(CLI::Range(0.5, 3600.0))
      ->capture_default_str();
  app.add_option("--bitrate", options.bitrate, "Of the server's encoder, for the floor")
      ->check(CLI::Range(6000, 510'000))
      ->capture_default_str();
  app.add_option("--complexity", options.complexity, "Of the server's encoder, for the floor")
      ->check(CLI::Range(0, 10))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
    const auto url = device::parse_url(options.url_text);
    if (!url) throw CLI::ValidationError(url.error().message);
    options.url = *url;
    if (options.token.find_first_of("\r\n") != std::string::npos) {
      throw CLI::ValidationError("a token cannot hold line breaks");
    }
  } catch (const CLI::ParseError& wrong) {
    exit_code = app.exit(wrong, std::cout, std::cerr) == 0 ? 0 : kBadUsage;
    return options;
  }
  const std::map<std::string, Profile> profiles{
      {"idle", Profile::idle}, {"listening", Profile::listening}, {"talking", Profile::talking}};
  options.profile = profiles.at(profile);
  if (options.say.empty()) options.say = {"turn on the lamp"};
  constexpr double connections_per_second = 100;
  options.ramp = in_seconds(ramp < 0 ? static_cast<double>(options.devices) / connections_per_second : ramp);
  options.warm_up = in_seconds(warm_up >= 0 ? warm_up : options.profile == Profile::talking ? 10 : 2);
  options.duration = in_seconds(duration);
  options.think = in_seconds(think);
  options.reply_timeout = in_seconds(timeout);
  options.floor_duration = in_seconds(floor_duration);
  options.send_ahead = Millis(send_ahead);
  options.frame = Millis(frame);
  options.floor = !no_floor;
  return options;
}

}  // namespace parley::tools
