#pragma once

#include <atomic>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <functional>
#include <memory>

#include "parley/core/error.hpp"
#include "parley/core/task.hpp"

namespace parley {

/// The bounded pool for work that would hold up an I/O thread: speech decoding, synthesis, programs.
/// A full pool refuses instead of queueing without end.
class WorkerPool {
 public:
  /// `threads` ≥ 1; `max_pending`: jobs queued or running before submit() refuses.
  WorkerPool(std::size_t threads, std::size_t max_pending);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  WorkerPool(WorkerPool&&) = delete;
  WorkerPool& operator=(WorkerPool&&) = delete;

  /// Runs `job` on some worker thread. Fails with Errc::overloaded when the pool is full. Jobs must
  /// not throw; one that does is logged and swallowed.
  Result<> submit(std::function<void()> job);

  /// Lets running jobs end, drops the others, and returns when no thread runs any more. Before the I/O
  /// contexts go that jobs post to.
  void stop();

  std::size_t pending() const { return pending_.load(std::memory_order_relaxed); }
  std::size_t threads() const { return threads_; }

  /// Runs its jobs one after another, in the order of submission, on the pool's threads.
  class Sequence {
   public:
    explicit Sequence(WorkerPool& pool) : pool_(&pool), strand_(asio::make_strand(pool.pool_)) {}
    Result<> submit(std::function<void()> job);

   private:
    WorkerPool* pool_;
    asio::strand<asio::thread_pool::executor_type> strand_;
  };

 private:
  template <class Executor>
  Result<> submit_on(const Executor& executor, std::function<void()> job);

  std::size_t threads_;
  std::size_t max_pending_;
  std::atomic<std::size_t> pending_{0};
  std::atomic<bool> stopping_{false};
  asio::thread_pool pool_;
};

}  // namespace parley
