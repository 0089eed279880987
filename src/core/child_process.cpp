#include "parley/core/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "parley/core/async_event.hpp"
#include "parley/core/clock.hpp"

namespace parley {
namespace {

using Descriptor = asio::posix::stream_descriptor;

constexpr Millis kGrace{300};
constexpr std::size_t kComplaint = 1024;
constexpr std::size_t kMostLastWords = 65536;  // a pipe's capacity

std::string reason(int error) {
  return std::generic_category().message(error);
}

/// An open file descriptor, until it is released.
class File {
 public:
  File() = default;
  explicit File(int fd) : fd_(fd) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

  /// Above the standard streams, onto which the child's ends are copied.
  bool lift() {
    if (fd_ > STDERR_FILENO) return true;
    const int lifted = ::fcntl(fd_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);  // NOLINT(*-vararg)
    if (lifted < 0) return false;
    *this = File(lifted);
    return true;
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  File read;
  File write;
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read = File(ends[0]);
    write = File(ends[1]);
    return read.lift() && write.lift();
  }
};

struct SpawnPlan {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

  SpawnPlan(int in, int out, int err) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    // Asio's sockets are not close-on-exec.
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    constexpr int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(&attributes, static_cast<short>(flags));
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  SpawnPlan(SpawnPlan&&) = delete;
  SpawnPlan& operator=(SpawnPlan&&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

bool may_run(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
}

}  // namespace

Result<std::filesystem::path> find_program(std::string_view name) {
  if (name.empty()) return Error(Errc::configuration, "the program's name is empty");
  if (name.find('/') != std::string_view::npos) {
    if (may_run(name)) return std::filesystem::path(name);
    return Error(Errc::configuration, "there is no program " + std::string(name) + " that may be run");
  }
  const char* const variable = std::getenv("PATH");
  std::string_view path = variable == nullptr ? "/usr/local/bin:/usr/bin:/bin" : variable;
  while (!path.empty()) {
    const auto end = std::min(path.find(':'), path.size());
    const auto file = std::filesystem::path(path.substr(0, end)) / name;
    if (end > 0 && may_run(file)) return file;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return Error(Errc::configuration, "there is no program \"" + std::string(name) +
                                        "\" in PATH: install it, or give the path of its file");
}

struct ChildProcess::State : std::enable_shared_from_this<State> {
  explicit State(const asio::any_io_executor& executor)
      : in(executor), out(executor), err(executor), handle(executor), grace(executor), ended(executor) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;
  /// Only the end of the I/O context comes before that of the program.
  ~State() {
    if (pid <= 0 || exit) return;
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }

  void watch() {
    handle.async_wait(Descriptor::wait_read,
                      [self = shared_from_this()](const boost::system::error_code& failed) {
                        if (!failed) self->reap();
                      });
    read_complaint();
  }

  void reap() {
    ::kill(-pid, SIGKILL);  // what it left behind in its group
    siginfo_t info{};
    const int waited = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED);
    exit.emplace();
    if (waited == 0 && info.si_code == CLD_EXITED) {
      exit->status = info.si_status;
    } else if (waited == 0) {
      exit->signal = info.si_status;
    }
    grace.cancel();
    boost::system::error_code ignored;
    handle.close(ignored);
    err.cancel(ignored);  // on_complaint() does the rest
    ended.notify();
  }

  void read_complaint() {
    const auto on_read = [self = shared_from_this()](const boost::system::error_code& failed,
                                                     std::size_t size) { self->on_complaint(failed, size); };
    err.async_read_some(asio::buffer(err_buffer), on_read);
  }

  void on_complaint(const boost::system::error_code& failed, std::size_t size) {
    complaint.append(err_buffer.data(), size);
    if (exit) drain_complaint();
    if (complaint.size() > kComplaint) complaint.erase(0, complaint.size() - kComplaint);
    if (!failed && !exit) {
      read_complaint();
    } else {
      complained = true;
      boost::system::error_code ignored;
      err.close(ignored);
      ended.notify();
    }
  }

  /// Its last words, without waiting for whoever else may hold the pipe.
  void drain_complaint() {
    boost::system::error_code failed;
    err.non_blocking(true, failed);
    for (std::size_t total = 0; !failed && total < kMostLastWords;) {
      const auto size = err.read_some(asio::buffer(err_buffer), failed);
      complaint.append(err_buffer.data(), size);
      total += size;
    }
  }

  void write_input() {
    asio::async_write(in, asio::buffer(input),
                      [self = shared_from_this()](const boost::system::error_code&, std::size_t) {
                        boost::system::error_code ignored;
                        self->in.close(ignored);
                      });
  }

  void end() {
    if (std::exchange(killed, true)) return;
    boost::system::error_code ignored;
    in.close(ignored);
    out.close(ignored);
    if (exit) return;
    ::kill(-pid, SIGTERM);
    grace.expires_after(kGrace);
    grace.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
      if (!cancelled && !self->exit) ::kill(-self->pid, SIGKILL);
    });
  }

