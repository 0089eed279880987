#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "parley/core/clock.hpp"
#include "providers/wyoming/link.hpp"

namespace parley::providers::wyoming {

/// What a server of voices says of itself, asked for now and then. Shared by all threads.
class ServerInfo : public std::enable_shared_from_this<ServerInfo> {
 public:
  /// `voice`: the configured one, empty where there is none; warned about once where the server has it not.
  ServerInfo(const WyomingEndpoint& endpoint, std::string voice)
      : endpoint_(endpoint), voice_(std::move(voice)) {}

  /// Asks in the background where what is known is older than ten minutes, or where nothing is and the last
  /// question was a minute ago.
  void refresh(const asio::any_io_executor& executor);
  /// False while nothing is known.
  bool supports_streaming() const;

 private:
  static Task<> ask(std::shared_ptr<ServerInfo> self);
  void take(const nlohmann::json& data);

  const WyomingEndpoint endpoint_;
  const std::string voice_;
  mutable std::mutex mutex_;
  std::optional<TimePoint> asked_;
  bool known_ = false;
  bool streaming_ = false;
  bool warned_ = false;
};

}  // namespace parley::providers::wyoming
