#pragma once

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <list>
#include <memory>
#include <optional>

#include "parley/core/clock.hpp"

namespace parley::test {

/// A clock that stands still until it is moved.
class ManualScheduler final : public Scheduler {
 public:
  TimePoint now() const override { return state_->now; }

  std::unique_ptr<Timer> make_timer() override { return std::make_unique<ManualTimer>(state_); }

  /// Moves to the next timer due by `limit` and fires it; false when there is none (then now() is `limit`).
  bool fire_next(TimePoint limit) {
    auto& armed = state_->armed;
    const auto next = std::ranges::min_element(armed, {}, [](const Entry& entry) { return entry.when; });
    if (next == armed.end() || next->when > limit) {
      state_->now = std::max(state_->now, limit);
      return false;
    }
    state_->now = std::max(state_->now, next->when);
    const auto fire = std::move(next->fire);
    armed.erase(next);
    fire();
    return true;
  }

  std::size_t armed() const { return state_->armed.size(); }

 private:
  struct Entry {
    const void* owner;
    TimePoint when;
    std::function<void()> fire;
  };
  struct State {
    TimePoint now{std::chrono::hours(1)};
    std::list<Entry> armed;
  };
  class ManualTimer final : public Timer {
   public:
    explicit ManualTimer(std::shared_ptr<State> state) : state_(std::move(state)) {}
    ManualTimer(const ManualTimer&) = delete;
    ManualTimer& operator=(const ManualTimer&) = delete;
    ManualTimer(ManualTimer&&) = delete;
    ManualTimer& operator=(ManualTimer&&) = delete;
    ~ManualTimer() override { cancel(); }
    void arm(TimePoint when, std::function<void()> fire) override {
      cancel();
      state_->armed.push_back({this, when, std::move(fire)});
    }
    void cancel() override {
      state_->armed.remove_if([this](const Entry& entry) { return entry.owner == this; });
    }

   private:
    std::shared_ptr<State> state_;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// One I/O thread with a manual clock.
struct World {
  asio::io_context io;
  std::shared_ptr<ManualScheduler> scheduler = std::make_shared<ManualScheduler>();

  TimePoint now() const { return scheduler->now(); }

  /// Runs everything that can run without time passing.
  void settle() {
    io.restart();
    while (io.poll() > 0) {
    }
  }

  /// Lets `span` pass, timer by timer.
  void advance(Duration span) {
    const auto limit = now() + span;
    settle();
    while (scheduler->fire_next(limit)) settle();
    settle();
  }

  /// Runs a task to its end, letting at most `limit` pass; nullopt: it did not end.
  template <class T>
  std::optional<T> run(Task<T> task, Duration limit = std::chrono::hours(1)) {
    std::optional<T> result;
    std::exception_ptr thrown;
    asio::co_spawn(io, std::move(task), [&](std::exception_ptr failed, T value) {
      thrown = failed;
      if (!failed) result = std::move(value);
    });
    const auto until = now() + limit;
    settle();
    while (!result && !thrown && scheduler->fire_next(until)) settle();
    if (thrown) std::rethrow_exception(thrown);
    return result;
  }
};

}  // namespace parley::test
