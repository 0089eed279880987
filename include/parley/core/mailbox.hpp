#pragma once

#include <boost/asio/post.hpp>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "parley/core/async_event.hpp"
#include "parley/core/error.hpp"

namespace parley {

/// Carries the events of one engine stream from any thread to one coroutine on an I/O thread.
/// After close() or fail() what was sent before is still delivered, then the end (nullopt) or the error,
/// again and again. Nothing of Asio is in it but while somebody waits, so producers may keep it longer than
/// the I/O thread lives.
template <class T>
class Mailbox : public std::enable_shared_from_this<Mailbox<T>> {
 public:
  static std::shared_ptr<Mailbox> make(const asio::any_io_executor& executor) {
    return std::shared_ptr<Mailbox>(new Mailbox(executor));
  }

  /// Thread-safe. Dropped silently after the end.
  void send(T value) {
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
    queue_.push_back(std::move(value));
    wake_locked();
  }
  /// Thread-safe: a clean end.
  void close() { end(std::nullopt); }
  /// Thread-safe: an end with an error.
  void fail(Error error) { end(std::move(error)); }

  /// The next event; nullopt at a clean end. One consumer only.
  Task<Result<std::optional<T>>> next() {
    const auto self = this->shared_from_this();
    const auto event = std::make_shared<AsyncEvent>(executor_);
    while (true) {
      {
        const std::scoped_lock lock(mutex_);
        if (!queue_.empty()) {
          std::optional<T> value(std::move(queue_.front()));
          queue_.pop_front();
          co_return Result<std::optional<T>>(std::move(value));
        }
        if (ended_) {
          if (error_) co_return Result<std::optional<T>>(*error_);
          co_return Result<std::optional<T>>(std::optional<T>());
        }
        waiting_ = event;
      }
      co_await event->wait();
    }
  }

  std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return queue_.size();
  }

 private:
  explicit Mailbox(asio::any_io_executor executor) : executor_(std::move(executor)) {}

  void end(std::optional<Error> error) {
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
    ended_ = true;
    error_ = std::move(error);
    wake_locked();
  }

  void wake_locked() {
    if (auto event = waiting_.lock()) {
      asio::post(executor_, [event = std::move(event)] { event->notify(); });
    }
  }

  mutable std::mutex mutex_;
  std::deque<T> queue_;
  bool ended_ = false;
  std::optional<Error> error_;
  asio::any_io_executor executor_;
  std::weak_ptr<AsyncEvent> waiting_;  ///< the consumer's, while it is suspended in next()
};

}  // namespace parley
