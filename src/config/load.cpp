#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <set>
#include <utility>

#include "config/profile.hpp"
#include "config/scalar.hpp"
#include "config/wording.hpp"
#include "parley/config/persona.hpp"
#include "parley/config/settings.hpp"

namespace parley::config {
namespace {

constexpr std::size_t kKilo = 1024;
constexpr std::size_t kMega = kKilo * kKilo;

/// Fills the roles of whoever configures none; they live inside the server and need nothing.
constexpr std::string_view kDefaultEngines = R"(engines:
  ears: {type: webrtc_vad}
  sphinx: {type: pocketsphinx}
  commands: {type: intents}
  voice: {type: flite}
)";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return out;
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

void read_log(const Node& node, LogSettings& out) {
  out.level = node.get_choice("level", out.level, {"trace", "debug", "info", "warn", "error", "off"});
  out.show_private = node.get("private", out.show_private);
  out.json = node.get("json", out.json);
}

void read_listen(const Node& node, ServerSettings& out) {
  if (!node.has("listen")) return;
  const auto text = node.require("listen");
  const auto refuse = [&](const std::string& why) {
    node.fail("listen",
              why + "; expected an address and a port such as 0.0.0.0:8000, 127.0.0.1:8000 or \"[::]:8000\"");
  };
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) refuse("there is no port in " + in_quotes(text));
  std::string host = text.substr(0, colon);
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  if (error || address.is_v6() != brackets)
    refuse(in_quotes(text.substr(0, colon)) + " is not an IP address");
  const auto port_text = text.substr(colon + 1);
  const bool digits = !port_text.empty() && port_text.find_first_not_of("0123456789") == std::string::npos;
  const auto port = digits ? parse_integer(port_text) : std::nullopt;
  if (!port || *port > 65535) refuse(in_quotes(port_text) + " is not a port");
  out.address = std::move(host);
  out.port = static_cast<std::uint16_t>(port.value_or(0));
}

void read_server(const Node& node, ServerSettings& out) {
  read_listen(node, out);
  out.io_threads = node.get("io_threads", out.io_threads, 0, 256);
  out.worker_threads = node.get("worker_threads", out.worker_threads, 0, 256);
  out.worker_queue = node.get("worker_queue", out.worker_queue, 1, 1'000'000);
  out.max_sessions = node.get("max_sessions", out.max_sessions, 1, 1'000'000);
  out.max_connections_per_address =
      node.get("max_connections_per_address", out.max_connections_per_address, 1, 1'000'000);
  out.connections_per_second = node.get("connections_per_second", out.connections_per_second, 0.01, 1e6);
  out.connection_burst = node.get("connection_burst", out.connection_burst, 1, 1'000'000);
  out.max_message = node.get_bytes("max_message", out.max_message, kKilo, 16 * kMega);
  out.max_send_queue = node.get_bytes("max_send_queue", out.max_send_queue, 16 * kKilo, 64 * kMega);
  out.handshake_timeout = node.get("handshake_timeout", out.handshake_timeout, 100ms, 5min);
  out.idle_timeout = node.get("idle_timeout", out.idle_timeout, 100ms, 24h);
  out.shutdown_grace = node.get("shutdown_grace", out.shutdown_grace, 0ms, 10min);
}

void read_history(const Node& node, HistorySettings& out) {
  out.enabled = node.get("enabled", out.enabled);
  const auto file = node.get("file", "");
  if (!file.empty()) out.file = node.directory() / file;
  constexpr auto kDay = std::chrono::hours(24);
  constexpr int kMaxDays = 36'500;
  out.keep = kDay * node.get("keep_days", static_cast<int>(out.keep / kDay), 1, kMaxDays);
  out.max_turns_per_device = node.get("max_turns_per_device", out.max_turns_per_device, 1, 1'000'000);
  out.max_size = node.get_bytes("max_size", out.max_size, kMega, kMega * kMega);
}

void read_reminders(const Node& node, ReminderSettings& out) {
  const auto file = node.get("file", "");
  if (!file.empty()) out.file = node.directory() / file;
  out.max_per_device = node.get("max_per_device", out.max_per_device, 1, 1000);
}

/// The names of personas and voices are said by people, and told to models.
void check_choice(const std::string& name, const Node& node) {
  constexpr std::size_t kMaxName = 40;
  if (name.empty() || name.size() > kMaxName || has_control(name)) {
    node.fail("this is no name that somebody could say; expected a word or two");
  }
  if (name == kOwnChoice) node.fail("this name stands for the device's own; expected another one");
}

void read_choices(const Node& root, Settings& out) {
  constexpr std::size_t kMaxChoices = 50;
  if (const auto personas = root.child("personas")) {
    for (const auto& [name, node] : personas->entries()) {
      check_choice(name, node);
      PersonaChoice choice{.persona = node.get("persona", ""), .voice = node.get("voice", "")};
      if (const auto text = parse_persona(choice.persona); !text) {
        node.fail("persona", text.error().message);
      }
      if (choice == PersonaChoice{}) node.fail("this persona is empty; expected `persona`, `voice` or both");
      out.personas.emplace(name, std::move(choice));
    }
    if (out.personas.size() > kMaxChoices) personas->fail("these are too many; expected at most 50");
  }
  if (const auto voices = root.child("voices")) {
    for (const auto& [name, node] : voices->entries()) {
      check_choice(name, node);
      out.voices.emplace(name, node.text());
    }
    if (out.voices.size() > kMaxChoices) voices->fail("these are too many; expected at most 50");
  }
}

