#pragma once

#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fakes/world.hpp"
#include "parley/core/async_event.hpp"
#include "parley/net/connection.hpp"

namespace parley::test {

/// The device's end of a WebSocket, in memory.
class FakeConnection final : public net::Connection {
 public:
  struct Sent {
    TimePoint at;
    bool is_text;
    std::string text;
    std::vector<std::uint8_t> bytes;
    nlohmann::json json;
  };

  explicit FakeConnection(World& world) : world_(world), arrived_(world.io.get_executor()) {}

  // --- the device ---------------------------------------------------------------------------------
  void say_text(std::string text) { arrive({true, std::vector<std::uint8_t>(text.begin(), text.end())}); }
  void say(const nlohmann::json& message) { say_text(message.dump()); }
  void send_audio(std::vector<std::uint8_t> bytes) { arrive({false, std::move(bytes)}); }
  void vanish() {
    gone_ = true;
    arrived_.notify();
    world_.settle();
  }

  std::vector<Sent> sent;
  std::optional<std::pair<int, std::string>> closed;
  int binary_drops = 0;

  /// Messages of `type` (and of tts, `state`), in order.
  std::vector<Sent> texts(const std::string& type, const std::string& state = "") const {
    std::vector<Sent> out;
    for (const auto& message : sent) {
      if (!message.is_text || message.json.value("type", "") != type) continue;
      if (!state.empty() && message.json.value("state", "") != state) continue;
      out.push_back(message);
    }
    return out;
  }
  std::vector<Sent> frames() const {
    std::vector<Sent> out;
    for (const auto& message : sent) {
      if (!message.is_text) out.push_back(message);
    }
    return out;
  }
  /// "hello", "stt", "tts start", "frame", … with runs of frames as one.
  std::vector<std::string> story() const {
    std::vector<std::string> out;
    for (const auto& message : sent) {
      auto entry = message.is_text ? message.json.value("type", "?") : std::string("frames");
      if (message.is_text && message.json.contains("state"))
        entry += " " + message.json["state"].get<std::string>();
      if (!message.is_text && !out.empty() && out.back() == entry) continue;
      out.push_back(entry);
    }
    return out;
  }

  // --- Connection -----------------------------------------------------------------------------------
  Task<Result<net::Incoming>> read() override {
    while (incoming_.empty() && !gone_ && !closed) co_await arrived_.wait();
    if (incoming_.empty()) co_return Error(Errc::closed, gone_ ? "closed by the device" : "closed");
    current_ = std::move(incoming_.front());
    incoming_.pop_front();
    co_return net::Incoming{current_.is_text, current_.bytes};
  }
  void send_text(std::string text) override {
    if (closed || gone_) return;
    auto json = nlohmann::json::parse(text, nullptr, false);
    sent.push_back({world_.now(), true, std::move(text), {}, std::move(json)});
  }
  void send_binary(std::vector<std::uint8_t> bytes) override {
    if (!closed && !gone_) sent.push_back({world_.now(), false, "", std::move(bytes), {}});
  }
  void close(std::uint16_t code, std::string reason) override {
    if (!closed && !gone_) closed = {code, std::move(reason)};
    arrived_.notify();
  }
  void abort() override { close(1006, "aborted"); }
  void drop_binary() override { ++binary_drops; }
  std::size_t queued_bytes() const override { return 0; }

 private:
  struct Message {
    bool is_text = false;
    std::vector<std::uint8_t> bytes;
  };
  void arrive(Message message) {
    incoming_.push_back(std::move(message));
    arrived_.notify();
    world_.settle();
  }

  World& world_;
  AsyncEvent arrived_;
  std::deque<Message> incoming_;
  Message current_;
  bool gone_ = false;
};

}  // namespace parley::test
