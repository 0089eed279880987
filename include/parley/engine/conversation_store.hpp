#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "parley/core/error.hpp"
#include "parley/engine/llm.hpp"

namespace parley::engine {

/// One turn as it is remembered: only what was heard.
struct PastTurn {
  std::string user_text;
  /// What the reply added: calls, results, text, in order.
  std::vector<Message> reply;
  std::chrono::system_clock::time_point at{};
};

/// Keeps the turns of devices beyond their sessions. Thread-safe; no call waits for storage.
class ConversationStore {
 public:
  using Loaded = std::function<void(Result<std::vector<PastTurn>>)>;

  ConversationStore() = default;
  ConversationStore(const ConversationStore&) = delete;
  ConversationStore& operator=(const ConversationStore&) = delete;
  ConversationStore(ConversationStore&&) = delete;
  ConversationStore& operator=(ConversationStore&&) = delete;
  virtual ~ConversationStore() = default;

  /// Dropped, counted and logged where storage does not keep up or fails.
  virtual void append(const std::string& device, PastTurn turn) = 0;
  /// The newest `max_turns` of the device, oldest first, to `loaded`: once, on any thread, perhaps before
  /// this returns. What was appended before is in it.
  virtual void load(const std::string& device, std::size_t max_turns, Loaded loaded) = 0;
  /// Writes what waits and ends; then appended turns are dropped and loads fail. Before the I/O contexts go
  /// that `loaded` posts to.
  virtual void stop() = 0;
};

/// The same storage for a person at a command line, while a server may be using it. Every call waits.
class ConversationArchive {
 public:
  struct Device {
    std::string id;
    std::size_t turns = 0;
    std::chrono::system_clock::time_point first{};
    std::chrono::system_clock::time_point last{};
  };

  ConversationArchive() = default;
  ConversationArchive(const ConversationArchive&) = delete;
  ConversationArchive& operator=(const ConversationArchive&) = delete;
  ConversationArchive(ConversationArchive&&) = delete;
  ConversationArchive& operator=(ConversationArchive&&) = delete;
  virtual ~ConversationArchive() = default;

  /// By id.
  virtual std::vector<Device> devices() = 0;
  /// All of the device's turns, oldest first.
  virtual std::vector<PastTurn> turns(const std::string& device) = 0;
  /// How many turns there were; nothing of them stays in the file.
  virtual std::size_t remove(const std::string& device) = 0;
};

}  // namespace parley::engine