void check_secret(const Node& node, const std::string& secret) {
  // Such a secret could never arrive in an HTTP header as it is.
  if (has_control(secret) || secret.starts_with(' ') || secret.ends_with(' ')) {
    node.fail("secret",
              "there is a control character in this secret, or a space at its end; expected one line of text "
              "that an HTTP header can hold");
  }
}

void read_auth(const Node& node, AuthSettings& out) {
  out.required = node.get_choice("type", out.required ? "token" : "none", {"token", "none"}) == "token";
  std::set<std::string> names;
  std::set<std::string> secrets;
  for (const auto& place : node.items("tokens")) {
    Token token{.name = place.require("name"), .secret = {}};
    const auto secret = place.child("secret");
    if (!secret) place.fail("secret", "this key is missing; expected the token that a device sends");
    token.secret = secret->text();
    if (!names.insert(token.name).second) {
      place.fail("name", "there is another token " + in_quotes(token.name) + "; expected each name once");
    }
    if (token.secret.empty()) {
      // Nobody set the variable: the token is not there. An empty secret as such would let everybody in.
      if (!secret->has_variables()) place.fail("secret", "this secret is empty; expected text, or ${NAME:-}");
      continue;
    }
    check_secret(place, token.secret);
    if (!secrets.insert(token.secret).second) {
      place.fail("secret", "another token has the same secret; expected each token to have its own");
    }
    out.tokens.push_back(std::move(token));
  }
}

using Engines = std::map<std::string, EngineBlock>;

Engines read_engines(const Node& root) {
  Engines out;
  const auto engines = root.child("engines");
  if (!engines) return out;
  for (const auto& [name, node] : engines->entries()) {
    if (name.empty() || name.find_first_of(" \t,[]") != std::string::npos || has_control(name)) {
      node.fail("this is no name for an engine; expected a word");
    }
    out.emplace(name, EngineBlock{.name = name, .type = node.require("type"), .node = node});
    node.defer();
  }
  return out;
}

void read_devices(const Node& root, const EngineNames& names, Settings& out) {
  const auto devices = root.child("devices");
  if (!devices) return;
  for (const auto& [id, node] : devices->entries()) {
    if (id.empty() || id.find(' ') != std::string::npos || has_control(id)) {
      node.fail("this is no Device-Id; expected what the device sends, such as AA:BB:CC:DD:EE:FF");
    }
    auto profile = out.profile;
    read_profile(node, names, profile);
    if (!out.devices.emplace(lower(id), std::move(profile)).second) {
      node.fail("this device is already there, spelled with other capitals; expected each device once");
    }
  }
}

void add_names(const Roles& roles, std::set<std::string>& out) {
  for (const auto& role : {roles.vad, roles.asr, roles.llm, roles.tts}) out.insert(role.begin(), role.end());
}

/// Adds those of the built-in engines that a role names and nobody configured.
void add_used(Engines built_in, Settings& out) {
  std::set<std::string> used;
  add_names(out.profile.roles, used);
  for (const auto& [id, profile] : out.devices) add_names(profile.roles, used);
  for (auto& [name, block] : built_in) {
    if (used.contains(name)) out.engines.emplace(name, std::move(block));
  }
}

EngineNames names_of(const Engines& configured, const Engines& built_in) {
  std::set<std::string> names;
  for (const auto& [name, block] : configured) names.insert(name);
  for (const auto& [name, block] : built_in) names.insert(name);
  return {names.begin(), names.end()};
}

}  // namespace

const Profile& Settings::profile_for(std::string_view device_id) const {
  const auto found = devices.find(lower(device_id));
  return found == devices.end() ? profile : found->second;
}

Settings load(const Node& root) {
  Settings out;
  if (const auto log = root.child("log")) read_log(*log, out.log);
  if (const auto server = root.child("server")) read_server(*server, out.server);
  if (const auto auth = root.child("auth")) read_auth(*auth, out.auth);
  if (const auto history = root.child("history")) read_history(*history, out.history);
  out.mcp_servers = read_mcp_servers(root);
  const auto credentials = root.get("mcp_credentials", "");
  if (!credentials.empty()) out.mcp_credentials = root.directory() / credentials;
  if (const auto reminders = root.child("reminders")) read_reminders(*reminders, out.reminders);
  read_choices(root, out);
  out.log_private = root.get("log_private", out.log_private);
  const auto turn_log = root.get("turn_log", "");
  if (!turn_log.empty()) out.turn_log = root.directory() / turn_log;

  out.engines = read_engines(root);
  auto built_in = read_engines(Node::parse(kDefaultEngines, "default engines"));
  const auto names = names_of(out.engines, built_in);
  read_profile(root, names, out.profile);
  read_devices(root, names, out);
  add_used(std::move(built_in), out);
  root.finish();
  return out;
}

Settings load(const std::filesystem::path& file) {
  auto out = load(Node::load(file));
  out.file = file;
  return out;
}

Settings load_text(std::string_view text, std::string name) {
  const std::filesystem::path file(name);
  auto out = load(Node::parse(text, std::move(name)));
  out.file = file;
  return out;
}

}  // namespace parley::config
