#pragma once

#include <boost/asio/cancellation_signal.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/audio/cleanup.hpp"
#include "parley/audio/opus_codec.hpp"
#include "parley/dialogue/turn_record.hpp"
#include "parley/protocol/messages.hpp"
#include "parley/session/runtime.hpp"
#include "parley/turn/machine.hpp"
#include "parley/turn/speech_detector.hpp"

namespace parley::session {

/// The way of a device's audio to its text: Opus decoder, clean-up, speech detector, recogniser. Codec and
/// detector exist only while it listens.
class Ear : public std::enable_shared_from_this<Ear> {
 public:
  struct Wiring {
    std::shared_ptr<const Runtime> runtime;
    std::shared_ptr<Scheduler> scheduler;
    asio::any_io_executor executor;
    Millis frame_duration{60};  ///< of the uplink, as the device declared it
    /// Where what happens goes; called on the session's thread, never after close().
    std::function<void(turn::Event)> post;
  };

  explicit Ear(Wiring wiring);

  /// Waits for speech in what comes from now on. `guard`: a reply is playing, so more voice is demanded.
  Result<> listen(protocol::ListenMode mode, bool guard = false);
  void stop();
  /// Push to talk was released.
  void end_utterance();
  bool listening() const { return detector_ != nullptr; }
  /// Rises with every listen() and stop(): events of an older one are about speech that is gone.
  std::uint64_t epoch() const { return epoch_; }

  /// One Opus packet. Errc::invalid_input: it cannot be decoded; the session goes on.
  Result<> push(std::span<const std::uint8_t> packet);

  /// The utterance that began is a turn: recognise it. What is to be recognised of it so far was kept.
  /// `request` may take its time; the audio waits for it.
  void open_recogniser(turn::Generation generation, Task<engine::AsrRequest> request,
                       std::shared_ptr<dialogue::TurnRecord> record);
  void finish_recogniser();
  void drop_recogniser();
  void close();

 private:
  struct Recognition;
  void on_began(const turn::SpeechDetector::Began& began);
  void on_audio(audio::PcmView samples);
  void on_ended(const turn::SpeechDetector::Ended& ended);
  void watch_for_gap();
  void on_partial(const std::shared_ptr<Recognition>& job, std::string text);
  void remember_noise();
  static Task<> recognise(std::shared_ptr<Ear> self, std::shared_ptr<Recognition> job,
                          Task<engine::AsrRequest> request);

  Wiring wiring_;
  std::optional<audio::OpusDecoder> decoder_;
  audio::HighPass high_pass_;
  std::unique_ptr<audio::NoiseSuppressor> suppressor_;
  std::unique_ptr<turn::SpeechDetector> detector_;
  turn::NoiseFloor noise_;
  std::unique_ptr<Timer> gap_timer_;
  TimePoint last_audio_{};
  std::vector<std::int16_t> scratch_;
  std::vector<std::int16_t> uncleaned_;  ///< less than a block of the suppressor's
  std::vector<std::int16_t> begun_;      ///< of an utterance that has no recogniser yet
  bool in_utterance_ = false;
  std::uint64_t epoch_ = 0;
  std::optional<TimePoint> speech_ended_;
  std::optional<TimePoint> endpoint_decided_;
  std::shared_ptr<Recognition> recognition_;
  bool closed_ = false;
};

}  // namespace parley::session
