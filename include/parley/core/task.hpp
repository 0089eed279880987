#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace parley {

namespace asio = boost::asio;

/// A coroutine on a session's I/O thread. Cancelled by Asio's terminal cancellation: it then ends
/// with boost::system::system_error(operation_aborted) at its next suspension point.
template <class T = void>
using Task = asio::awaitable<T>;

}  // namespace parley
