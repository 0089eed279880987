#pragma once

#include <boost/system/result.hpp>
#include <chrono>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace parley {

/// What went wrong, in the terms by which callers decide what to do next.
enum class Errc {
  cancelled,      ///< The work was abandoned; never reported to anybody.
  timeout,        ///< A deadline passed.
  invalid_input,  ///< The other side, or a file, sent something malformed.
  limit,          ///< A configured size, rate or count was exceeded.
  overloaded,     ///< No capacity now; a later try may succeed.
  unavailable,    ///< The other side cannot be reached or refused to serve.
  unauthorized,   ///< Missing or wrong credentials.
  unsupported,    ///< Understood, but not something this build or peer does.
  configuration,  ///< The configuration is wrong.
  closed,         ///< The connection or stream is gone.
  internal,       ///< A defect in Parley or in a library below it.
};

std::string_view to_string(Errc code);

/// A failure with a sentence for a person and the place that reported it.
struct Error {
  Errc code = Errc::internal;
  std::string message;
  /// Whether the same request may succeed when it is sent again.
  bool retryable = false;
  /// How long the other side asked to be left alone; zero: it did not say.
  std::chrono::milliseconds retry_after{0};
  std::source_location where = std::source_location::current();

  Error() = default;  ///< boost::system::result wants it
  Error(Errc c, std::string text, bool again = false,
        std::source_location place = std::source_location::current())
      : code(c), message(std::move(text)), retryable(again), where(place) {}
};

/// Thrown where a Result cannot be returned (constructors, configuration loading).
class Failure : public std::runtime_error {
 public:
  explicit Failure(Error error) : std::runtime_error(error.message), error_(std::move(error)) {}
  const Error& error() const { return error_; }

 private:
  Error error_;
};

template <class T = void>
using Result = boost::system::result<T, Error>;

/// Found by boost::system::result::value() when it holds an error.
[[noreturn]] inline void throw_exception_from_error(const Error& error, const boost::source_location&) {
  throw Failure(error);
}

}  // namespace parley
