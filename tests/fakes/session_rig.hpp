#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "fakes/fake_connection.hpp"
#include "fakes/fake_engines.hpp"
#include "parley/audio/opus_codec.hpp"
#include "parley/protocol/binary_frame.hpp"
#include "parley/session/session.hpp"

namespace parley::test {

class MemoryTurnLog final : public session::TurnLog {
 public:
  void write(const nlohmann::ordered_json& line) override { lines.push_back(line); }
  std::vector<nlohmann::ordered_json> lines;
};

/// A session with scripted engines, a device in memory and a clock by hand.
class SessionRig : public testing::Test {
 protected:
  SessionRig() {
    auto made = audio::OpusEncoder::make({16000, 16000, 0, true, false});
    encoder = std::make_unique<audio::OpusEncoder>(std::move(*made));
  }
  ~SessionRig() override {
    if (connection) connection->vanish();
    world.advance(std::chrono::minutes(1));
  }
  SessionRig(const SessionRig&) = delete;
  SessionRig& operator=(const SessionRig&) = delete;
  SessionRig(SessionRig&&) = delete;
  SessionRig& operator=(SessionRig&&) = delete;

  /// The session runs and waits for hello.
  void connect(session::Caller caller = {"aa:bb", "", "", "127.0.0.1", "test"}) {
    settings->log_private = true;
    auto runtime = std::make_shared<session::Runtime>();
    runtime->settings = settings;
    runtime->profile = &settings->profile;
    runtime->persona =
        std::make_shared<const dialogue::Persona>(settings->profile.persona, settings->profile.timezone);
    runtime->conversations = conversations;
    if (reminders) {
      runtime->reminders = reminders;
      runtime->own_tools = std::make_shared<const mcp::OwnToolbox>(*settings, settings->profile);
      for (const auto& [name, choice] : settings->personas) {
        if (choice.persona.empty()) continue;
        runtime->personas[name] =
            std::make_shared<const dialogue::Persona>(choice.persona, settings->profile.timezone);
      }
    }
    runtime->wall_clock = [this] { return wall_time; };
    runtime->engines = {std::make_shared<FakeVad>(), asr, llm, tts};
    runtime->metrics = metrics;
    runtime->turn_log = turn_log;
    runtime->apology_clip = apology_clip;
    connection = std::make_shared<FakeConnection>(world);
    session::Session::Wiring wiring;
    wiring.runtime = runtime;
    wiring.connection = connection;
    wiring.scheduler = world.scheduler;
    wiring.executor = world.io.get_executor();
    wiring.caller = std::move(caller);
    session = session::Session::make(std::move(wiring));
    asio::co_spawn(world.io, session->run(), [this](const std::exception_ptr& thrown) {
      ended = true;
      EXPECT_EQ(thrown, nullptr) << "the session let an exception escape";
    });
    world.settle();
  }

  void hello(int version = 1, bool mcp = false) {
    nlohmann::json message = {
        {"type", "hello"},
        {"version", version},
        {"features", {{"mcp", mcp}}},
        {"transport", "websocket"},
        {"audio_params",
         {{"format", "opus"}, {"sample_rate", 16000}, {"channels", 1}, {"frame_duration", 60}}}};
    framing = static_cast<protocol::Framing>(version);
    connection->say(message);
  }
  void listen(const std::string& mode = "auto") {
    connection->say({{"session_id", ""}, {"type", "listen"}, {"state", "start"}, {"mode", mode}});
  }
  void stop() { connection->say({{"session_id", ""}, {"type", "listen"}, {"state", "stop"}}); }
  void abort(const std::string& reason = "") {
    nlohmann::json message = {{"type", "abort"}};
    if (!reason.empty()) message["reason"] = reason;
    connection->say(message);
  }

  /// Real-time uplink: tone is voice, the rest silence.
  void audio(Millis span, bool voice) {
    for (auto left = span; left > Millis(0); left -= Millis(60)) {
      std::vector<std::int16_t> samples(960);
      for (auto& sample : samples) {
        phase += 0.15;
        sample = voice ? static_cast<std::int16_t>(8000 * std::sin(phase)) : std::int16_t{0};
      }
      const auto packet = encoder->encode(samples);
      connection->send_audio(*protocol::write_frame(framing, protocol::FrameType::opus, *packet, 0));
      world.advance(Millis(60));
    }
  }
  void speak(Millis span = Millis(600)) { audio(span, true); }
  /// An utterance and the silence that ends it.
  void utter() {
    speak();
    audio(settings->profile.detector.end_silence + Millis(180), false);
  }
  void advance(Millis span) { world.advance(span); }

  World world;
  std::shared_ptr<config::Settings> settings = std::make_shared<config::Settings>();
  std::shared_ptr<FakeAsr> asr = std::make_shared<FakeAsr>(world.scheduler);
  std::shared_ptr<FakeLlm> llm = std::make_shared<FakeLlm>(world.scheduler);
  std::shared_ptr<FakeTts> tts = std::make_shared<FakeTts>(world.scheduler);
  std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
  std::shared_ptr<MemoryTurnLog> turn_log = std::make_shared<MemoryTurnLog>();
  std::shared_ptr<const audio::Pcm> apology_clip;
  std::shared_ptr<engine::ConversationStore> conversations;
  std::shared_ptr<mcp::ReminderBook> reminders;             ///< null: no own tools
  WallTime wall_time{std::chrono::seconds(1'741'100'700)};  ///< Tuesday, 2025-03-04 15:05 UTC
  std::shared_ptr<FakeConnection> connection;
  std::shared_ptr<session::Session> session;
  std::unique_ptr<audio::OpusEncoder> encoder;
  protocol::Framing framing = protocol::Framing::raw;
  double phase = 0;
  bool ended = false;
};

}  // namespace parley::test
