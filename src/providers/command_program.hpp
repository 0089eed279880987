#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/config/node.hpp"
#include "parley/core/child_process.hpp"
#include "parley/core/clock.hpp"

namespace parley::providers {

/// The key `command`: a program that is there, and its arguments. A relative path with a slash is looked for
/// beside the configuration.
std::vector<std::string> command_from_config(const config::Node& node);

/// The arguments with every `{name}` replaced. A value that would be read as an option (`-…`) is left out.
std::vector<std::string> filled_in(std::vector<std::string> command,
                                   const std::vector<std::pair<std::string, std::string>>& values);

/// One run of a program that has to get on.
class ProgramRun {
 public:
  ProgramRun(std::unique_ptr<ChildProcess> process, std::string name, std::shared_ptr<Scheduler> clock);

  void feed(std::string input) { process_->feed(std::move(input)); }
  /// What follows has to happen in `limit`; later, the program is stopped and read() gives Errc::timeout.
  void expect_within(Millis limit);
  /// Nothing has to happen any more.
  void expect_nothing() { timer_->cancel(); }
  /// Bytes of its output; 0: it ended well. A bad end is Errc::unavailable with its complaint.
  Task<Result<std::size_t>> read(std::span<std::uint8_t> into);
  const std::string& name() const { return name_; }

 private:
  std::unique_ptr<ChildProcess> process_;
  std::string name_;
  std::shared_ptr<Scheduler> clock_;
  std::unique_ptr<Timer> timer_;
  bool late_ = false;
};

}  // namespace parley::providers
