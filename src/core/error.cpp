#include "parley/core/error.hpp"

namespace parley {

std::string_view to_string(Errc code) {
  switch (code) {
    case Errc::cancelled:
      return "cancelled";
    case Errc::timeout:
      return "timeout";
    case Errc::invalid_input:
      return "invalid_input";
    case Errc::limit:
      return "limit";
    case Errc::overloaded:
      return "overloaded";
    case Errc::unavailable:
      return "unavailable";
    case Errc::unauthorized:
      return "unauthorized";
    case Errc::unsupported:
      return "unsupported";
    case Errc::configuration:
      return "configuration";
    case Errc::closed:
      return "closed";
    case Errc::internal:
      return "internal";
  }
  return "unknown";
}

}  // namespace parley
