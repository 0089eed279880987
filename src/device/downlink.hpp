#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/audio/opus_codec.hpp"
#include "parley/core/task.hpp"
#include "parley/device/playout.hpp"
#include "parley/protocol/binary_frame.hpp"
#include "parley/protocol/messages.hpp"

namespace parley::device {

/// The server's audio on its way to the speaker: the playout model driven by the clock, and the decoder
/// behind it.
class Downlink : public std::enable_shared_from_this<Downlink> {
 public:
  struct Listener {
    /// The first packet after the newest `tts start` is played.
    std::function<void()> audible;
    /// A frame that no device can play, or of another length than declared.
    std::function<void(std::string what)> violation;
    /// Time passed: drained() may have become true.
    std::function<void()> changed;
  };

  Downlink(const asio::any_io_executor& executor, const PlayoutSettings& settings, Listener listener)
      : settings_(settings), playout_(settings), listener_(std::move(listener)), timer_(executor) {}

  /// What the server's hello declared.
  void agree(const protocol::AudioParams& audio);
  void tts_start();
  void tts_stop();
  void push(protocol::Bytes packet);
  /// Stops playing.
  void close();

  const protocol::AudioParams& audio() const { return audio_; }
  bool drained() const { return playout_.drained(); }
  /// As of now.
  PlayoutCounts counts();
  const std::vector<std::int16_t>& heard() const { return heard_; }

 private:
  void pump();
  void play(const Playout::Packet& packet);

  PlayoutSettings settings_;
  protocol::AudioParams audio_{24000, 60, 1};
  Playout playout_;
  Listener listener_;
  asio::steady_timer timer_;
  std::optional<audio::OpusDecoder> decoder_;
  std::vector<std::int16_t> heard_;
  std::size_t starts_ = 0;  // That arrived; the playout counts those that were handled.
  bool audible_ = false;
  bool closed_ = false;
};

}  // namespace parley::device
