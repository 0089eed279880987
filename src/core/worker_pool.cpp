#include "parley/core/worker_pool.hpp"

#include <boost/asio/post.hpp>
#include <utility>

#include "parley/core/log.hpp"

namespace parley {

WorkerPool::WorkerPool(std::size_t threads, std::size_t max_pending)
    : threads_(threads), max_pending_(max_pending), pool_(threads) {
}

WorkerPool::~WorkerPool() {
  stop();
}

void WorkerPool::stop() {
  // Not thread_pool::stop(): that keeps the queued jobs until the pool is destroyed, too late for what they
  // hold.
  stopping_ = true;
  pool_.join();
}

template <class Executor>
Result<> WorkerPool::submit_on(const Executor& executor, std::function<void()> job) {
  if (stopping_) return Error(Errc::closed, "the worker pool is stopping");
  if (pending_.fetch_add(1, std::memory_order_relaxed) >= max_pending_) {
    pending_.fetch_sub(1, std::memory_order_relaxed);
    return Error(Errc::overloaded, "the worker pool is full", true);
  }
  asio::post(executor, [this, job = std::move(job)]() mutable {
    try {
      if (!stopping_) job();
    } catch (const std::exception& failure) {
      log::error("a worker job threw", {{"what", failure.what()}});
    }
    job = nullptr;  // What the job holds is released on the worker, before the slot is free again.
    pending_.fetch_sub(1, std::memory_order_relaxed);
  });
  return {};
}

Result<> WorkerPool::submit(std::function<void()> job) {
  return submit_on(pool_.get_executor(), std::move(job));
}

Result<> WorkerPool::Sequence::submit(std::function<void()> job) {
  return pool_->submit_on(strand_, std::move(job));
}

}  // namespace parley
