#include "load.hpp"

#include <fstream>
#include <iterator>

#include "bench_device.hpp"
#include "parley/device/statistics.hpp"
#include "process.hpp"

namespace parley::tools {
namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr Millis kLagProbe{20};

class LoadRun {
 public:
  LoadRun(const BenchOptions& options, const Material& material)
      : options_(options), io_(1), timer_(io_), probe_(io_) {
    state_.options = &options;
    state_.material = &material;
    state_.result = &result_;
    result_.traces.resize(options.devices);
  }

  Result<LoadResult> run() {
    asio::co_spawn(io_, conduct(), [](const std::exception_ptr& thrown) {
      if (thrown) std::rethrow_exception(thrown);
    });
    io_.run();
    if (error_) return *error_;
    return std::move(result_);
  }

 private:
  Task<> conduct() {
    if (!check_sources()) co_return;
    auto target = co_await device::Target::resolve(options_.url);
    if (!target) {
      error_ = target.error();
      co_return;
    }
    target_ = std::move(*target);
    state_.target = &*target_;
    for (std::size_t i = 0; i < options_.devices; ++i) {
      devices_.push_back(make_bench_device(io_.get_executor(), state_, i));
      asio::co_spawn(io_, devices_.back()->run(), asio::detached);
    }
    co_await wait_until(Clock::now() + options_.ramp);
    while (state_.settled < options_.devices) co_await wait_until(Clock::now() + Millis(50));
    if (result_.connected > 0) {
      co_await wait_until(Clock::now() + options_.warm_up);
      co_await measure();
    }
    state_.stopping = true;
    probe_.cancel();
    for (const auto& device : devices_) device->stop();
    // Connections that do not answer our goodbye are dropped by their own deadline.
  }

  Task<> measure() {
    asio::co_spawn(io_, watch_own_loop(), asio::detached);
    const auto log_begin = turn_log_size();
    const auto own_before = thread_cpu_seconds();
    const auto cpu_before = server_cpu();
    const auto begin = Clock::now();
    const auto end = begin + options_.duration;
    state_.window_begin = begin;
    state_.window_end = end;
    while (Clock::now() < end) {
      co_await wait_until(std::min(end, Clock::now() + Millis(1000)));
      sample_memory();
    }
    const auto cpu_after = server_cpu();
    result_.window_s = std::chrono::duration<double>(Clock::now() - begin).count();
    result_.own_cpu_s = thread_cpu_seconds() - own_before;
    if (cpu_before && cpu_after) result_.server_cpu_s = *cpu_after - *cpu_before;
    if (options_.server_pid != 0 && !cpu_after) {
      error_ = Error(Errc::unavailable, "the server's process vanished during the run");
    }
    if (!options_.turn_log.empty()) read_turn_log(log_begin);
  }

  /// The lag of our own event loop, below which no lateness can be told.
  Task<> watch_own_loop() {
    while (!state_.stopping) {
      const auto due = Clock::now() + kLagProbe;
      probe_.expires_at(due);
      co_await probe_.async_wait(kAwait);
      if (!state_.stopping) result_.loop_lag_ms.push_back(to_ms(Clock::now() - due));
    }
  }

  bool check_sources() {
    if (options_.server_pid != 0) {
      const auto rss = process_rss_kib(options_.server_pid);
      if (!rss) {
        error_ = rss.error();
        return false;
      }
      result_.rss_before_kib = *rss;
    }
    std::error_code failed;
    if (!options_.turn_log.empty() && !std::filesystem::is_regular_file(options_.turn_log, failed)) {
      error_ = Error(Errc::invalid_input, "there is no turn log " + options_.turn_log.string());
      return false;
    }
    return true;
  }

  std::optional<double> server_cpu() const {
    if (options_.server_pid == 0) return std::nullopt;
    const auto cpu = process_cpu_seconds(options_.server_pid);
    return cpu ? std::optional(*cpu) : std::nullopt;
  }

  void sample_memory() {
    if (options_.server_pid == 0) return;
    if (const auto rss = process_rss_kib(options_.server_pid)) {
      result_.rss_kib = std::max(result_.rss_kib.value_or(0), *rss);
    }
  }

  std::uintmax_t turn_log_size() const {
    std::error_code failed;
    const auto size = std::filesystem::file_size(options_.turn_log, failed);
    return failed ? 0 : size;
  }

  void read_turn_log(std::uintmax_t from) {
    std::ifstream in(options_.turn_log, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(from));
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    result_.added_ms = device::parse_added_ms(text);
  }

  Task<> wait_until(TimePoint when) {
    timer_.expires_at(when);
    co_await timer_.async_wait(kAwait);
  }

  const BenchOptions& options_;
  LoadState state_{};
  LoadResult result_;
  std::optional<Error> error_;
  asio::io_context io_;
  asio::steady_timer timer_;
  asio::steady_timer probe_;
  std::optional<device::Target> target_;
  std::vector<std::shared_ptr<BenchDevice>> devices_;
};

}  // namespace

Result<LoadResult> run_load(const BenchOptions& options, const Material& material) {
  return LoadRun(options, material).run();
}

}  // namespace parley::tools
