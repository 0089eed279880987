#include "parley/providers/funasr_asr.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "fakes/live.hpp"
#include "fakes/websocket_server.hpp"

namespace parley::providers {
namespace {

using namespace std::chrono_literals;
using engine::AsrEvent;
using nlohmann::json;
using test::WebSocketPeer;
using test::WebSocketServer;

constexpr std::size_t kPacket = 960;

std::string result(const std::string& mode, const std::string& text, bool is_final) {
  return json{{"mode", mode}, {"text", text}, {"wav_name", "parley"}, {"is_final", is_final}}.dump();
}

/// What a server was told, in order.
struct Told {
  json first;
  std::vector<std::string> packets;
  json last;
};

/// Reads an utterance to its end.
Task<Told> listen(WebSocketPeer& peer) {
  Told told;
  told.first = json::parse((co_await peer.read()).value().bytes);
  while (true) {
    const auto message = (co_await peer.read()).value();
    if (message.is_text) {
      told.last = json::parse(message.bytes);
      co_return told;
    }
    told.packets.push_back(message.bytes);
  }
}

struct FunAsr : testing::Test, test::Live {
  FunAsrSettings settings;
  Told told;
  std::shared_ptr<engine::AsrProvider> provider;

  FunAsr() {
    settings.endpoint.deadlines = {5s, 5s, 4s, 60s};
    settings.endpoint.subprotocol = "binary";
    settings.clock = clock();
  }

  std::unique_ptr<engine::AsrStream> open(const WebSocketServer& server) {
    if (!provider) {
      settings.endpoint.url = server.url();
      provider = make_funasr(settings);
    }
    const auto work = [&]() -> Task<std::unique_ptr<engine::AsrStream>> {
      co_return (co_await provider->open({})).value();
    };
    return run(work());
  }

  /// Speaks `samples` and waits for the end.
  test::Drained<AsrEvent> recognise(const WebSocketServer& server, std::size_t samples = 2 * kPacket) {
    const auto stream = open(server);
    stream->push(std::vector<std::int16_t>(samples, 0x0102));
    stream->finish();
    return run(test::drain(*stream));
  }

  /// The same, where the end comes with a deadline that is at most `limit` away once the server is `ready`.
  test::Drained<AsrEvent> recognise_late(const WebSocketServer& server, const std::function<bool()>& ready,
                                         Duration limit) {
    const auto stream = open(server);
    stream->push(std::vector<std::int16_t>(kPacket, 1));
    stream->finish();
    const auto heard = start(test::drain(*stream));
    EXPECT_TRUE(until(ready));
    io.restart();
    while (io.run_one_for(100ms) > 0) {
    }
    EXPECT_FALSE(heard->done()) << "it ended before the deadline";
    scheduler->fire_next(scheduler->now() + limit);
    EXPECT_TRUE(until([&] { return heard->done(); }));
    return heard->result.value_or(test::Drained<AsrEvent>{});
  }

  /// A server that listens and then says these.
  WebSocketServer::Handler saying(std::vector<std::string> results) {
    return [this, results](WebSocketPeer& peer) -> Task<> {
      co_await peer.accept("binary");
      told = co_await listen(peer);
      for (const auto& text : results) co_await peer.send_text(text);
      co_await peer.read();
    };
  }
};

TEST_F(FunAsr, StreamsPacketsAndGivesPartialsAndAFinal) {
  settings.hotwords = json::parse(R"({"Parley": 20, "lamp": 30})");
  settings.extra_body = json::parse(R"({"svs_lang": "en", "itn": null})");
  bool spoken = false;
  WebSocketServer server(io, [&](WebSocketPeer& peer) -> Task<> {
    co_await peer.accept("binary");
    told.first = json::parse((co_await peer.read()).value().bytes);
    told.packets.push_back((co_await peer.read()).value().bytes);
    co_await peer.send_text(result("2pass-online", "turn on", false));
    spoken = true;
    told.packets.push_back((co_await peer.read()).value().bytes);
    told.last = json::parse((co_await peer.read()).value().bytes);
    co_await peer.send_text(result("2pass-online", "a ramp", false));
    co_await peer.send_text(result("2pass-offline", "Turn on the lamp.", true));
    co_await peer.send_text(result("2pass-offline", "Never heard.", true));
    co_await peer.read();
  });
  const auto stream = open(server);
  stream->push(std::vector<std::int16_t>(500, 0x0102));
  stream->push(std::vector<std::int16_t>(500, -1));
  const auto heard = start(test::drain(*stream));
  ASSERT_TRUE(until([&] { return spoken; }));
  stream->finish();
  stream->finish();
  stream->push(std::vector<std::int16_t>(5000, 7));
  ASSERT_TRUE(until([&] { return heard->done(); }));
  const auto& events = heard->result->events;
  ASSERT_FALSE(heard->result->error);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].kind, AsrEvent::Kind::partial);
  EXPECT_EQ(events[0].text, "turn on");
  EXPECT_EQ(events[1].text, "turn on a ramp");
  EXPECT_EQ(events[2].kind, AsrEvent::Kind::final);
  EXPECT_EQ(events[2].text, "Turn on the lamp.");
  EXPECT_EQ(events[2].ready_at, scheduler->now());
  EXPECT_EQ(told.first, json::parse(R"({"mode":"2pass","chunk_size":[5,10,5],"chunk_interval":10,
      "wav_name":"parley","wav_format":"pcm","audio_fs":16000,"is_speaking":true,
      "hotwords":"{\"Parley\":20,\"lamp\":30}","hotword":"Parley lamp","svs_lang":"en"})"));
  ASSERT_EQ(told.packets.size(), 2U);
  EXPECT_EQ(told.packets[0].size(), 2 * kPacket);
  EXPECT_EQ(told.packets[0].substr(0, 2), "\x02\x01") << "little-endian";
  EXPECT_EQ(told.packets[1].substr(0, 82), std::string(80, '\xFF') + std::string(2, '\0'));
  EXPECT_EQ(told.packets[1].size(), 2 * kPacket) << "the rest is silence";
  EXPECT_EQ(told.last, json::parse(R"({"is_speaking":false})"));
}

