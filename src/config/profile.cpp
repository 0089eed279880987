#include "config/profile.hpp"

#include <algorithm>
#include <utility>

#include "config/scalar.hpp"
#include "config/wording.hpp"
#include "parley/config/persona.hpp"
#include "parley/core/time_zone.hpp"

namespace parley::config {
namespace {

/// PROTOCOL.md, section 4: the device's queue of packets to play.
constexpr int kDeviceQueue = 40;

void read_audio(const Node& node, AudioSettings& out) {
  out.downlink_rate = node.get("downlink_rate", out.downlink_rate, 16000, 24000);
  if (out.downlink_rate != 16000 && out.downlink_rate != 24000) {
    node.fail("downlink_rate", "devices do not play this rate; expected 16000 or 24000");
  }
  out.downlink_frame = node.get("downlink_frame", out.downlink_frame, 20ms, 60ms);
  if (out.downlink_frame != 20ms && out.downlink_frame != 40ms && out.downlink_frame != 60ms) {
    node.fail("downlink_frame", "Opus has no such frame; expected 20ms, 40ms or 60ms");
  }
  out.bitrate = node.get("bitrate", out.bitrate, 6000, 128000);
  out.complexity = node.get("complexity", out.complexity, 0, 10);
  out.start_lead = node.get("start_lead", out.start_lead, 0ms, 2s);
  out.send_ahead = node.get("send_ahead", out.send_ahead, 0ms, 10s);
  if (out.send_ahead >= kDeviceQueue * out.downlink_frame) {
    node.fail("send_ahead", "this is more than a device keeps (40 frames); expected less than " +
                                format_duration(kDeviceQueue * out.downlink_frame) +
                                " with a downlink_frame of " + format_duration(out.downlink_frame));
  }
  out.buffer = node.get("buffer", out.buffer, 60ms, 1min);
  out.max_uplink_burst = node.get("max_uplink_burst", out.max_uplink_burst, 100ms, 1min);
}

void read_detector(const Node& node, DetectorSettings& out) {
  out.speech_start = node.get("speech_start", out.speech_start, 20ms, 2s);
  out.pre_roll = node.get("pre_roll", out.pre_roll, 0ms, 5s);
  out.min_speech = node.get("min_speech", out.min_speech, 0ms, 5s);
  out.end_silence = node.get("end_silence", out.end_silence, 100ms, 10s);
  out.max_utterance = node.get("max_utterance", out.max_utterance, 1s, 5min);
  out.adaptive = node.get("adaptive", out.adaptive);
  out.min_snr_db = node.get("min_snr_db", out.min_snr_db, 0.0, 40.0);
  const auto longest = std::max({out.speech_start, out.min_speech, out.end_silence});
  if (out.max_utterance <= longest) {
    node.fail("max_utterance",
              "an utterance would end before it can be one; expected more than speech_start, "
              "min_speech and end_silence, that is more than " +
                  format_duration(longest));
  }
}

void read_noise(const Node& node, NoiseSettings& out) {
  out.suppress = node.get("suppress", out.suppress);
  out.level = node.get_choice("level", out.level, {"low", "moderate", "high", "very_high"});
}

void read_session(const Node& node, SessionSettings& out) {
  out.idle_timeout = node.get("idle_timeout", out.idle_timeout, 0ms, 168h);
  out.no_voice_timeout = node.get("no_voice_timeout", out.no_voice_timeout, 0ms, 24h);
  out.farewell = node.get("farewell", out.farewell);
  out.greeting = node.get("greeting", out.greeting);
  out.not_understood = node.get("not_understood", out.not_understood);
  out.apology = node.get("apology", out.apology);
  out.timer_phrase = node.get("timer_phrase", out.timer_phrase);
  out.named_timer_phrase = node.get("named_timer_phrase", out.named_timer_phrase);
  out.reminder_phrase = node.get("reminder_phrase", out.reminder_phrase);
  for (const auto& [key, phrase] : {std::pair("timer_phrase", &out.timer_phrase),
                                    std::pair("named_timer_phrase", &out.named_timer_phrase),
                                    std::pair("reminder_phrase", &out.reminder_phrase)}) {
    if (phrase->find_first_not_of(" \t\r\n") == std::string::npos)
      node.fail(key, "there is nothing to say in it; expected a sentence");
  }
  out.late_phrase = node.get("late_phrase", out.late_phrase);
  out.tool_timeout = node.get("tool_timeout", out.tool_timeout, 100ms, 10min);
  out.draft_after = node.get("draft_after", out.draft_after, 0ms, 10s);
  out.slow_tool_after = node.get("slow_tool_after", out.slow_tool_after, 0ms, 10min);
  out.slow_tool_phrase = node.get("slow_tool_phrase", out.slow_tool_phrase);
  out.asr_timeout = node.get("asr_timeout", out.asr_timeout, 100ms, 10min);
  out.llm_timeout = node.get("llm_timeout", out.llm_timeout, 100ms, 10min);
  out.tts_timeout = node.get("tts_timeout", out.tts_timeout, 100ms, 10min);
  out.max_tool_rounds = node.get("max_tool_rounds", out.max_tool_rounds, 0, 64);
  out.max_history_turns = node.get("max_history_turns", out.max_history_turns, 0, 1000);
  out.max_history_tokens = node.get("max_history_tokens", out.max_history_tokens, 0, 1'000'000);
  out.voice_barge_in = node.get("voice_barge_in", out.voice_barge_in);
}

void read_tools(const Node& node, ToolSettings& out) {
  const auto disabled = node.child("disabled");
  if (!disabled) return;
  const std::vector<std::string> known(kOwnTools.begin(), kOwnTools.end());
  out.disabled = node.get_strings("disabled", {});
  for (const auto& name : out.disabled) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const auto close = nearest(name, known);
    node.fail("disabled", "there is no tool " + in_quotes(name) + " of Parley's own; " +
                              (close.empty() ? "expected " + either(known) : "did you mean " + close + "?"));
  }
}

void read_role(const Node& roles, std::string_view key, const EngineNames& engines, Role& out) {
  const auto node = roles.child(key);
  if (!node) return;
  if (node->is_map()) node->fail("this is a map; expected the name of an engine, or a list of names");
  const auto names = node->is_sequence() ? node->elements() : std::vector<Node>{*node};
  if (names.empty()) node->fail("this list is empty; expected at least one engine");
  Role role;
  for (const auto& place : names) {
    auto name = place.text();
    if (std::ranges::find(engines, name) == engines.end()) {
      const auto close = nearest(name, engines);
      place.fail("there is no engine " + in_quotes(name) + "; " +
                 (close.empty() ? "expected " + either(engines) : "did you mean " + close + "?"));
    }
    if (std::ranges::find(role, name) != role.end()) {
      place.fail("the engine " + in_quotes(name) + " is in this list already; expected each engine once");
    }
    role.push_back(std::move(name));
  }
  out = std::move(role);
}

void check_language(const Node& node, std::string_view language) {
  // BCP 47, loosely: a language of two or three letters, then subtags.
  const auto rest =
      std::ranges::find_if_not(language, [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; });
  const auto letters = rest - language.begin();
  bool good =
      (letters == 2 || letters == 3) && (rest == language.end() || *rest == '-') && language.back() != '-';
  for (auto at = rest; at != language.end(); ++at) {
    const char c = *at;
    const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    good = good && (letter || (c >= '0' && c <= '9') || c == '-');
  }
  if (!good) {
    node.fail("language",
              "this is " + in_quotes(language) + "; expected a language tag such as en, en-US or zh-CN");
  }
}

}  // namespace

