#pragma once

#include <cstddef>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "parley/core/error.hpp"

namespace parley::providers::wyoming {

/// One event of the Wyoming protocol.
struct Event {
  std::string type;
  nlohmann::json data = nlohmann::json::object();  ///< always an object
  std::string payload;                             ///< raw bytes, mostly audio
};

/// A line of JSON with the lengths of what follows, the data as JSON, the payload. Text that is no UTF-8 is
/// replaced.
std::string write_event(const Event& event);

/// In bytes; more is Errc::limit.
struct EventLimits {
  std::size_t line = std::size_t{1024} * 1024;
  std::size_t data = std::size_t{4} * 1024 * 1024;
  std::size_t payload = std::size_t{16} * 1024 * 1024;
};

/// Reads events piece by piece, wherever they were cut.
class EventParser {
 public:
  explicit EventParser(EventLimits limits = {}) : limits_(limits) {}

  /// Errors (invalid_input, limit) end the stream: nothing may be pushed afterwards. What was complete before
  /// is still given.
  Result<> push(std::string_view bytes);
  /// Events that are complete, in order.
  std::optional<Event> next();
  /// Whether a part of an event is there.
  bool in_event() const { return stage_ != Stage::line || !pending_.empty(); }

 private:
  enum class Stage { line, data, payload };

  Result<> read_line(std::string_view line);
  Result<> read_data(std::string_view text);

  EventLimits limits_;
  Stage stage_ = Stage::line;
  std::string pending_;
  std::size_t searched_ = 0;  ///< of `pending_`, for the end of the line
  Event current_;
  std::size_t data_length_ = 0;
  std::size_t payload_length_ = 0;
  std::deque<Event> ready_;
};

}  // namespace parley::providers::wyoming