TEST_F(FunAsr, TheServerInPythonEndsWithItsSegment) {
  bool spoken = false;
  WebSocketServer server(io, [&](WebSocketPeer& peer) -> Task<> {
    co_await peer.accept("binary");
    co_await peer.read();
    co_await peer.send_text(result("2pass-online", "a", true));
    spoken = true;
    while (!(co_await peer.read()).value().is_text) {
    }
    co_await peer.send_text(result("2pass-offline", "A.", false));
    co_await peer.read();
  });
  const auto stream = open(server);
  stream->push(std::vector<std::int16_t>(kPacket, 1));
  const auto heard = start(test::drain(*stream));
  // The mark means what it means only before the server knows of the end.
  ASSERT_TRUE(until([&] { return spoken; }));
  io.restart();
  while (io.run_one_for(100ms) > 0) {
  }
  stream->finish();
  ASSERT_TRUE(until([&] { return heard->done(); }));
  EXPECT_EQ(heard->result->events.back().text, "A.");
  EXPECT_EQ(heard->result->events.back().kind, AsrEvent::Kind::final);
}

TEST_F(FunAsr, WhatAServerMeansIsRemembered) {
  settings.mode = "offline";
  for (const bool mark : {true, false}) {
    provider = nullptr;
    int asked = 0;
    WebSocketServer server(io, [&](WebSocketPeer& peer) -> Task<> {
      co_await peer.accept("binary");
      told = co_await listen(peer);
      ++asked;
      co_await peer.send_text(result("offline", "A.", mark));
      co_await peer.read();
    });
    const auto first = recognise_late(
        server, [&] { return asked == 1; }, settings.settle);
    EXPECT_EQ(first.events.back().text, "A.");
    EXPECT_EQ(recognise(server).events.back().text, "A.") << "without a deadline";
  }
}

TEST_F(FunAsr, OnlineSettles) {
  settings.mode = "online";
  bool asked = false;
  WebSocketServer server(io, [&](WebSocketPeer& peer) -> Task<> {
    co_await peer.accept("binary");
    co_await peer.read();
    co_await peer.send_text(result("online", "turn on", true));
    int packets = 0;
    while (!(co_await peer.read()).value().is_text) ++packets;
    EXPECT_EQ(packets, 10) << "a whole chunk";
    co_await peer.send_text(result("online", "the lamp", true));
    asked = true;
    co_await peer.read();
  });
  const auto heard = recognise_late(
      server, [&] { return asked; }, settings.settle);
  ASSERT_FALSE(heard.error);
  EXPECT_EQ(heard.events.back().kind, AsrEvent::Kind::final);
  EXPECT_EQ(heard.events.back().text, "turn on the lamp");
}

TEST_F(FunAsr, AServerThatSaysNothingHeardNothing) {
  bool asked = false;
  WebSocketServer server(io, [&](WebSocketPeer& peer) -> Task<> {
    co_await peer.accept("binary");
    told = co_await listen(peer);
    asked = true;
    co_await peer.read();
  });
  const auto heard = recognise_late(
      server, [&] { return asked; }, 5s);
  ASSERT_FALSE(heard.error);
  ASSERT_EQ(heard.events.size(), 1U);
  EXPECT_EQ(heard.events[0].kind, AsrEvent::Kind::final);
  EXPECT_EQ(heard.events[0].text, "");
}

