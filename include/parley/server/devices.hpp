#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "parley/session/session.hpp"

namespace parley::server {

/// Who is online. Thread-safe.
class Devices {
 public:
  /// A device that connects again takes the place of its old session, which is closed.
  void add(const std::shared_ptr<session::Session>& session);
  void remove(const session::Session& session);
  std::vector<std::shared_ptr<session::Session>> all() const;
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<session::Session>> sessions_;
};

}  // namespace parley::server
