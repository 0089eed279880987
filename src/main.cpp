#include <CLI/CLI.hpp>

#include "parley/server/app.hpp"

int main(int argc, char** argv) {
  CLI::App cli{"Parley: a voice-assistant server for ESP32 devices"};
  cli.set_version_flag("--version", std::string("parley ") + PARLEY_VERSION);
  cli.require_subcommand(1);

  parley::server::ServeOptions serve_options;
  auto* serve = cli.add_subcommand("serve", "Run the server");
  serve->add_option("--config", serve_options.config, "The YAML configuration")->required();
  serve->add_option("--listen", serve_options.listen,
                    "ADDRESS:PORT, instead of server.listen; port 0 takes any free one");
  serve->add_option("--turn-log", serve_options.turn_log,
                    "Write one line of JSON a turn here, instead of turn_log");

  std::filesystem::path check_config;
  auto* check = cli.add_subcommand("check", "Validate a configuration and show what it puts in force");
  check->add_option("--config", check_config, "The YAML configuration")->required();
  bool online = false;
  check->add_flag("--online", online, "Ask every engine once, and show how long it took");

  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli.exit(error) == 0 ? 0 : 2;
  }
  if (*serve) return parley::server::serve(serve_options);
  return parley::server::check(check_config, online);
}