  pid_t pid = 0;
  Descriptor in;
  Descriptor out;
  Descriptor err;
  Descriptor handle;  ///< a pidfd: readable when the program has ended
  asio::steady_timer grace;
  AsyncEvent ended;
  std::optional<ProcessExit> exit;
  std::string input;
  std::string complaint;
  std::array<char, 512> err_buffer{};
  bool complained = false;  ///< the complaint is complete
  bool killed = false;
};

ChildProcess::ChildProcess(std::shared_ptr<State> state) : state_(std::move(state)) {
}

ChildProcess::~ChildProcess() {
  state_->end();
}

Result<std::unique_ptr<ChildProcess>> ChildProcess::spawn(const asio::any_io_executor& executor,
                                                          const std::vector<std::string>& arguments) {
  if (arguments.empty()) return Error(Errc::configuration, "there is no program to run");
  [[maybe_unused]] static const auto ignored = std::signal(SIGPIPE, SIG_IGN);
  const auto failed = [&](int error) {
    const bool again = error == EAGAIN || error == EMFILE || error == ENFILE || error == ENOMEM;
    return Error(again ? Errc::overloaded : Errc::unavailable,
                 "cannot run " + arguments[0] + ": " + reason(error), again);
  };
  Pipe in;
  Pipe out;
  Pipe err;
  if (!in.open() || !out.open() || !err.open()) return failed(errno);

  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): posix_spawn only reads them.
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const auto state = std::make_shared<State>(executor);
  const SpawnPlan plan(in.read.get(), out.write.get(), err.write.get());
  const int error =
      ::posix_spawnp(&state->pid, argv[0], &plan.actions, &plan.attributes, argv.data(), environ);
  if (error != 0) {
    state->pid = 0;
    return failed(error);
  }
  File handle(static_cast<int>(::syscall(SYS_pidfd_open, state->pid, 0)));  // NOLINT(*-vararg)
  if (handle.get() < 0) return failed(errno);
  state->in.assign(in.write.release());
  state->out.assign(out.read.release());
  state->err.assign(err.read.release());
  state->handle.assign(handle.release());
  state->watch();
  return std::unique_ptr<ChildProcess>(new ChildProcess(state));
}

void ChildProcess::feed(std::string input) {
  if (state_->killed) return;
  state_->input = std::move(input);
  state_->write_input();
}

Task<Result<std::size_t>> ChildProcess::read(std::span<std::uint8_t> into) {
  const auto state = state_;
  if (!state->killed) {
    const auto [failed, size] = co_await state->out.async_read_some(asio::buffer(into.data(), into.size()),
                                                                    asio::as_tuple(asio::use_awaitable));
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none) {
      throw boost::system::system_error(asio::error::operation_aborted);
    }
    if (!failed) co_return size;
    if (failed == asio::error::eof) co_return std::size_t{0};
  }
  co_return Error(Errc::cancelled, "the program was stopped");
}

Task<ProcessExit> ChildProcess::exited() {
  const auto state = state_;
  while (!state->exit || !state->complained) co_await state->ended.wait();
  co_return *state->exit;
}

void ChildProcess::kill() {
  state_->end();
}

std::string ChildProcess::complaint() const {
  return state_->complaint;
}

int ChildProcess::pid() const {
  return state_->pid;
}

std::string describe(std::string_view program, const ProcessExit& exit, std::string_view complaint) {
  std::string text(program);
  text += exit.signal != 0 ? " was killed by signal " + std::to_string(exit.signal)
                           : " ended with status " + std::to_string(exit.status);
  while (!complaint.empty() && (complaint.back() == '\n' || complaint.back() == ' '))
    complaint.remove_suffix(1);
  if (!complaint.empty()) text.append(": ").append(complaint);
  return text;
}

}  // namespace parley
