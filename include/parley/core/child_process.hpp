#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/core/error.hpp"
#include "parley/core/task.hpp"

namespace parley {

/// Where the program is: a name with a slash as it stands, another one from PATH. The error is a sentence for
/// whoever wrote the configuration.
Result<std::filesystem::path> find_program(std::string_view name);

/// How a program ended.
struct ProcessExit {
  int status = 0;  ///< where it was not killed
  int signal = 0;  ///< that killed it; 0: none did
  bool ok() const { return status == 0 && signal == 0; }
};

/// A program with pipes at its three standard streams, in a process group of its own. Belongs to one I/O
/// thread. Destroying it, or kill(), ends the group: SIGTERM, a moment later SIGKILL; it is reaped in the
/// background.
class ChildProcess {
 public:
  /// Starts `arguments[0]` (a name is looked up in PATH) without a shell. It inherits the environment and
  /// no descriptor. SIGPIPE is ignored in this process from then on.
  static Result<std::unique_ptr<ChildProcess>> spawn(const asio::any_io_executor& executor,
                                                     const std::vector<std::string>& arguments);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ChildProcess(ChildProcess&&) = delete;
  ChildProcess& operator=(ChildProcess&&) = delete;

  /// Feeds its standard input in the background, then closes it. Once. A program that does not read all of it
  /// is no error.
  void feed(std::string input);

  /// Bytes of its standard output; 0: it was closed. After kill(): Errc::cancelled.
  Task<Result<std::size_t>> read(std::span<std::uint8_t> into);

  /// Waits until it has ended.
  Task<ProcessExit> exited();

  void kill();

  /// The last KiB of its standard error, for messages.
  std::string complaint() const;

  int pid() const;

 private:
  struct State;
  explicit ChildProcess(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

/// A sentence about a program that ended badly, with what it complained of.
std::string describe(std::string_view program, const ProcessExit& exit, std::string_view complaint);

}  // namespace parley