TEST_F(FunAsr, AServerThatHangsIsAFailure) {
  bool asked = false;
  WebSocketServer server(io, [&](WebSocketPeer& peer) -> Task<> {
    co_await peer.accept("binary");
    told = co_await listen(peer);
    asked = true;
    co_await peer.until_closed();
  });
  const auto heard = recognise_late(
      server, [&] { return asked; }, 5s);
  EXPECT_TRUE(heard.events.empty());
  ASSERT_TRUE(heard.error);
  EXPECT_EQ(heard.error->code, Errc::timeout);
}

TEST_F(FunAsr, NobodySpokeAndNobodyIsAsked) {
  WebSocketServer server(io, saying({}));
  const auto stream = open(server);
  const auto heard = start(test::drain(*stream));
  ASSERT_TRUE(until([&] { return server.connections() == 1; }));
  stream->finish();
  pass(0ms);
  ASSERT_TRUE(until([&] { return heard->done(); }));
  ASSERT_FALSE(heard->result->error);
  EXPECT_EQ(heard->result->events.at(0).text, "");
}

TEST_F(FunAsr, TellsWhatIsWrong) {
  settings.endpoint.secret = "sk-secret";
  struct Case {
    const char* what;
    WebSocketServer::Handler handler;
    Errc code;
  };
  const std::vector<Case> cases{
      {"refused", [](WebSocketPeer& peer) { return peer.refuse(401, R"({"error":"no sk-secret"})"); },
       Errc::unauthorized},
      {"busy", [](WebSocketPeer& peer) { return peer.refuse(429, ""); }, Errc::overloaded},
      {"broken", [](WebSocketPeer& peer) { return peer.refuse(500, "<html>"); }, Errc::unavailable},
      {"garbage", saying({"{\"mode"}), Errc::invalid_input},
      {"binary",
       [](WebSocketPeer& peer) -> Task<> {
         co_await peer.accept("binary");
         co_await peer.send_binary("abc");
         co_await peer.read();
       },
       Errc::invalid_input},
      {"huge", saying({std::string(2'000'000, 'x')}), Errc::limit},
      {"closed",
       [](WebSocketPeer& peer) -> Task<> {
         co_await peer.accept("binary");
         co_await listen(peer);
         co_await peer.close(1000, "");
       },
       Errc::closed},
      {"broken off",
       [](WebSocketPeer& peer) -> Task<> {
         co_await peer.accept("binary");
         co_await peer.close(1011, "sk-secret");
       },
       Errc::closed}};
  for (const auto& [what, handler, code] : cases) {
    provider = nullptr;
    WebSocketServer server(io, handler);
    const auto heard = recognise(server);
    EXPECT_TRUE(heard.events.empty()) << what;
    ASSERT_TRUE(heard.error) << what;
    EXPECT_EQ(heard.error->code, code) << what << ": " << heard.error->message;
    EXPECT_EQ(heard.error->message.find("sk-secret"), std::string::npos) << heard.error->message;
  }
}

TEST(FunAsrConfig, IsReadStrictly) {
  const auto make = [](const std::string& text) {
    const auto node = config::Node::parse(text, "p.yaml");
    const auto made = funasr_from_config(node, {});
    node.finish();
    return made;
  };
  EXPECT_TRUE(
      make("{url: 'wss://127.0.0.1:10095', mode: online, chunk_size: [8, 8, 4], itn: false, "
           "hotwords: {a: 1}, settle: 1s, verify: false, first_byte_timeout: 1s}"));
  for (const auto* bad :
       {"{}", "{url: 'http://h'}", "{url: 'ws://u:p@h'}", "{url: 'ws://h', mode: 3pass}",
        "{url: 'ws://h', chunk_size: [5, 10]}", "{url: 'ws://h', chunk_size: [5, 0, 5]}",
        "{url: 'ws://h', chunk_size: 5}", "{url: 'ws://h', chunk_size: [a, b, c]}",
        "{url: 'ws://h', hotwords: [a]}", "{url: 'ws://h', hotwords: {a: b}}", "{url: 'ws://h', settle: 0s}",
        "{url: 'ws://h', ca_file: nowhere.pem}", "{url: 'ws://h', language: zh}"}) {
    EXPECT_THROW(make(bad), Failure) << bad;
  }
}

}  // namespace
}  // namespace parley::providers
