#pragma once

#include <memory>

#include "load.hpp"
#include "parley/core/task.hpp"

namespace parley::tools {

/// What the devices of one load share.
struct LoadState {
  const BenchOptions* options;
  const Material* material;
  const device::Target* target;
  LoadResult* result;
  std::optional<TimePoint> window_begin;
  std::optional<TimePoint> window_end;
  bool stopping = false;
  std::size_t settled = 0;  ///< devices that have connected or failed to

  bool measuring(TimePoint now) const {
    return window_begin && now >= *window_begin && (!window_end || now < *window_end);
  }
};

/// One light device: shared uplink packets, no decoding.
class BenchDevice {
 public:
  virtual ~BenchDevice() = default;
  /// Connects and plays its profile until the load stops.
  virtual Task<> run() = 0;
  /// Lets run() end. After `stopping` was set.
  virtual void stop() = 0;
};

std::shared_ptr<BenchDevice> make_bench_device(const asio::any_io_executor& executor, LoadState& load,
                                               std::size_t index);

}  // namespace parley::tools
