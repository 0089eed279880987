#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "parley/core/task.hpp"

namespace parley {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Duration = Clock::duration;
using Millis = std::chrono::milliseconds;

/// A duration as fractional milliseconds, for logs and metrics.
inline double to_ms(Duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

/// A one-shot timer that can be armed again and again. Belongs to one I/O thread.
class Timer {
 public:
  virtual ~Timer() = default;
  /// Calls `fire` once at `when`; replaces what was armed before. Never calls it from inside arm().
  virtual void arm(TimePoint when, std::function<void()> fire) = 0;
  virtual void cancel() = 0;
};

/// Where session code gets its time from: Asio in the server, a manual clock in tests.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  virtual TimePoint now() const = 0;
  virtual std::unique_ptr<Timer> make_timer() = 0;
};

/// The steady clock and Asio timers on `executor`.
std::shared_ptr<Scheduler> make_asio_scheduler(asio::any_io_executor executor);

/// Suspends until `when` by the scheduler's clock.
Task<> sleep_until(Scheduler& scheduler, TimePoint when);

}  // namespace parley
