#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/core/clock.hpp"

// What happened on a simulated device, for a person and for a program. Pure.
namespace parley::device {

enum class EventKind {
  connected,     ///< data: connect_ms
  hello,         ///< data: hello_ms, version, sample_rate, frame_duration, session_id
  turn,          ///< text: what will be said
  detect,        ///< text: the wake word
  listen_start,  ///< text: the mode
  listen_stop,
  speech_end,  ///< text: what was said; `at` is the end of its voiced audio
  cut_off,     ///< the server spoke before the utterance was over; data: remaining_ms
  stt,         ///< text
  emotion,     ///< text: the face's name
  tts_start,
  sentence,     ///< text: the subtitle
  first_audio,  ///< the first frame of the reply was played
  tool_call,    ///< text: the name; data: arguments, result, failed
  abort,
  tts_stop,
  turn_end,   ///< data: received, played, dropped, dropped_full, dropped_outside, cleared, underruns, gap_ms
  alert,      ///< text
  system,     ///< text: the command
  violation,  ///< text: what the server did that a device cannot understand
  closed,     ///< text: why
};
std::string_view to_string(EventKind kind);

struct Event {
  EventKind kind = EventKind::closed;
  TimePoint at{};
  int turn = 0;  ///< from 1; 0 before the first
  std::string text;
  nlohmann::ordered_json data = nlohmann::ordered_json::object();
};

/// Collects events and puts them into words.
class Conversation {
 public:
  /// `start`: the zero of the times in JSON.
  explicit Conversation(TimePoint start) : start_(start) {}

  /// Adds the event; returns its line(s) for the terminal, times counted from the beginning of its turn.
  std::string add(const Event& event);
  /// The event as one line of JSON: event, t (seconds), turn, text, data, after_speech_ms where that is
  /// known.
  std::string json_line(const Event& event) const;

  /// turns: said, heard, tool_calls, replies, interrupted, stt_ms, tts_start_ms, first_audio_ms, tts_stop_ms,
  /// abort_to_stop_ms, frames; violations; error (null: none).
  nlohmann::ordered_json summary(const std::optional<std::string>& error) const;
  /// The same for a person.
  std::string summary_text(const std::optional<std::string>& error) const;
  std::size_t violations() const { return violations_; }

 private:
  struct Turn {
    std::string said;
    std::optional<std::string> heard;
    TimePoint began{};
    std::optional<TimePoint> speech_end;
    std::optional<TimePoint> aborted;
    std::optional<TimePoint> first_audio;
    std::optional<double> stt_ms;
    std::optional<double> tts_start_ms;
    std::optional<double> first_audio_ms;
    std::optional<double> tts_stop_ms;
    std::optional<double> abort_to_stop_ms;
    std::vector<std::string> replies;
    nlohmann::ordered_json tool_calls = nlohmann::ordered_json::array();
    nlohmann::ordered_json frames = nlohmann::ordered_json::object();
  };

  Turn& turn_of(const Event& event);
  std::optional<double> after_speech(const Event& event) const;
  std::string describe(const Event& event) const;
  void record(const Event& event, Turn& turn);

  TimePoint start_;
  std::vector<Turn> turns_{1};  // The first is what came before the first turn.
  std::size_t violations_ = 0;
};

}  // namespace parley::device
