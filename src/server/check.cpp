#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <cmath>
#include <iostream>

#include "parley/server/app.hpp"
#include "parley/server/deployment.hpp"
#include "parley/server/probe.hpp"

namespace parley::server {
namespace {

std::string joined(const config::Role& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", then ") + name;
  return out;
}

void print_profile(const std::string& device, const config::Profile& profile) {
  std::cout << (device.empty() ? std::string("every device") : "device " + device) << "\n"
            << "  hears    " << joined(profile.roles.vad) << " (an utterance ends after "
            << profile.detector.end_silence.count() << " ms of silence; noise suppression "
            << (profile.noise.suppress ? profile.noise.level : "off") << ")\n"
            << "  writes   " << joined(profile.roles.asr) << " (" << profile.language << ")\n"
            << "  thinks   " << joined(profile.roles.llm) << "\n"
            << "  speaks   " << joined(profile.roles.tts)
            << (profile.voice.empty() ? "" : ", voice " + profile.voice) << " (Opus "
            << profile.audio.downlink_rate << " Hz, " << profile.audio.downlink_frame.count() << " ms, sent "
            << profile.audio.send_ahead.count() << " ms ahead)\n";
}

void print_auth(const config::AuthSettings& auth) {
  std::cout << "auth     ";
  if (!auth.required) {
    std::cout << "none: whoever reaches the port can use the assistant\n";
  } else if (auth.tokens.empty()) {
    std::cout << "token; none is set (PARLEY_TOKEN), so each run makes up one and prints it\n";
  } else {
    for (const auto& token : auth.tokens) std::cout << "token " << token.name << "  ";
    std::cout << "\n";
  }
}

/// 1 where an engine did not answer.
int ask_engines(const Deployment& deployment) {
  constexpr Millis kLimit{30'000};
  constexpr std::string_view kSpeech = "turn on the lamp";
  const auto spoken = embedded_voice(std::string(kSpeech));
  const auto speech = spoken ? *spoken : audio::Pcm{};
  std::cout << "engines, each asked once (recognisers hear \"" << kSpeech << "\")\n";
  asio::io_context io;
  auto asked = asio::co_spawn(io, probe_engines(deployment, speech, kLimit), asio::use_future);
  io.run();
  int code = 0;
  for (const auto& probe : asked.get()) {
    std::cout << "  " << probe.role << "  " << probe.name << " (" << probe.type << "): ";
    if (probe.said) {
      std::cout << std::llround(to_ms(probe.took)) << " ms, " << *probe.said << "\n";
    } else {
      std::cout << "FAILED: " << probe.said.error().message << "\n";
      code = 1;
    }
  }
  return code;
}

void print_history(const config::HistorySettings& history) {
  std::cout << "history  ";
  if (!history.enabled) {
    std::cout << "off: each session begins from nothing\n";
    return;
  }
  if (history.file.empty()) {
    std::cout << "in memory until the server stops (history.file is not set)";
  } else {
    std::error_code unknown;
    if (std::filesystem::exists(history.file, unknown)) open_archive(history);
    std::cout << history.file.string();
  }
  std::cout << ", " << std::chrono::duration_cast<std::chrono::hours>(history.keep).count() / 24 << " days, "
            << history.max_turns_per_device << " turns a device\n";
}

void print_reminders(const config::ReminderSettings& reminders) {
  std::cout << "timers   ";
  if (reminders.file.empty()) {
    std::cout << "in memory until the server stops (reminders.file is not set)";
  } else {
    std::error_code unknown;
    if (std::filesystem::exists(reminders.file, unknown)) open_reminders(reminders);
    std::cout << reminders.file.string();
  }
  std::cout << ", " << reminders.max_per_device << " a device\n";
}

void print_mcp_servers(const config::McpServers& servers) {
  if (servers.empty()) return;
  std::string keys;
  asio::io_context io;
  for (const auto& [key, server] : servers) {
    keys += (keys.empty() ? "" : ", ") + key;
    // Refuses what cannot work.
    mcp::authorization_for(io.get_executor(), make_asio_scheduler(io.get_executor()), key, server,
                           std::make_shared<mcp::TokenStore>(""));
  }
  std::cout << "tools    of the device, and of " << keys << " (`parley mcp list` connects to them)\n";
}

}  // namespace

int check(const std::filesystem::path& file, bool online) {
  try {
    const auto settings = std::make_shared<const config::Settings>(config::load(file));
    Deployment::Shared shared;
    shared.workers = std::make_shared<WorkerPool>(1, settings->server.worker_queue);
    shared.metrics = std::make_shared<Metrics>();
    shared.turn_log = *session::open_turn_log({});
    const Deployment deployment(settings, built_in_engines(), shared);
    const auto& server = settings->server;
    std::cout << "listen   " << server.address << ":" << server.port << "\n";
    print_auth(settings->auth);
    std::cout << "limits   " << server.max_sessions << " sessions, " << server.max_connections_per_address
              << " connections an address\n";
    print_history(settings->history);
    print_reminders(settings->reminders);
    print_mcp_servers(settings->mcp_servers);
    for (const auto& [device, runtime] : deployment.runtimes()) {
      print_profile(device, *runtime->profile);
      const auto grammar = runtime->engines.llm->whole_grammar();
      if (grammar)
        std::cout << "  grammar  " << grammar->words.size() << " words, all with a pronunciation\n";
    }
    const int code = online ? ask_engines(deployment) : 0;
    if (code == 0) std::cout << "ok: " << file.string() << "\n";
    return code;
  } catch (const std::exception& failure) {
    std::cerr << "parley: " << failure.what() << "\n";
    return 2;
  }
}

}  // namespace parley::server
