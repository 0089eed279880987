#pragma once

#include <cstddef>

#include "parley/core/error.hpp"

namespace parley::tools {

/// CPU that a process has used, user and system, in seconds. Errc::unavailable when there is no such process.
Result<double> process_cpu_seconds(int pid);
/// Memory of a process that is resident, in KiB.
Result<double> process_rss_kib(int pid);
/// CPU of the calling thread in seconds.
double thread_cpu_seconds();

/// Lets this process have `count` files open; Errc::limit when the system does not allow it.
Result<> allow_open_files(std::size_t count);

}  // namespace parley::tools
