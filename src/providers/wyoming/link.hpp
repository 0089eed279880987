#pragma once

#include <cstddef>
#include <memory>

#include "parley/core/error.hpp"
#include "parley/core/task.hpp"
#include "parley/providers/wyoming_endpoint.hpp"
#include "providers/wyoming/event.hpp"

namespace parley::providers::wyoming {

/// One connection to a Wyoming server, which begins to connect when it is made. Belongs to one I/O thread.
/// Destroying it closes it at once.
///
/// Every deadline that passes ends the link itself, whatever it is waiting for, with Errc::timeout: until it
/// is connected, and, once an answer is expected, to its first event, between events, and all together (the
/// time in which nobody is in next() does not count).
class Link {
 public:
  /// `max_unsent`: bytes that may wait to be sent.
  Link(const asio::any_io_executor& executor, const WyomingEndpoint& endpoint, std::size_t max_unsent);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  Link(Link&&) = delete;
  Link& operator=(Link&&) = delete;

  /// Never blocks; what is sent before the connection is there waits for it. More than `max_unsent` bytes end
  /// the link with Errc::overloaded.
  void send(const Event& event);
  /// The request is complete.
  void expect_answer();
  /// Errors, each with the server's address: unavailable (no connection), closed (the server ended it),
  /// timeout, overloaded, invalid_input (what came is no event), limit (an event or the answer is too long).
  Task<Result<Event>> next();
  /// Whether it ended, or the server has closed it or begun to speak unasked.
  bool is_stale() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// What an `error` event of the server at `uri` says.
Error error_of(const Event& event, const std::string& uri);

}  // namespace parley::providers::wyoming
