#include "process.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

#include "parley/device/statistics.hpp"

namespace parley::tools {
namespace {

Result<std::string> read_proc(int pid, const char* name) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/" + name);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in || text.empty()) return Error(Errc::unavailable, "there is no process " + std::to_string(pid));
  return text;
}

}  // namespace

Result<double> process_cpu_seconds(int pid) {
  const auto stat = read_proc(pid, "stat");
  if (!stat) return stat.error();
  return device::parse_cpu_seconds(*stat, sysconf(_SC_CLK_TCK));
}

Result<double> process_rss_kib(int pid) {
  const auto status = read_proc(pid, "status");
  if (!status) return status.error();
  return device::parse_rss_kib(*status);
}

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Result<> allow_open_files(std::size_t count) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return Error(Errc::internal, "the limit of open files is unknown");
  if (limit.rlim_cur >= count) return {};
  if (limit.rlim_max < count) {
    return Error(Errc::limit, "so many devices need " + std::to_string(count) +
                                  " open files, the system allows " + std::to_string(limit.rlim_max) +
                                  " (ulimit -Hn)");
  }
  limit.rlim_cur = count;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
    return Error(Errc::limit, "cannot raise the limit of open files");
  return {};
}

}  // namespace parley::tools
