#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/audio/opus_codec.hpp"
#include "parley/audio/resampler.hpp"
#include "parley/config/settings.hpp"
#include "parley/core/async_event.hpp"
#include "parley/core/metrics.hpp"
#include "parley/dialogue/reply.hpp"
#include "parley/net/connection.hpp"
#include "parley/protocol/binary_frame.hpp"
#include "parley/protocol/messages.hpp"
#include "parley/turn/ledger.hpp"
#include "parley/turn/pacer.hpp"

namespace parley::session {

/// The way of one reply's audio to the device: resampler, Opus encoder, pacer. One object a reply, so nothing
/// of an old one can leave after cancel(). Frames are encoded when they are due, so a long text costs no
/// burst of work.
class Playout final : public dialogue::Voice, public std::enable_shared_from_this<Playout> {
 public:
  struct Wire {
    std::shared_ptr<net::Connection> connection;
    std::string session_id;
    protocol::Framing framing = protocol::Framing::raw;
    std::shared_ptr<Scheduler> scheduler;
    std::shared_ptr<Metrics> metrics;
    asio::any_io_executor executor;
    /// The next downlink timestamp in ms (framing 2): non-zero, rising over the whole session.
    std::shared_ptr<std::uint32_t> timestamp;
    /// The first frame does not leave before: the device is still clearing its queue.
    TimePoint earliest = TimePoint::min();
    /// Called once, when the first frame leaves; may be empty.
    std::function<void()> on_begun = nullptr;
  };

  Playout(Wire wire, const config::AudioSettings& settings, std::shared_ptr<dialogue::TurnRecord> record);

  void show(const dialogue::Emotion& emotion) override;
  void begin_sentence(std::string text) override;
  Task<> play(const audio::Pcm& pcm) override;

  /// No more audio follows; suspends until the device has played the last frame.
  Task<> finish();
  /// Nothing leaves from now on.
  void cancel();
  /// What the device has played of the reply by now.
  std::string heard() const;

 private:
  struct Subtitle {
    std::string text;
    std::int64_t position;  ///< samples of the downlink
  };
  void arm();
  void tick();
  bool frame_ready() const;
  void send_frame(TimePoint now);
  std::size_t waiting() const { return samples_.size() - taken_; }
  Result<> prepare(int rate);
  void send(const protocol::ServerMessage& message);

  Wire wire_;
  config::AudioSettings settings_;
  std::shared_ptr<dialogue::TurnRecord> record_;
  turn::Pacer pacer_;
  turn::Ledger ledger_;
  std::unique_ptr<Timer> timer_;
  AsyncEvent changed_;
  std::optional<audio::OpusEncoder> encoder_;
  std::optional<audio::Resampler> resampler_;
  std::vector<std::int16_t> samples_;  ///< at the downlink rate; the first taken_ of them have left
  std::size_t taken_ = 0;
  std::int64_t position_ = 0;  ///< samples that have left
  std::deque<Subtitle> subtitles_;
  std::size_t frame_samples_;
  std::size_t max_waiting_;
  std::optional<TimePoint> ready_since_;  ///< a whole frame has been waiting since
  bool finishing_ = false;
  bool cancelled_ = false;
};

}  // namespace parley::session
