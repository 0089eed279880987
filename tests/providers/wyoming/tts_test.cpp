#include "parley/providers/wyoming_tts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "fakes/live.hpp"
#include "fakes/wyoming_server.hpp"

namespace parley::providers {
namespace {

using namespace std::chrono_literals;
using engine::TtsAudio;
using nlohmann::json;
using test::wyoming_audio;
using test::WyomingEvent;
using test::WyomingPeer;
using test::WyomingServer;
using testing::HasSubstr;
using Streaming = WyomingTtsSettings::Streaming;

const WyomingEvent kStop{"audio-stop", {{"timestamp", nullptr}}, {}};
const WyomingEvent kStopped{"synthesize-stopped", json::object(), {}};

struct Spoken {
  std::vector<TtsAudio> audio;
  std::optional<Error> error;
  std::vector<std::int16_t> samples() const {
    std::vector<std::int16_t> all;
    for (const auto& piece : audio) all.insert(all.end(), piece.pcm.samples.begin(), piece.pcm.samples.end());
    return all;
  }
};

struct WyomingTts : testing::Test {
  test::Live live;
  engine::TtsRequest request{"Hello there.", "", "en"};

  WyomingTtsSettings at(const WyomingServer& server) {
    WyomingTtsSettings settings;
    settings.endpoint = server.endpoint();
    settings.endpoint.clock = live.clock();
    settings.endpoint.limits.retry.first = 1ms;
    return settings;
  }
  Task<Spoken> speaking(std::shared_ptr<engine::TtsProvider> tts) {
    Spoken spoken;
    auto stream = co_await tts->speak(request);
    if (!stream) {
      spoken.error = stream.error();
      co_return spoken;
    }
    auto heard = co_await test::drain(**stream);
    spoken.audio = std::move(heard.events);
    spoken.error = heard.error;
    co_return spoken;
  }
  Spoken speak(const WyomingTtsSettings& settings) { return live.run(speaking(make_wyoming_tts(settings))); }
};

/// Answers each text with these events.
WyomingServer::Handler answering(std::vector<WyomingEvent> events, std::string after = "synthesize") {
  return [events = std::move(events), after = std::move(after)](WyomingPeer& peer) -> Task<> {
    co_await peer.until(after);
    for (const auto& event : events) co_await peer.send(event);
    co_await peer.until_closed();
  };
}

TEST_F(WyomingTts, SpeaksAText) {
  WyomingServer server(
      live.io, answering({wyoming_audio(22050, 2, 1), wyoming_audio(22050, 2, 1, std::string("\1\0\2", 3)),
                          wyoming_audio(22050, 2, 1, std::string("\0\3\0", 3)), kStop,
                          wyoming_audio(22050, 2, 1, std::string("\4\0", 2))}));
  auto settings = at(server);
  settings.voice = "en_US-libritts-high";
  settings.speaker = "3922";
  const auto spoken = speak(settings);
  ASSERT_FALSE(spoken.error) << spoken.error->message;
  EXPECT_EQ(spoken.samples(), (std::vector<std::int16_t>{1, 2, 3}))
      << "what comes after the end is not spoken";
  EXPECT_EQ(spoken.audio[0].pcm.rate, 22050);
  const auto& peer = *server.peers().at(0);
  EXPECT_EQ(peer.seen_types(), "synthesize");
  EXPECT_EQ(peer.seen[0].data, json({{"text", "Hello there."},
                                     {"voice", {{"name", "en_US-libritts-high"}, {"speaker", "3922"}}}}));
  EXPECT_TRUE(live.until([&] { return peer.closed_by_client; }));
  EXPECT_EQ(live.scheduler->armed(), 0U);
}

TEST_F(WyomingTts, AsksForTheVoiceOfTheDevice) {
  WyomingServer server(live.io, answering({wyoming_audio(16000, 2, 1, "ab"), kStop}));
  auto settings = at(server);
  speak(settings);
  EXPECT_EQ(server.peers().at(0)->seen.at(0).data, json({{"text", "Hello there."}}));
  settings.voice = "own";
  settings.speaker = "own speaker";
  request.voice = "device";
  speak(settings);
  EXPECT_EQ(server.peers().at(1)->seen.at(0).data["voice"], json({{"name", "device"}}));
}

TEST_F(WyomingTts, MixesTwoChannels) {
  WyomingServer server(live.io,
                       answering({wyoming_audio(48000, 2, 2, std::string("\2\0\4\0\6\0\10\0", 8)), kStop}));
  const auto spoken = speak(at(server));
  EXPECT_EQ(spoken.samples(), (std::vector<std::int16_t>{3, 7}));
  EXPECT_EQ(spoken.audio.at(0).pcm.rate, 48000);
}

TEST_F(WyomingTts, StreamsInSeveralGroups) {
  WyomingServer server(
      live.io, answering({wyoming_audio(16000, 2, 1), wyoming_audio(16000, 2, 1, std::string("\1\0\2", 3)),
                          kStop, wyoming_audio(16000, 2, 1),
                          wyoming_audio(16000, 2, 1, std::string("\3\0", 2)), kStop, kStopped},
                         "synthesize-stop"));
  auto settings = at(server);
  settings.streaming = Streaming::on;
  settings.voice = "amy";
  const auto spoken = speak(settings);
  ASSERT_FALSE(spoken.error) << spoken.error->message;
  EXPECT_EQ(spoken.samples(), (std::vector<std::int16_t>{1, 3})) << "half a sample is dropped with its group";
  const auto& seen = server.peers().at(0)->seen;
  EXPECT_EQ(server.peers()[0]->seen_types(), "synthesize-start synthesize-chunk synthesize synthesize-stop");
  EXPECT_EQ(seen[0].data, json({{"voice", {{"name", "amy"}}}}));
  EXPECT_EQ(seen[1].data, json({{"text", "Hello there."}}));
  EXPECT_EQ(seen[2].data["text"], "Hello there.");
}

/// Describes itself, and speaks in both ways.
WyomingServer::Handler describing(bool streaming) {
  return [streaming](WyomingPeer& peer) -> Task<> {
    bool begun = false;
    while (const auto event = co_await peer.read()) {
      if (event->type == "describe") {
        co_await peer.send(
            {"info",
             {{"tts", {{{"supports_synthesize_streaming", streaming}, {"voices", {{{"name", "amy"}}}}}}}},
             {}});
      }
      begun = begun || event->type == "synthesize-start";
      if (event->type != (begun ? "synthesize-stop" : "synthesize")) continue;
      co_await peer.send(wyoming_audio(16000, 2, 1, "ab"));
      co_await peer.send(kStop);
      if (begun) co_await peer.send(kStopped);
    }
  };
}

TEST_F(WyomingTts, StreamsByItselfWhereTheServerCanAndItHelps) {
  for (const bool streaming : {true, false}) {
    WyomingServer server(live.io, describing(streaming));
    const auto tts = make_wyoming_tts(at(server));
    const auto asked = [&](const std::string& text) {
      request.text = text;
      EXPECT_FALSE(live.run(speaking(tts)).error);
      return server.peers().back()->seen_types();
    };
    const std::string several = "One. Two.";
    EXPECT_EQ(asked(several), "synthesize") << "nothing is known of the server yet";
    tts->connect_ahead(live.io.get_executor());
    const auto described = [&] {
      return std::ranges::count_if(server.peers(), [](const auto& peer) {
        return peer->seen_types() == "describe" && peer->closed_by_client;
      });
    };
    ASSERT_TRUE(live.until([&] { return described() == 1; }));
    const auto types = [&](const std::string& text) {
      request.text = text;
      EXPECT_FALSE(live.run(speaking(tts)).error);
      std::string spoken;
      for (const auto& peer : server.peers()) {
        if (peer->seen_types().starts_with("synthesize")) spoken = peer->seen_types();
      }
      return spoken;
    };
    const std::string streamed = "synthesize-start synthesize-chunk synthesize synthesize-stop";
    EXPECT_EQ(types("你好。再见。"), streaming ? streamed : "synthesize");
    EXPECT_EQ(asked(several), streaming ? streamed : "synthesize");
    EXPECT_EQ(asked("Only one, No. 5."), streaming ? streamed : "synthesize")
        << "a mark in a sentence may be taken for its end";
    EXPECT_EQ(asked("Only one. "), "synthesize");
    EXPECT_EQ(asked("Is it?"), "synthesize");
    // What is known is asked for again after a while only.
    tts->connect_ahead(live.io.get_executor());
    live.pass(11min);
    EXPECT_EQ(described(), 1);
    tts->connect_ahead(live.io.get_executor());
    EXPECT_TRUE(live.until([&] { return described() == 2; }));
  }
}

TEST_F(WyomingTts, IsNotHinderedByAServerThatDescribesItselfBadly) {
  const std::vector<json> infos = {
      json::object(),
      {{"tts", 5}},
      {{"tts", {1, "x", nullptr}}},
      {{"tts", {{{"supports_synthesize_streaming", "yes"}, {"voices", {{{"name", 7}}, 3}}}}}}};
  for (const auto& info : infos) {
    WyomingServer server(live.io, [&](WyomingPeer& peer) -> Task<> {
      const auto event = co_await peer.read();
      if (!event) co_return;
      if (event->type == "describe") {
        co_await peer.send({"info", info, {}});
      } else {
        co_await peer.send(wyoming_audio(16000, 2, 1, "ab"));
        co_await peer.send(kStop);
      }
      co_await peer.until_closed();
    });
    auto settings = at(server);
    settings.voice = "amy";
    const auto tts = make_wyoming_tts(settings);
    tts->connect_ahead(live.io.get_executor());
    ASSERT_TRUE(live.until([&] {
      return std::ranges::any_of(server.peers(), [](const auto& peer) { return peer->closed_by_client; });
    }));
    request.text = "One. Two.";
    EXPECT_FALSE(live.run(speaking(tts)).error) << info;
  }
}

TEST_F(WyomingTts, UsesTheConnectionThatWasMadeAhead) {
  WyomingServer server(live.io, answering({wyoming_audio(16000, 2, 1, "ab"), kStop}));
  auto settings = at(server);
  settings.streaming = Streaming::off;
  const auto tts = make_wyoming_tts(settings);
  tts->connect_ahead(live.io.get_executor());
  tts->connect_ahead(live.io.get_executor());
  ASSERT_TRUE(live.until([&] { return server.peers().size() == 1; }));
  EXPECT_FALSE(live.run(speaking(tts)).error);
  EXPECT_EQ(server.peers().size(), 1U);
  EXPECT_FALSE(live.run(speaking(tts)).error);
  EXPECT_EQ(server.peers().size(), 2U) << "the next text has a connection of its own";
  // One that nobody wants is given back.
  tts->connect_ahead(live.io.get_executor());
  ASSERT_TRUE(live.until([&] { return server.peers().size() == 3; }));
  live.pass(61s);
  EXPECT_TRUE(live.until([&] { return server.peers()[2]->closed_by_client; }));
}

TEST_F(WyomingTts, LosesNothingToAConnectionThatWentStale) {
  for (const bool notices : {true, false}) {
    int connections = 0;
    WyomingServer server(live.io, [&](WyomingPeer& peer) -> Task<> {
      if (++connections == 1) {
        // Gone before the text comes, or the moment it does.
        if (!notices) co_await peer.read();
        co_return;
      }
      co_await peer.until("synthesize");
      co_await peer.send(wyoming_audio(16000, 2, 1, "ab"));
      co_await peer.send(kStop);
    });
    auto settings = at(server);
    settings.streaming = Streaming::off;
    const auto tts = make_wyoming_tts(settings);
    tts->connect_ahead(live.io.get_executor());
    ASSERT_TRUE(live.until([&] { return connections == 1; }));
    const auto spoken = live.run(speaking(tts));
    EXPECT_FALSE(spoken.error) << notices;
    EXPECT_EQ(spoken.samples().size(), 1U);
    EXPECT_EQ(connections, 2);
  }
}

TEST_F(WyomingTts, AsksAgainAsLongAsNothingWasHeard) {
  int connections = 0;
  WyomingServer server(live.io, [&](WyomingPeer& peer) -> Task<> {
    co_await peer.until("synthesize");
    if (++connections == 1) {
      co_await peer.send({"error", {{"text", "busy"}}, {}});
      co_return;
    }
    co_await peer.send(wyoming_audio(16000, 2, 1, "ab"));
    if (connections == 2) co_await peer.send(kStop);
  });
  auto settings = at(server);
  settings.endpoint.limits.retry.retries = 1;
  EXPECT_FALSE(speak(settings).error);
  EXPECT_EQ(connections, 2);
  const auto broken = speak(settings);
  EXPECT_EQ(broken.samples().size(), 1U);
  ASSERT_TRUE(broken.error);
  EXPECT_EQ(broken.error->code, Errc::closed);
  EXPECT_EQ(connections, 3) << "what was heard is not said twice";
}

TEST_F(WyomingTts, SaysWhatIsWrongWithTheServer) {
  struct Case {
    std::vector<WyomingEvent> sent;
    Errc code;
    std::string why;
  };
  const auto half = wyoming_audio(16000, 2, 1, "abcd");
  const std::vector<Case> cases = {
      {{{"error", {{"text", "no voice"}}, {}}}, Errc::unavailable, "reports an error: no voice"},
      {{kStop}, Errc::unavailable, "sent no audio"},
      {{wyoming_audio(16000, 2, 1), kStop}, Errc::unavailable, "sent no audio"},
      {{wyoming_audio(16000, 2, 1, "a"), kStop}, Errc::unavailable, "sent no audio"},
      {{{"audio-chunk", json::object(), "ab"}}, Errc::invalid_input, "without its rate, width and channels"},
      {{{"audio-start", {{"rate", "16000"}, {"width", 2}, {"channels", 1}}, {}}},
       Errc::invalid_input,
       "without its rate"},
      {{{"audio-start", {{"rate", -1}, {"width", 2}, {"channels", 1}}, {}}},
       Errc::invalid_input,
       "without its rate"},
      {{wyoming_audio(16000, 4, 1)}, Errc::unsupported, "16000 Hz, 32 bits, 1 channels"},
      {{wyoming_audio(16000, 1, 1)}, Errc::unsupported, "8 bits"},
      {{wyoming_audio(16000, 2, 6)}, Errc::unsupported, "6 channels"},
      {{wyoming_audio(96000, 2, 1)}, Errc::unsupported, "96000 Hz"},
      {{half, wyoming_audio(22050, 2, 1)}, Errc::unsupported, "changes the rate"},
      {{half, {"error", {{"text", "died"}}, {}}}, Errc::unavailable, "died"},
      {{wyoming_audio(16000, 2, 1, "ID3 and so on")}, Errc::unsupported, "MP3"},
      {std::vector<WyomingEvent>(100, wyoming_audio(16000, 2, 1, std::string(1000, 'x'))), Errc::limit,
       "max_response"},
      {std::vector<WyomingEvent>(1000, {"pong", {{"text", std::string(100, 'x')}}, {}}), Errc::limit,
       "max_response"},
  };
  for (const auto& wrong : cases) {
    WyomingServer server(live.io, answering(wrong.sent));
    auto settings = at(server);
    settings.endpoint.limits.max_response = 65536;
    const auto spoken = speak(settings);
    ASSERT_TRUE(spoken.error) << wrong.why;
    EXPECT_EQ(spoken.error->code, wrong.code) << spoken.error->message;
    EXPECT_THAT(spoken.error->message, HasSubstr(wrong.why));
    EXPECT_TRUE(live.until([&] { return server.peers().at(0)->closed_by_client; }));
  }
}

TEST_F(WyomingTts, EndsWhereTheServerStops) {
  WyomingServer server(live.io, answering({wyoming_audio(16000, 2, 1, "ab")}));
  const auto tts = make_wyoming_tts(at(server));
  auto stream = live.run(tts->speak(request));
  ASSERT_TRUE(stream) << "the first audio is there";
  const auto waiting = live.start(test::drain(**stream));
  live.pass(31s);
  ASSERT_TRUE(live.until([&] { return waiting->done(); }));
  EXPECT_EQ(waiting->result->events.size(), 1U);
  EXPECT_EQ(waiting->result->error->code, Errc::timeout);
}

TEST_F(WyomingTts, ThatIsAbandonedClosesItsConnection) {
  WyomingServer server(live.io, answering({wyoming_audio(16000, 2, 1, "ab")}));
  const auto tts = make_wyoming_tts(at(server));
  auto stream = live.run(tts->speak(request));
  ASSERT_TRUE(stream);
  (*stream).reset();
  EXPECT_TRUE(live.until([&] { return server.peers()[0]->closed_by_client; }));
}

TEST(WyomingTtsConfig, IsReadStrictly) {
  const auto complaint = [](const std::string& text) {
    const auto node = config::Node::parse(text, "p.yaml");
    try {
      wyoming_tts_from_config(node, {});
      node.finish();
      return std::string();
    } catch (const Failure& failure) {
      return failure.error().message;
    }
  };
  EXPECT_EQ(complaint("{uri: 'tcp://piper:10200', voice: amy, speaker: '3', streaming: on, retries: 0}"), "");
  EXPECT_THAT(complaint("{voice: amy}"), HasSubstr("uri"));
  EXPECT_THAT(complaint("{uri: 'tcp://piper:10200', speaker: '3'}"), HasSubstr("`voice`"));
  EXPECT_THAT(complaint("{uri: 'tcp://piper:10200', streaming: sometimes}"), HasSubstr("auto"));
}

}  // namespace
}  // namespace parley::providers
