#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/core/task.hpp"
#include "parley/providers/wyoming_endpoint.hpp"
#include "providers/wyoming/event.hpp"

namespace parley::test {

using WyomingEvent = providers::wyoming::Event;

/// One connection at a misbehaving server: what is written goes out as it is.
class WyomingPeer {
 public:
  explicit WyomingPeer(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

  /// The client's next event; nullopt: it closed its side.
  Task<std::optional<WyomingEvent>> read();
  /// Reads up to the event of that type; what came on the way is in `seen`.
  Task<> until(std::string type);
  Task<> write(std::string bytes);
  Task<> send(WyomingEvent event) { return write(providers::wyoming::write_event(event)); }
  Task<> until_closed();
  void close();

  std::vector<WyomingEvent> seen;
  bool closed_by_client = false;

  /// The types of what was seen, with each run of the same one written once.
  std::string seen_types() const;
  std::string seen_payload() const;

 private:
  asio::ip::tcp::socket socket_;
  providers::wyoming::EventParser parser_;
};

/// A Wyoming server on a loopback port, in the test's own I/O thread.
class WyomingServer {
 public:
  using Handler = std::function<Task<>(WyomingPeer&)>;

  /// `handler` serves one connection, which is closed when it returns.
  WyomingServer(asio::io_context& io, Handler handler);
  WyomingServer(const WyomingServer&) = delete;
  WyomingServer& operator=(const WyomingServer&) = delete;
  WyomingServer(WyomingServer&&) = delete;
  WyomingServer& operator=(WyomingServer&&) = delete;
  ~WyomingServer();

  providers::WyomingEndpoint endpoint() const;
  /// Those so far, in order.
  const std::vector<std::shared_ptr<WyomingPeer>>& peers() const;
  void stop_listening();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

/// An `audio-start` or, with a payload, an `audio-chunk`.
WyomingEvent wyoming_audio(int rate, int width, int channels, std::string payload = {});

}  // namespace parley::test
