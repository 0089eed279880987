#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mcp/call_arguments.hpp"
#include "parley/mcp/own_tools.hpp"

namespace parley::mcp {

/// Timers and reminders, of the own tools.
class ReminderTools {
 public:
  /// `wiring` outlives this.
  explicit ReminderTools(const OwnToolsWiring& wiring) : wiring_(wiring) {}

  std::unique_ptr<CallStream> set_timer(const CallArguments& arguments, Millis timeout) const;
  std::unique_ptr<CallStream> set_reminder(const CallArguments& arguments, Millis timeout) const;
  std::unique_ptr<CallStream> list() const;
  std::unique_ptr<CallStream> cancel(const CallArguments& arguments) const;

 private:
  WallTime now() const { return wiring_.wall_clock(); }
  /// "It is 2025-03-04T17:10:05 now.": models do not know.
  std::string and_now() const;
  Result<WallTime> due_at(const CallArguments& arguments) const;
  Result<WallTime> due_in(const CallArguments& arguments) const;
  std::unique_ptr<CallStream> store(Reminder reminder, std::string then_said, Millis timeout) const;
  std::string described(const Reminder& reminder) const;
  std::string described(const std::vector<Reminder>& reminders) const;

  const OwnToolsWiring& wiring_;
};

}  // namespace parley::mcp
