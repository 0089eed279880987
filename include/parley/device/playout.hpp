#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "parley/core/clock.hpp"

namespace parley::device {

struct PlayoutSettings {
  Duration frame = Millis(60);      ///< as the server's hello declared it
  std::size_t capacity = 40;        ///< packets; on overflow the newest is dropped
  Duration loop_delay = Millis(5);  ///< from the arrival of `tts start` or `stop` to the main loop's handling
};

struct PlayoutCounts {
  std::size_t received = 0;
  std::size_t played = 0;
  std::size_t dropped_full = 0;     ///< the queue was full
  std::size_t dropped_outside = 0;  ///< arrived while the device was not speaking
  std::size_t cleared = 0;          ///< thrown away by a `tts start`
  std::size_t underruns = 0;        ///< times that a reply ran dry before its next packet came
  Duration gaps{};                  ///< silence heard in those

  std::size_t dropped() const { return dropped_full + dropped_outside + cleared; }
  PlayoutCounts& operator+=(const PlayoutCounts& more);
  /// What was counted since `earlier`.
  PlayoutCounts since(const PlayoutCounts& earlier) const;
};

/// What the firmware does with downlink audio (PROTOCOL.md, section 4). Pure: time is what it is given and
/// never runs backwards. Plays one packet per frame duration, from the moment that the first is there.
class Playout {
 public:
  using Packet = std::vector<std::uint8_t>;

  explicit Playout(const PlayoutSettings& settings) : settings_(settings) {}

  void tts_start(TimePoint now) { post(now, true); }
  void tts_stop(TimePoint now) { post(now, false); }
  void push(Packet packet, TimePoint now);

  /// Lets time pass; returns the packets whose playing began since the last call.
  std::vector<Packet> advance(TimePoint now);

  /// As of the last call with a time.
  bool speaking() const { return speaking_; }
  /// Nothing queued, playing, or waiting for the main loop.
  bool drained() const { return loop_.empty() && queue_.empty() && busy_until_ <= now_; }
  /// When something happens next if nothing more arrives.
  std::optional<TimePoint> next_change() const;
  /// When the last packet at hand has been played.
  TimePoint plays_until() const;
  const PlayoutCounts& counts() const { return counts_; }
  /// How many a `tts start` the main loop has handled.
  std::size_t starts() const { return starts_; }

 private:
  struct Queued {
    Packet packet;
    TimePoint arrived;
  };
  struct LoopEvent {
    TimePoint at;
    bool start;
  };

  void post(TimePoint now, bool start);
  void run(TimePoint now);
  void handle(const LoopEvent& event);
  void play_front(TimePoint at);

  PlayoutSettings settings_;
  PlayoutCounts counts_;
  TimePoint now_{};
  TimePoint busy_until_{};
  std::size_t starts_ = 0;
  bool speaking_ = false;
  bool begun_ = false;  // A packet of this reply was played.
  std::deque<LoopEvent> loop_;
  std::deque<Queued> queue_;
  std::vector<Packet> started_;
};

}  // namespace parley::device
