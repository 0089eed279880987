#include "parley/device/conversation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <utility>

namespace parley::device {
namespace {

using nlohmann::ordered_json;

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

double seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}

std::string dump(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json or_null(const std::optional<double>& ms) {
  return ms ? ordered_json(std::round(*ms * 10) / 10) : ordered_json();
}

std::string number(const ordered_json& data, const char* key) {
  const auto found = data.find(key);
  return found == data.end() ? "0" : found->dump();
}

std::string frames_text(const ordered_json& frames) {
  auto text = number(frames, "received") + " frames, " + number(frames, "dropped") + " dropped, " +
              number(frames, "underruns") + " underruns";
  if (frames.value("gap_ms", 0.0) > 0) text += " (" + number(frames, "gap_ms") + " ms of silence)";
  return text;
}

std::string tool_text(const ordered_json& data) {
  const auto arguments = data.find("arguments");
  const auto result = data.find("result");
  return (arguments == data.end() ? "{}" : dump(*arguments)) +
         (data.value("failed", false) ? " failed: " : " -> ") +
         (result != data.end() && result->is_string() ? result->get<std::string>() : "");
}

}  // namespace

std::string_view to_string(EventKind kind) {
  constexpr std::string_view names[] = {
      "connected", "hello",    "turn",     "detect",    "listen_start", "listen_stop", "speech_end",
      "cut_off",   "stt",      "emotion",  "tts_start", "sentence",     "first_audio", "tool_call",
      "abort",     "tts_stop", "turn_end", "alert",     "system",       "violation",   "closed"};
  static_assert(std::size(names) == static_cast<std::size_t>(EventKind::closed) + 1);
  return names[static_cast<std::size_t>(kind)];
}

Conversation::Turn& Conversation::turn_of(const Event& event) {
  const auto index = static_cast<std::size_t>(std::max(event.turn, 0));
  while (turns_.size() <= index) {
    turns_.emplace_back();
    turns_.back().began = event.at;
  }
  return turns_[index];
}

std::optional<double> Conversation::after_speech(const Event& event) const {
  const auto index = static_cast<std::size_t>(std::max(event.turn, 0));
  if (index >= turns_.size() || !turns_[index].speech_end) return std::nullopt;
  return to_ms(event.at - *turns_[index].speech_end);
}

void Conversation::record(const Event& event, Turn& turn) {
  switch (event.kind) {
    case EventKind::turn:
      turn.said = event.text;
      turn.began = event.at;
      break;
    case EventKind::listen_start:
      // Only the first of a turn: it is also sent when the device goes on listening.
      if (!turn.speech_end && !turn.heard) turn.began = event.at;
      break;
    case EventKind::speech_end:
      turn.speech_end = event.at;
      break;
    case EventKind::stt:
      turn.heard = event.text;
      turn.stt_ms = after_speech(event);
      break;
    case EventKind::tts_start:
      turn.tts_start_ms = after_speech(event);
      break;
    case EventKind::sentence:
      turn.replies.push_back(event.text);
      break;
    case EventKind::first_audio:
      turn.first_audio = event.at;
      turn.first_audio_ms = after_speech(event);
      break;
    case EventKind::tool_call:
      turn.tool_calls.push_back({{"name", event.text},
                                 {"arguments", event.data.value("arguments", ordered_json::object())},
                                 {"result", event.data.value("result", ordered_json())},
                                 {"failed", event.data.value("failed", false)}});
      break;
    case EventKind::abort:
      turn.aborted = event.at;
      break;
    case EventKind::tts_stop:
      turn.tts_stop_ms = after_speech(event);
      if (turn.aborted) turn.abort_to_stop_ms = to_ms(event.at - *turn.aborted);
      break;
    case EventKind::turn_end:
      turn.frames = event.data;
      break;
    case EventKind::violation:
      ++violations_;
      break;
    default:
      break;
  }
}

std::string Conversation::describe(const Event& event) const {
  const auto late = after_speech(event);
  const auto after = late ? " (" + fixed(*late, 0) + " ms after the end of speech)" : std::string();
  const auto& turn = turns_[static_cast<std::size_t>(std::max(event.turn, 0))];
  switch (event.kind) {
    case EventKind::connected:
      return "connected (" + number(event.data, "connect_ms") + " ms)";
    case EventKind::hello:
      return "hello (" + number(event.data, "hello_ms") + " ms): framing " + number(event.data, "version") +
             ", downlink " + number(event.data, "sample_rate") + " Hz in frames of " +
             number(event.data, "frame_duration") + " ms";
    case EventKind::turn:
      return {};
    case EventKind::detect:
      return "wake word " + quoted(event.text);
    case EventKind::listen_start:
      return "listen start (" + event.text + ")";
    case EventKind::listen_stop:
      return "listen stop";
    case EventKind::speech_end:
      return "you said " + quoted(event.text) + " (end of speech)";
    case EventKind::cut_off:
      return "the server answers before the utterance is over: " + number(event.data, "remaining_ms") +
             " ms of it are not said";
    case EventKind::stt:
      return "heard " + quoted(event.text) + after;
    case EventKind::emotion:
      return "face " + event.text;
    case EventKind::tts_start:
      return "tts start" + after;
    case EventKind::sentence:
      return "says " + quoted(event.text);
    case EventKind::first_audio:
      return "first audio" + after;
    case EventKind::tool_call:
      return "tool " + event.text + " " + tool_text(event.data);
    case EventKind::abort:
      return "abort";
    case EventKind::tts_stop:
      return "tts stop" +
             (turn.abort_to_stop_ms ? " (" + fixed(*turn.abort_to_stop_ms, 1) + " ms after the abort)" : "");
    case EventKind::turn_end:
      return "played out: " + frames_text(event.data);
    case EventKind::alert:
      return "alert " + quoted(event.text);
    case EventKind::system:
      return "system command " + event.text;
    case EventKind::violation:
      return "the server broke the protocol: " + event.text;
    case EventKind::closed:
      return event.text;
  }
  return {};
}

std::string Conversation::add(const Event& event) {
  auto& turn = turn_of(event);
  record(event, turn);
  if (event.kind == EventKind::turn) {
    return "turn " + std::to_string(event.turn) + ": " + quoted(event.text) + "\n";
  }
  const auto zero = event.turn > 0 ? turn.began : start_;
  auto time = fixed(seconds(event.at - zero), 3);
  if (time.front() != '-') time.insert(0, "+");
  constexpr std::size_t width = 9;
  if (time.size() < width) time.insert(0, width - time.size(), ' ');
  return time + "  " + describe(event) + "\n";
}

std::string Conversation::json_line(const Event& event) const {
  ordered_json line{{"event", to_string(event.kind)},
                    {"t", std::round(seconds(event.at - start_) * 1e6) / 1e6},
                    {"turn", event.turn}};
  if (!event.text.empty()) line["text"] = event.text;
  if (const auto ms = after_speech(event)) line["after_speech_ms"] = or_null(ms);
  if (!event.data.empty()) line["data"] = event.data;
  return dump(line);
}

ordered_json Conversation::summary(const std::optional<std::string>& error) const {
  auto list = ordered_json::array();
  for (std::size_t i = 1; i < turns_.size(); ++i) {
    const auto& turn = turns_[i];
    list.push_back({{"said", turn.said},
                    {"heard", turn.heard ? ordered_json(*turn.heard) : ordered_json()},
                    {"tool_calls", turn.tool_calls},
                    {"replies", turn.replies},
                    {"interrupted", turn.aborted.has_value()},
                    {"stt_ms", or_null(turn.stt_ms)},
                    {"tts_start_ms", or_null(turn.tts_start_ms)},
                    {"first_audio_ms", or_null(turn.first_audio_ms)},
                    {"tts_stop_ms", or_null(turn.tts_stop_ms)},
                    {"abort_to_stop_ms", or_null(turn.abort_to_stop_ms)},
                    {"frames", turn.frames}});
  }
  return {{"event", "summary"},
          {"greeting", turns_.front().replies},
          {"turns", list},
          {"violations", violations_},
          {"error", error ? ordered_json(*error) : ordered_json()}};
}

std::string Conversation::summary_text(const std::optional<std::string>& error) const {
  std::string text;
  for (std::size_t i = 1; i < turns_.size(); ++i) {
    const auto& turn = turns_[i];
    text += std::to_string(i) + ". " + quoted(turn.said) + " was heard as " +
            (turn.heard ? quoted(*turn.heard) : "nothing");
    for (const auto& call : turn.tool_calls) text += "; tool " + call["name"].get<std::string>();
    if (turn.first_audio_ms) text += "; first audio after " + fixed(*turn.first_audio_ms, 0) + " ms";
    if (!turn.frames.empty()) text += "; " + frames_text(turn.frames);
    text += "\n";
  }
  if (violations_ > 0) text += "The server broke the protocol " + std::to_string(violations_) + " times.\n";
  if (error) text += "Failed: " + *error + "\n";
  return text;
}

}  // namespace parley::device
