#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "parley/core/task.hpp"

namespace parley::device {

/// A server that does what a test tells it, right or wrong. One connection at a time on 127.0.0.1.
class FakeServer {
 public:
  /// The server's end of one connection. Messages of the device are gathered as they come.
  class Client {
   public:
    virtual ~Client() = default;
    virtual Task<> text(std::string text) = 0;
    virtual Task<> binary(std::vector<std::uint8_t> bytes) = 0;
    virtual Task<> close(std::uint16_t code, std::string reason) = 0;
    /// Cuts the connection.
    virtual void drop() = 0;
    /// Waits until `ready`, asked after each message of the device, or until the device is gone.
    virtual Task<> until(std::function<bool()> ready) = 0;

    std::vector<nlohmann::json> texts;
    std::vector<std::vector<std::uint8_t>> frames;
    std::vector<std::pair<std::string, std::string>> headers;
    bool gone = false;

    Task<> json(const nlohmann::json& message) { return text(message.dump()); }
    /// How many texts have these members.
    std::size_t count(const nlohmann::json& members) const;
    /// Waits for a text with these members.
    Task<> expect(nlohmann::json members);
  };
  using Script = std::function<Task<>(Client&)>;

  /// `status`: another than 101 is answered instead of the upgrade.
  FakeServer(asio::io_context& io, Script script, unsigned status = 101);
  std::uint16_t port() const;
  /// Accepts nobody any more.
  void close();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace parley::device
