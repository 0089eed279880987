#include "parley/providers/wyoming_asr.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "fakes/live.hpp"
#include "fakes/wyoming_server.hpp"

namespace parley::providers {
namespace {

using namespace std::chrono_literals;
using engine::AsrEvent;
using nlohmann::json;
using test::WyomingEvent;
using test::WyomingPeer;
using test::WyomingServer;
using testing::HasSubstr;

WyomingEvent transcript(const std::string& text, const std::string& type = "transcript") {
  return {type, {{"text", text}}, {}};
}

struct WyomingAsr : testing::Test {
  test::Live live;
  engine::AsrRequest request;

  WyomingAsrSettings at(const WyomingServer& server) {
    WyomingAsrSettings settings;
    settings.endpoint = server.endpoint();
    settings.endpoint.clock = live.clock();
    settings.endpoint.limits.retry.first = 1ms;
    return settings;
  }
  std::unique_ptr<engine::AsrStream> open(const WyomingAsrSettings& settings) {
    auto opened = live.run(make_wyoming_asr(settings)->open(request));
    return std::move(*opened);
  }
  test::Drained<AsrEvent> recognise(const WyomingAsrSettings& settings, int pieces = 3) {
    const auto stream = open(settings);
    for (int i = 0; i < pieces; ++i)
      stream->push(std::vector<std::int16_t>(320, static_cast<std::int16_t>(i)));
    stream->finish();
    stream->push(std::vector<std::int16_t>(320, 99));
    stream->finish();
    return live.run(test::drain(*stream));
  }
};

TEST_F(WyomingAsr, AsksAsTheProtocolWants) {
  WyomingServer server(live.io, [](WyomingPeer& peer) -> Task<> {
    co_await peer.until("audio-stop");
    co_await peer.send(transcript(" Turn on the lamp.\n"));
    co_await peer.until_closed();
  });
  auto settings = at(server);
  settings.model = "small-int8";
  request.language = "de-AT";
  const auto heard = recognise(settings);
  ASSERT_FALSE(heard.error);
  ASSERT_EQ(heard.events.size(), 1U);
  EXPECT_EQ(heard.events[0].kind, AsrEvent::Kind::final);
  EXPECT_EQ(heard.events[0].text, "Turn on the lamp.");
  const auto& peer = *server.peers().at(0);
  EXPECT_EQ(peer.seen_types(), "transcribe audio-start audio-chunk audio-stop");
  EXPECT_EQ(peer.seen[0].data, json({{"name", "small-int8"}, {"language", "de"}}));
  const json format = {{"rate", 16000}, {"width", 2}, {"channels", 1}};
  EXPECT_EQ(peer.seen[1].data, format);
  EXPECT_EQ(peer.seen[2].data, format);
  const auto audio = peer.seen_payload();
  ASSERT_EQ(audio.size(), 3U * 640);
  EXPECT_EQ(audio.substr(2 * 640, 4), std::string("\2\0\2\0", 4));
  EXPECT_TRUE(live.until([&] { return peer.closed_by_client; }));
}

TEST_F(WyomingAsr, LeavesTheLanguageToTheServerWhenItIsToldTo) {
  WyomingServer server(live.io, [](WyomingPeer& peer) -> Task<> {
    co_await peer.until("audio-stop");
    co_await peer.send(transcript("Ja."));
  });
  auto settings = at(server);
  settings.language = "auto";
  recognise(settings);
  EXPECT_EQ(server.peers().at(0)->seen.at(0).data, json::object());
}

TEST_F(WyomingAsr, SendsAudioWhileItIsSpokenAndGivesPartials) {
  WyomingServer server(live.io, [](WyomingPeer& peer) -> Task<> {
    co_await peer.until("audio-chunk");
    co_await peer.send({"transcript-start", json::object(), {}});
    co_await peer.send(transcript("Turn on", "transcript-chunk"));
    co_await peer.send(transcript(" the lamp", "transcript-chunk"));
    co_await peer.until("audio-stop");
    co_await peer.send(transcript("Turn on the lamp."));
    co_await peer.send({"transcript-stop", json::object(), {}});
    co_await peer.until_closed();
  });
  const auto stream = open(at(server));
  stream->push(std::vector<std::int16_t>(320, 1));
  for (const auto* text : {"Turn on", "Turn on the lamp"}) {
    const auto partial = live.run(stream->next());
    ASSERT_TRUE(partial);
    EXPECT_EQ((*partial)->kind, AsrEvent::Kind::partial);
    EXPECT_EQ((*partial)->text, text);
  }
  stream->push(std::vector<std::int16_t>(320, 1));
  stream->finish();
  const auto rest = live.run(test::drain(*stream));
  ASSERT_EQ(rest.events.size(), 1U);
  EXPECT_EQ(rest.events[0].kind, AsrEvent::Kind::final);
  EXPECT_EQ(rest.events[0].text, "Turn on the lamp.");
}

TEST_F(WyomingAsr, KeepsAnEarlyTranscriptUntilTheUtteranceIsOver) {
  WyomingServer server(live.io, [](WyomingPeer& peer) -> Task<> {
    co_await peer.until("audio-chunk");
    co_await peer.send(transcript("Stop."));
  });
  const auto stream = open(at(server));
  stream->push(std::vector<std::int16_t>(320, 1));
  const auto waiting = live.start(test::drain(*stream));
  ASSERT_TRUE(live.until([&] { return !server.peers().empty() && server.peers()[0]->seen.size() == 3; }));
  live.pass(1h);
  EXPECT_FALSE(waiting->done());
  stream->finish();
  ASSERT_TRUE(live.until([&] { return waiting->done(); }));
  ASSERT_EQ(waiting->result->events.size(), 1U);
  EXPECT_EQ(waiting->result->events[0].text, "Stop.");
}

TEST_F(WyomingAsr, AsksNobodyAboutNothing) {
  WyomingServer server(live.io, [](WyomingPeer& peer) { return peer.until_closed(); });
  const auto heard = recognise(at(server), 0);
  ASSERT_EQ(heard.events.size(), 1U);
  EXPECT_EQ(heard.events[0].kind, AsrEvent::Kind::final);
  EXPECT_EQ(heard.events[0].text, "");
  EXPECT_TRUE(server.peers().empty());
}

TEST_F(WyomingAsr, HearsNoMoreThanItMay) {
  WyomingServer server(live.io, [](WyomingPeer& peer) -> Task<> {
    co_await peer.until("audio-stop");
    co_await peer.send(transcript("Long."));
  });
  auto settings = at(server);
  settings.max_audio = 1s;
  EXPECT_EQ(recognise(settings, 60).events.size(), 1U);
  EXPECT_EQ(server.peers().at(0)->seen_payload().size(), 32000U);
}

TEST_F(WyomingAsr, SendsEverythingAgainWhereTheConnectionBreaksBeforeAnyAnswer) {
  int connections = 0;
  WyomingServer server(live.io, [&](WyomingPeer& peer) -> Task<> {
    if (++connections == 1) {
      co_await peer.until("audio-chunk");
      co_return;
    }
    co_await peer.until("audio-stop");
    co_await peer.send(transcript("Again."));
  });
  auto settings = at(server);
  settings.endpoint.limits.retry.retries = 1;
  const auto stream = open(settings);
  stream->push(std::vector<std::int16_t>(10000, 1));
  const auto waiting = live.start(test::drain(*stream));
  ASSERT_TRUE(live.until([&] { return connections == 2; }));
  stream->push(std::vector<std::int16_t>(320, 1));
  stream->finish();
  ASSERT_TRUE(live.until([&] { return waiting->done(); }));
  ASSERT_EQ(waiting->result->events.size(), 1U);
  EXPECT_EQ(waiting->result->events[0].text, "Again.");
  EXPECT_EQ(server.peers().at(1)->seen_types(), "transcribe audio-start audio-chunk audio-stop");
  EXPECT_EQ(server.peers().at(1)->seen_payload().size(), 2U * 10320);
}

TEST_F(WyomingAsr, DoesNotBeginAnewAfterAPartial) {
  WyomingServer server(live.io, [](WyomingPeer& peer) -> Task<> {
    co_await peer.until("audio-stop");
    co_await peer.send(transcript("Half", "transcript-chunk"));
  });
  auto settings = at(server);
  settings.endpoint.limits.retry.retries = 3;
  const auto heard = recognise(settings);
  EXPECT_EQ(heard.events.size(), 1U);
  ASSERT_TRUE(heard.error);
  EXPECT_EQ(heard.error->code, Errc::closed);
  EXPECT_EQ(server.peers().size(), 1U);
}

TEST_F(WyomingAsr, SaysWhatIsWrongWithTheServer) {
  struct Case {
    std::vector<WyomingEvent> sent;
    Errc code;
    std::string why;
  };
  const std::vector<Case> cases = {
      {{{"error", {{"text", "model not\nloaded"}, {"code", "x"}}, {}}},
       Errc::unavailable,
       "reports an error: model not loaded"},
      {{{"error", {{"text", 5}}, {}}}, Errc::unavailable, "reports an error"},
      {{{"error", json::object(), {}}}, Errc::unavailable, "reports an error"},
      {{{"transcript", json::object(), {}}}, Errc::invalid_input, "sent a transcript without text"},
      {{{"transcript", {{"text", nullptr}}, {}}}, Errc::invalid_input, "sent a transcript without text"},
      {{{"transcript", {{"text", {{"a", 1}}}}, {}}}, Errc::invalid_input, "sent a transcript without text"},
      {{{"transcript-chunk", {{"text", 1}}, {}}}, Errc::invalid_input, "transcript-chunk without text"},
      {{transcript(std::string(70000, 'x'))}, Errc::limit, "64 KiB"},
      {{{"transcript-start", json::object(), {}},
        {"transcript-stop", json::object(), {}},
        {"pong", json::object(), "?"}},
       Errc::closed,
       "closed the connection"},
  };
  for (const auto& wrong : cases) {
    WyomingServer server(live.io, [&](WyomingPeer& peer) -> Task<> {
      co_await peer.until("audio-stop");
      for (const auto& event : wrong.sent) co_await peer.send(event);
    });
    const auto heard = recognise(at(server));
    EXPECT_TRUE(heard.events.empty());
    ASSERT_TRUE(heard.error);
    EXPECT_EQ(heard.error->code, wrong.code) << heard.error->message;
    EXPECT_THAT(heard.error->message, HasSubstr(wrong.why));
    EXPECT_THAT(heard.error->message, HasSubstr(server.endpoint().uri()));
  }
}

TEST_F(WyomingAsr, WaitsForTheResultAsLongAsItMayFromTheEndOfTheUtterance) {
  WyomingServer server(live.io, [](WyomingPeer& peer) { return peer.until_closed(); });
  const auto stream = open(at(server));
  stream->push(std::vector<std::int16_t>(320, 1));
  const auto waiting = live.start(test::drain(*stream));
  ASSERT_TRUE(live.until([&] { return !server.peers().empty() && server.peers()[0]->seen.size() == 3; }));
  live.pass(1h);
  EXPECT_FALSE(waiting->done());
  stream->finish();
  live.pass(31s);
  ASSERT_TRUE(live.until([&] { return waiting->done(); }));
  EXPECT_EQ(waiting->result->error->code, Errc::timeout);
}

TEST_F(WyomingAsr, ThatIsAbandonedClosesItsConnection) {
  WyomingServer server(live.io, [](WyomingPeer& peer) { return peer.until_closed(); });
  auto stream = open(at(server));
  stream->push(std::vector<std::int16_t>(320, 1));
  {
    asio::cancellation_signal stop;
    bool ended = false;
    asio::co_spawn(live.io, test::drain(*stream),
                   asio::bind_cancellation_slot(
                       stop.slot(), [&](const std::exception_ptr&, const auto&) { ended = true; }));
    ASSERT_TRUE(live.until([&] { return !server.peers().empty() && server.peers()[0]->seen.size() == 3; }));
    stop.emit(asio::cancellation_type::terminal);
    EXPECT_TRUE(live.until([&] { return ended; }));
  }
  stream.reset();
  EXPECT_TRUE(live.until([&] { return server.peers()[0]->closed_by_client; }));
}

TEST(WyomingAsrConfig, IsReadStrictly) {
  const auto complaint = [](const std::string& text) {
    const auto node = config::Node::parse(text, "p.yaml");
    try {
      wyoming_asr_from_config(node, {});
      node.finish();
      return std::string();
    } catch (const Failure& failure) {
      return failure.error().message;
    }
  };
  EXPECT_EQ(
      complaint(
          "{uri: 'tcp://[::1]:10300', language: auto, model: small, max_audio: 30s, connect_timeout: 1s, "
          "first_byte_timeout: 1s, idle_timeout: 1s, total_timeout: 1s, retries: 0, max_response: 1MB}"),
      "");
  EXPECT_THAT(complaint("{language: en}"), HasSubstr("uri"));
  EXPECT_THAT(complaint("{uri: 'http://localhost:10300'}"), HasSubstr("tcp://host:10300"));
  EXPECT_THAT(complaint("{uri: 'tcp://host:1', langage: en}"), HasSubstr("language"));
}

}  // namespace
}  // namespace parley::providers
