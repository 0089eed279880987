#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "parley/audio/opus_codec.hpp"
#include "parley/core/task.hpp"
#include "parley/device/socket.hpp"
#include "parley/device/utterance.hpp"

namespace parley::device {

/// The microphone's way to the server: frames encoded and handed on in real time while it is open.
class Uplink : public std::enable_shared_from_this<Uplink> {
 public:
  struct Listener {
    std::function<void(SharedBytes)> frame;
    /// The voiced part of the utterance ended then.
    std::function<void(TimePoint at)> speech_ended;
    /// The whole utterance was sent.
    std::function<void()> said;
    std::function<void(Error)> failed;
  };

  /// `version` of the binary framing.
  static Result<std::shared_ptr<Uplink>> make(const asio::any_io_executor& executor, Millis frame,
                                              int version, bool dtx, NoiseBed noise, Listener listener);

  void open();
  void close();
  /// Begins with the next frame.
  void say(Utterance utterance);
  /// Drops what is left of the utterance.
  void hush() { microphone_.hush(); }
  bool talking() const { return microphone_.talking(); }
  /// Whether the voiced part of the utterance is not over.
  bool in_speech() const { return talking() && voice_end_; }
  Duration left() const { return audio::duration_of(microphone_.remaining(), audio::kListeningRate); }
  /// What is recorded until then is lost.
  void stall(TimePoint until) { stalled_until_ = until; }

 private:
  Uplink(const asio::any_io_executor& executor, Millis frame, int version, NoiseBed noise, Listener listener,
         audio::OpusEncoder encoder);
  void arm();
  void send_frame();
  void hand_on(audio::PcmView samples);

  Millis frame_;
  int version_;
  Microphone microphone_;
  Listener listener_;
  audio::OpusEncoder encoder_;
  asio::steady_timer timer_;
  bool open_ = false;
  std::uint64_t round_ = 0;  // Of opening and closing; tells a stale wait.
  TimePoint next_{};
  TimePoint stalled_until_{};
  std::optional<Duration> voice_end_;  // Of an utterance whose voice has not ended yet.
  std::optional<TimePoint> began_;
};

}  // namespace parley::device