void read_profile(const Node& node, const EngineNames& engines, Profile& profile) {
  profile.persona = node.get("persona", profile.persona);
  if (const auto persona = parse_persona(profile.persona); !persona) {
    node.fail("persona", persona.error().message);
  }
  profile.language = node.get("language", profile.language);
  check_language(node, profile.language);
  profile.timezone = node.get("timezone", profile.timezone);
  try {
    const TimeZone known(profile.timezone);
  } catch (const Failure& unknown) {
    node.fail("timezone", unknown.error().message);
  }
  profile.voice = node.get("voice", profile.voice);
  if (const auto audio = node.child("audio")) read_audio(*audio, profile.audio);
  if (const auto detector = node.child("detector")) read_detector(*detector, profile.detector);
  if (const auto noise = node.child("noise")) read_noise(*noise, profile.noise);
  if (const auto session = node.child("session")) read_session(*session, profile.session);
  if (const auto tools = node.child("tools")) read_tools(*tools, profile.tools);
  if (const auto roles = node.child("roles")) {
    read_role(*roles, "vad", engines, profile.roles.vad);
    read_role(*roles, "asr", engines, profile.roles.asr);
    read_role(*roles, "llm", engines, profile.roles.llm);
    read_role(*roles, "tts", engines, profile.roles.tts);
  }
}

}  // namespace parley::config
