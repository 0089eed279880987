#include "parley/core/clock.hpp"

#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "parley/core/async_event.hpp"

namespace parley {
namespace {

class AsioTimer final : public Timer {
 public:
  explicit AsioTimer(const asio::any_io_executor& executor) : state_(std::make_shared<State>(executor)) {}
  AsioTimer(const AsioTimer&) = delete;
  AsioTimer& operator=(const AsioTimer&) = delete;
  AsioTimer(AsioTimer&&) = delete;
  AsioTimer& operator=(AsioTimer&&) = delete;
  ~AsioTimer() override { cancel(); }

  void arm(TimePoint when, std::function<void()> fire) override {
    state_->fire = std::move(fire);
    const auto round = ++state_->round;
    state_->timer.expires_at(when);
    state_->timer.async_wait([weak = std::weak_ptr(state_), round](const boost::system::error_code& failed) {
      const auto state = weak.lock();
      // A wait that already expired cannot be cancelled any more; the round tells it is stale.
      if (failed || !state || state->round != round) return;
      const auto call = std::exchange(state->fire, nullptr);
      if (call) call();
    });
  }

  void cancel() override {
    ++state_->round;
    state_->fire = nullptr;
    state_->timer.cancel();
  }

 private:
  struct State {
    explicit State(const asio::any_io_executor& executor) : timer(executor) {}
    asio::steady_timer timer;
    std::function<void()> fire;
    std::uint64_t round = 0;
  };
  std::shared_ptr<State> state_;
};

class AsioScheduler final : public Scheduler {
 public:
  explicit AsioScheduler(asio::any_io_executor executor) : executor_(std::move(executor)) {}
  TimePoint now() const override { return Clock::now(); }
  std::unique_ptr<Timer> make_timer() override { return std::make_unique<AsioTimer>(executor_); }

 private:
  asio::any_io_executor executor_;
};

}  // namespace

std::shared_ptr<Scheduler> make_asio_scheduler(asio::any_io_executor executor) {
  return std::make_shared<AsioScheduler>(std::move(executor));
}

Task<> AsyncEvent::wait() {
  co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) {
    throw boost::system::system_error(asio::error::operation_aborted);
  }
}

Task<> sleep_until(Scheduler& scheduler, TimePoint when) {
  AsyncEvent due(co_await asio::this_coro::executor);
  const auto timer = scheduler.make_timer();
  bool done = scheduler.now() >= when;
  if (done) co_return;
  timer->arm(when, [&] {
    done = true;
    due.notify();
  });
  while (!done) co_await due.wait();
}

}  // namespace parley
