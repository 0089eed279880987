#pragma once

#include <memory>
#include <string>

#include "parley/audio/pcm.hpp"
#include "parley/engine/stream.hpp"

namespace parley::engine {

struct TtsRequest {
  /// One sentence or clause, ready to be spoken.
  std::string text;
  /// Empty: the engine's default.
  std::string voice;
  std::string language = "en";
};

struct TtsAudio {
  /// Any length; the rate stays the same within a stream.
  audio::Pcm pcm;
  /// When the engine had it, by the steady clock.
  TimePoint ready_at{};
};

using TtsStream = EventStream<TtsAudio>;

/// Immutable and shared by all threads.
class TtsProvider {
 public:
  virtual ~TtsProvider() = default;
  virtual Task<Result<std::unique_ptr<TtsStream>>> speak(TtsRequest request) = 0;
  /// Opens the connections of this I/O thread that a request would have to wait for. Called when a device
  /// says hello and when it begins to listen.
  virtual void connect_ahead(const asio::any_io_executor& /*executor*/) {}
};

}  // namespace parley::engine
