#pragma once

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/multiple_exceptions.hpp>
#include <exception>
#include <utility>

#include "parley/core/clock.hpp"
#include "parley/core/error.hpp"

namespace parley {

/// Whether that is cancellation; `a || b` throws both of its exceptions as one.
inline bool is_cancellation(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const boost::system::system_error& failure) {
    return failure.code() == asio::error::operation_aborted;
  } catch (const asio::multiple_exceptions& several) {
    return is_cancellation(several.first_exception());
  } catch (...) {
    return false;
  }
}

/// The task, with what it throws turned into an error; cancellation passes.
template <class T>
Task<Result<T>> contained(Task<Result<T>> task) {
  try {
    co_return co_await std::move(task);
  } catch (const std::exception& failure) {
    if (is_cancellation(std::current_exception())) throw;
    co_return Error(Errc::internal, failure.what());
  }
}

/// The task's result, or Errc::timeout with `what` at `when`; the task is then cancelled. A result that
/// arrives in the very instant of the deadline may be lost: only for work that is abandoned after a timeout.
template <class T>
Task<Result<T>> with_deadline(Scheduler& scheduler, TimePoint when, std::string what, Task<Result<T>> task) {
  using asio::experimental::awaitable_operators::operator||;
  auto outcome = co_await (contained(std::move(task)) || sleep_until(scheduler, when));
  if (outcome.index() == 1) co_return Error(Errc::timeout, std::move(what), true);
  co_return std::move(std::get<0>(outcome));
}

}  // namespace parley
