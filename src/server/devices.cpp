#include "parley/server/devices.hpp"

namespace parley::server {

void Devices::add(const std::shared_ptr<session::Session>& session) {
  std::shared_ptr<session::Session> replaced;
  {
    const std::scoped_lock lock(mutex_);
    auto& slot = sessions_[session->device_id()];
    replaced = slot.lock();
    slot = session;
  }
  if (replaced) replaced->close(1000, "the device connected again");
}

void Devices::remove(const session::Session& session) {
  const std::scoped_lock lock(mutex_);
  const auto found = sessions_.find(session.device_id());
  if (found == sessions_.end()) return;
  const auto current = found->second.lock();
  if (!current || current.get() == &session) sessions_.erase(found);
}

std::vector<std::shared_ptr<session::Session>> Devices::all() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::shared_ptr<session::Session>> out;
  for (const auto& [id, weak] : sessions_) {
    if (auto session = weak.lock()) out.push_back(std::move(session));
  }
  return out;
}

std::size_t Devices::size() const {
  const std::scoped_lock lock(mutex_);
  return sessions_.size();
}

}  // namespace parley::server
