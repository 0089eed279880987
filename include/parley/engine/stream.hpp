#pragma once

#include <optional>

#include "parley/core/error.hpp"
#include "parley/core/task.hpp"

namespace parley::engine {

/// Events of one piece of work. Belongs to one session and its I/O thread; destroying it abandons the
/// work at once, on whatever thread that runs.
template <class Event>
class EventStream {
 public:
  EventStream() = default;
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;
  EventStream(EventStream&&) = delete;
  EventStream& operator=(EventStream&&) = delete;
  virtual ~EventStream() = default;

  /// The next event; nullopt is the clean end. After an error or the end, not called again.
  virtual Task<Result<std::optional<Event>>> next() = 0;
};

}  // namespace parley::engine
