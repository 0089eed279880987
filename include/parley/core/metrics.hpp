#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "parley/core/clock.hpp"

namespace parley {

/// Everything `/metrics` shows. Thread-safe.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;
  Metrics(Metrics&&) = delete;
  Metrics& operator=(Metrics&&) = delete;

  void session_began();
  void session_ended(std::string_view reason);
  void connection_refused(std::string_view reason);
  void turn_ended(std::string_view outcome);
  /// `stage`: endpoint, asr, llm, tts, added, answer, tool.
  void stage(std::string_view stage, double ms);
  /// `role`: asr, llm, tts, tool.
  void engine_error(std::string_view role, std::string_view engine, std::string_view code);
  void frames_in(std::size_t bytes);
  void frame_out(std::size_t bytes);
  void frame_dropped(std::string_view reason);
  void bad_input(std::string_view kind);
  void underrun();
  void playout_lateness(double ms);
  void worker_jobs(std::size_t pending);
  /// A turn that the history does not keep. `reason`: queue_full, write_failed, stopped.
  void history_lost(std::string_view reason);
  /// `event`: set, cancelled, announced, not_stored.
  void reminder(std::string_view event);

  /// Prometheus text format.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace parley
