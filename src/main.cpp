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

  parley::server::HistoryOptions history_options;
  auto* history = cli.add_subcommand("history", "Show, export or delete the conversations of a device");
  history->add_option("device", history_options.device, "Its Device-Id; without it, all devices are listed");
  history
      ->add_option("--config", history_options.config, "The YAML configuration, whose history.file is meant")
      ->required();
  history->add_flag("--json", history_options.json, "One JSON object a line");
  history->add_flag("--delete", history_options.remove,
                    "Delete all of it, after it was exported (--export) or written (--json)");
  history->add_option("--export", history_options.export_to,
                      "Write it to this new file, one JSON object a line");

  parley::server::McpOptions mcp_options;
  auto* mcp = cli.add_subcommand("mcp", "The MCP servers of a configuration");
  mcp->require_subcommand(1);
  const auto add_config = [&](CLI::App* command) {
    command->add_option("--config", mcp_options.config, "The YAML configuration")->required();
  };
  auto* mcp_list = mcp->add_subcommand("list", "Connect to each and show what it offers");
  add_config(mcp_list);
  auto* mcp_call = mcp->add_subcommand("call", "Call one tool and print its result");
  add_config(mcp_call);
  mcp_call->add_option("server", mcp_options.server, "The server's key")->required();
  mcp_call->add_option("tool", mcp_options.tool, "The tool's own name")->required();
  mcp_call->add_option("arguments", mcp_options.arguments, "A JSON object; without it, an empty one");

  auto* mcp_login = mcp->add_subcommand("login", "Get tokens for a server that wants OAuth, with a browser");
  add_config(mcp_login);
  mcp_login->add_option("server", mcp_options.server, "The server's key")->required();

  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli.exit(error) == 0 ? 0 : 2;
  }
  if (*serve) return parley::server::serve(serve_options);
  if (*history) return parley::server::history(history_options);
  if (*mcp_list) return parley::server::mcp_list(mcp_options);
  if (*mcp_login) return parley::server::mcp_login(mcp_options);
  if (*mcp_call) return parley::server::mcp_call(mcp_options);
  return parley::server::check(check_config, online);
}
