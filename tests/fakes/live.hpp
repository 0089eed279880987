#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fakes/world.hpp"
#include "parley/engine/stream.hpp"

namespace parley::test {

/// What became of a task that runs in the background.
template <class T>
struct Outcome {
  std::optional<T> result;
  std::exception_ptr thrown;
  bool done() const { return result || thrown; }
};

/// One I/O thread with real sockets and programs, and a clock that stands still until it is moved.
struct Live {
  asio::io_context io;
  std::shared_ptr<ManualScheduler> scheduler = std::make_shared<ManualScheduler>();

  std::function<std::shared_ptr<Scheduler>(const asio::any_io_executor&)> clock() {
    return [scheduler = scheduler](const asio::any_io_executor&) { return scheduler; };
  }

  template <class T>
  std::shared_ptr<Outcome<T>> start(Task<T> task) {
    auto outcome = std::make_shared<Outcome<T>>();
    asio::co_spawn(io, std::move(task), [outcome](std::exception_ptr failed, T value) {
      outcome->thrown = failed;
      if (!failed) outcome->result = std::move(value);
    });
    return outcome;
  }

  /// Runs until the condition holds; false when that takes longer than anything here may.
  bool until(const std::function<bool()>& condition) {
    const auto limit = Clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      if (Clock::now() > limit) return false;
      io.restart();
      io.run_one_for(std::chrono::milliseconds(20));
    }
    return true;
  }

  /// Runs a task to its end.
  template <class T>
  T run(Task<T> task) {
    const auto outcome = start(std::move(task));
    EXPECT_TRUE(until([&] { return outcome->done(); })) << "the task did not end";
    if (outcome->thrown) std::rethrow_exception(outcome->thrown);
    return std::move(outcome->result.value());
  }

  /// Lets a time pass in which timers fire.
  void pass(Duration span) {
    const auto limit = scheduler->now() + span;
    do {
      io.restart();
      while (io.poll() > 0) {
      }
    } while (scheduler->fire_next(limit));
  }
};

/// Everything of a stream, in order, and its error.
template <class Event>
struct Drained {
  std::vector<Event> events;
  std::optional<Error> error;
};

template <class Event>
Task<Drained<Event>> drain(engine::EventStream<Event>& stream) {
  Drained<Event> all;
  while (true) {
    auto event = co_await stream.next();
    if (!event) {
      all.error = event.error();
      co_return all;
    }
    if (!*event) co_return all;
    all.events.push_back(std::move(**event));
  }
}

}  // namespace parley::test
