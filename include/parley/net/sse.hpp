#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "parley/core/clock.hpp"
#include "parley/core/error.hpp"

namespace parley::net {

struct SseEvent {
  std::string event = "message";
  std::string data;  ///< lines joined by '\n'
  std::string id;    ///< the last one that was sent, also with an earlier event
};

/// Reads `text/event-stream` (HTML standard, 9.2.6) piece by piece, wherever it was cut.
class SseParser {
 public:
  /// `max_event`: bytes of one event, its lines and comments; more is Errc::limit.
  explicit SseParser(std::size_t max_event = std::size_t{1024} * 1024) : max_event_(max_event) {}

  /// Errors end the stream: nothing may be pushed afterwards.
  Result<> push(std::string_view bytes);
  /// The stream is over. Other than the standard says, an event whose last blank line is missing counts:
  /// some servers leave it out.
  void finish();
  /// Events that are complete, in order; without data there is none.
  std::optional<SseEvent> next();
  /// The last `id` of a complete event, with data or not; empty: none was sent.
  const std::string& last_event_id() const { return last_event_id_; }
  /// How long the server asks to wait before a stream is opened again, if it does.
  std::optional<Millis> retry() const { return retry_; }

 private:
  void end_line();
  void take_field(std::string_view name, std::string_view value);
  void dispatch();

  std::size_t max_event_;
  std::size_t event_bytes_ = 0;
  std::string line_;
  bool after_cr_ = false;
  bool first_line_ = true;
  bool has_data_ = false;
  SseEvent current_;
  std::string last_event_id_;
  std::optional<Millis> retry_;
  std::deque<SseEvent> ready_;
};

}  // namespace parley::net
