#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace parley {

using WallTime = std::chrono::system_clock::time_point;

/// A zone of the system's time zone database (TZif files, RFC 8536). Immutable.
class TimeZone {
 public:
  /// `name` as in `Europe/Berlin`; empty: the zone of this process. Throws Failure where there is none.
  explicit TimeZone(const std::string& name);
  /// The same from the content of a TZif file.
  static TimeZone parse(const std::string& name, const std::string& content);

  std::tm local(WallTime now) const;
  /// When the clocks there show that; years to seconds are read, and must be those of a real date and time.
  /// Of a time that comes twice the first, and one that is skipped is read as if the clocks had not been
  /// changed yet (RFC 5545, section 3.3.5).
  WallTime moment(const std::tm& local) const;

 private:
  TimeZone() = default;
  struct Period {
    std::int64_t since = 0;   ///< seconds of Unix time
    std::int32_t offset = 0;  ///< seconds east of Greenwich
  };
  std::vector<Period> periods_;  ///< by `since`; empty: the zone of this process
};

}  // namespace parley
