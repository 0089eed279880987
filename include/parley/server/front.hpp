#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "parley/net/server_socket.hpp"
#include "parley/server/admission.hpp"
#include "parley/server/deployment.hpp"
#include "parley/server/devices.hpp"

namespace parley::server {

inline constexpr std::string_view kDevicePath = "/xiaozhi/v1/";

/// What all connections share. The deployment is exchanged as a whole on reload.
struct Premises {
  std::shared_ptr<Metrics> metrics;
  std::shared_ptr<WorkerPool> workers;
  std::shared_ptr<Admission> admission;
  Devices devices;
  std::atomic<bool> stopping{false};

  std::shared_ptr<const Deployment> deployment() const {
    const std::scoped_lock lock(mutex);
    return current;
  }
  void deploy(std::shared_ptr<const Deployment> next) {
    const std::scoped_lock lock(mutex);
    current = std::move(next);
  }

 private:
  mutable std::mutex mutex;
  std::shared_ptr<const Deployment> current;
};

/// Serves one accepted socket to its end: pages, or a device's session. Runs on the I/O context that will
/// keep it.
Task<> serve_connection(std::shared_ptr<Premises> premises, net::Socket socket, Admission::Ticket ticket);

/// The answer to a plain request, or to the wish for a WebSocket; pure but for the counters it shows.
net::HttpReply answer_http(Premises& premises, const Deployment& deployment,
                           const net::ServerRequest& request);

}  // namespace parley::server
