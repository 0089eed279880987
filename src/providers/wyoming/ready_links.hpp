#pragma once

#include <boost/asio/execution_context.hpp>
#include <map>
#include <memory>
#include <string>

#include "providers/wyoming/link.hpp"

namespace parley::providers::wyoming {

/// Connections of one I/O thread that are there before they are needed: one to a server, for a minute.
class ReadyLinks {
 public:
  /// Does nothing where one is there already.
  void prepare(const asio::any_io_executor& executor, const WyomingEndpoint& endpoint,
               std::size_t max_unsent);
  /// Null where there is none, or where the server has closed it.
  std::unique_ptr<Link> take(const WyomingEndpoint& endpoint);

 private:
  struct Ready {
    std::unique_ptr<Link> link;
    std::unique_ptr<Timer> expiry;
  };
  std::map<std::string, Ready> links_;
};

/// Those of the I/O thread (of the execution context) behind `executor`.
ReadyLinks& ready_links(const asio::any_io_executor& executor);

}  // namespace parley::providers::wyoming
