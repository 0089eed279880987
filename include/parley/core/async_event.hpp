#pragma once

#include <boost/asio/steady_timer.hpp>

#include "parley/core/task.hpp"

namespace parley {

/// Wakes the coroutines of one I/O thread that wait for a condition. Not latched: a waiter checks its
/// condition in a loop, `while (!ready()) co_await event.wait();`.
class AsyncEvent {
 public:
  explicit AsyncEvent(const asio::any_io_executor& executor)
      : timer_(executor, asio::steady_timer::time_point::max()) {}

  void notify() { timer_.cancel(); }

  /// Returns after notify(); throws operation_aborted when the coroutine was cancelled.
  Task<> wait();

 private:
  asio::steady_timer timer_;
};

}  // namespace parley
