#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "parley/core/clock.hpp"
#include "parley/core/log.hpp"
#include "parley/engine/stream.hpp"

// Trying again, for engines on the other side of a network: only what has delivered nothing yet.
namespace parley::engine {

struct RetryPolicy {
  int retries = 1;
  Millis first{200};      ///< the wait before the first retry; doubles with each
  Millis longest{2'000};  ///< of any wait; who asks for a longer one is not asked again
};

/// The wait before retry number `retry` (from 0), or nullopt where there is to be none: the error is final,
/// the retries are used up, or the other side asks for more time than there is. `jitter` in [0, 1): up to
/// half of the wait is taken off by it, so that many clients do not come back at once.
std::optional<Millis> back_off(const RetryPolicy& policy, int retry, const Error& error, double jitter);

/// A number in [0, 1) for it.
double random_jitter();

/// Suspends by the real clock.
Task<> pause_for(Millis wait);

/// Calls `attempt` until it succeeds or back_off() says no.
template <class T>
Task<Result<T>> retried(RetryPolicy policy, std::function<Task<Result<T>>()> attempt) {
  for (int retry = 0;; ++retry) {
    auto result = co_await attempt();
    if (result) co_return result;
    const auto wait = back_off(policy, retry, result.error(), random_jitter());
    if (!wait) co_return result;
    log::info("an engine is asked again", {{"why", result.error().message}, {"wait_ms", wait->count()}});
    co_await pause_for(*wait);
  }
}

/// A stream whose first event was read already.
template <class Event>
class BegunStream final : public EventStream<Event> {
 public:
  BegunStream(std::unique_ptr<EventStream<Event>> stream, std::optional<Event> first)
      : stream_(std::move(stream)), first_(std::move(first)), ended_(!first_) {}

  Task<Result<std::optional<Event>>> next() override {
    if (first_) co_return std::exchange(first_, std::nullopt);
    if (ended_) co_return std::optional<Event>();
    co_return co_await stream_->next();
  }

 private:
  std::unique_ptr<EventStream<Event>> stream_;
  std::optional<Event> first_;
  bool ended_;
};

/// Opens a stream and waits for its first event, trying again as long as there is none.
template <class Event>
Task<Result<std::unique_ptr<EventStream<Event>>>> begun(
    RetryPolicy policy, std::function<Task<Result<std::unique_ptr<EventStream<Event>>>>()> open) {
  using Stream = std::unique_ptr<EventStream<Event>>;
  // A named function object: it has to outlive the coroutine that it starts.
  const std::function<Task<Result<Stream>>()> attempt = [&open]() -> Task<Result<Stream>> {
    auto stream = co_await open();
    if (!stream) co_return stream.error();
    auto first = co_await (*stream)->next();
    if (!first) co_return first.error();
    co_return Stream(std::make_unique<BegunStream<Event>>(std::move(*stream), std::move(*first)));
  };
  co_return co_await retried<Stream>(policy, attempt);
}

}  // namespace parley::engine
