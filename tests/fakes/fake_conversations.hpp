#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "parley/engine/conversation_store.hpp"

namespace parley::test {

/// Keeps turns in a map; loads are answered at once, or by answer().
class FakeConversations final : public engine::ConversationStore {
 public:
  std::map<std::string, std::vector<engine::PastTurn>> kept;
  bool slow = false;
  std::string error;
  std::size_t loads = 0;

  void append(const std::string& device, engine::PastTurn turn) override {
    kept[device].push_back(std::move(turn));
  }
  void load(const std::string& device, std::size_t max_turns, Loaded loaded) override {
    ++loads;
    auto turns = kept[device];
    if (turns.size() > max_turns) turns.erase(turns.begin(), turns.end() - static_cast<long>(max_turns));
    waiting_.push_back([this, turns = std::move(turns), loaded = std::move(loaded)] {
      if (!error.empty()) return loaded(Error(Errc::unavailable, error));
      loaded(turns);
    });
    if (!slow) answer();
  }
  void stop() override {}

  void answer() {
    for (const auto& loaded : std::exchange(waiting_, {})) loaded();
  }

 private:
  std::vector<std::function<void()>> waiting_;
};

}  // namespace parley::test
