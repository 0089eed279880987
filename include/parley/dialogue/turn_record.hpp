#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "parley/core/clock.hpp"

namespace parley::dialogue {

/// The times of one turn, kept while it runs and written to the turn log and the metrics at its end.
///
/// `added_ms`, what Parley itself adds, is defined here and nowhere else. It is the time from the endpoint
/// decision to the first downlink frame (so the wait for the end of speech is not in it), less every moment
/// in which something that the first frame needs had been asked of an engine or a tool and had not been
/// answered: the recogniser from finish() to its final text, the model from the request to the text that made
/// the first piece to speak, each tool from call to result before that piece, the voice from the first piece
/// to its first audio. Overlapping waits count once. An engine has answered at the instant that it stamps on
/// its event, so what an event waits for our I/O thread is ours.
class TurnRecord {
 public:
  struct ToolUse {
    std::string name;
    std::string where;
    Duration took{};
    bool ok = false;
    TimePoint ended{};
  };

  // Set as they happen; unset where a turn did not get so far.
  std::optional<TimePoint> speech_ended;  ///< arrival of the last voiced frame (manual: of `listen stop`)
  std::optional<TimePoint> endpoint_decided;
  std::optional<TimePoint> asr_final;
  std::optional<TimePoint> llm_first_text;
  std::optional<TimePoint> tts_first_audio;
  std::optional<TimePoint> first_frame;
  std::optional<TimePoint> last_frame;
  std::optional<TimePoint> tts_stop;
  std::vector<ToolUse> tools;
  std::string heard_text;
  std::string reply_text;
  int llm_rounds = 0;
  /// How much later the model's first event would have come without the draft.
  std::optional<Duration> draft_saved;
  int drafts_dropped = 0;  ///< asked for in vain: the words changed
  int underruns = 0;

  /// An engine or tool on the way to the first frame was asked at `from` and answered at `to`.
  void waited(TimePoint from, TimePoint to) { waits_.push_back({from, to}); }
  /// In ms; nothing without both ends.
  std::optional<double> added_ms() const;

  /// The times in ms from the end of speech, and the tools; what is unset is left out.
  nlohmann::ordered_json times() const;

 private:
  struct Wait {
    TimePoint from;
    TimePoint to;
  };
  std::vector<Wait> waits_;
};

}  // namespace parley::dialogue
