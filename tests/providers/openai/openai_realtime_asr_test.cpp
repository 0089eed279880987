#include "parley/providers/openai_realtime_asr.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <chrono>

#include "fakes/live.hpp"
#include "fakes/websocket_server.hpp"
#include "providers/openai/realtime_transcript.hpp"

namespace parley::providers {
namespace {

using namespace std::chrono_literals;
using engine::AsrEvent;
using nlohmann::json;
using openai::RealtimeTranscript;
using test::WebSocketPeer;
using test::WebSocketServer;

std::string event(const std::string& type, json more = json::object()) {
  more["type"] = type;
  more["event_id"] = "event_1";
  return more.dump();
}

std::string delta(const std::string& text) {
  return event("conversation.item.input_audio_transcription.delta", {{"item_id", "item_1"}, {"delta", text}});
}

std::string completed(const std::string& text, const std::string& item = "item_1") {
  return event("conversation.item.input_audio_transcription.completed",
               {{"item_id", item}, {"transcript", text}});
}

// --- the events -----------------------------------------------------------------------------------------

TEST(RealtimeTranscript, DeltasAddUpAndTheTranscriptReplacesThem) {
  RealtimeTranscript transcript("");
  EXPECT_FALSE(transcript.take(event("session.created"))->changed);
  EXPECT_TRUE(transcript.take(delta("Turn on"))->changed);
  EXPECT_TRUE(transcript.take(delta(" a ramp"))->changed);
  EXPECT_EQ(transcript.text(), "Turn on a ramp");
  EXPECT_FALSE(transcript.take(event("conversation.item.input_audio_transcription.segment"))->changed);
  transcript.commit();
  EXPECT_FALSE(transcript.take(event("input_audio_buffer.committed", {{"item_id", "item_1"}}))->complete);
  EXPECT_TRUE(transcript.take(completed(" Turn on the lamp.\n"))->complete);
  EXPECT_EQ(transcript.text(), "Turn on the lamp.");
}

TEST(RealtimeTranscript, OnlyTheCommittedItemIsTheLast) {
  RealtimeTranscript transcript("");
  EXPECT_FALSE(transcript.take(completed("One.", "item_0"))->complete) << "nothing was committed yet";
  transcript.commit();
  transcript.take(event("input_audio_buffer.committed", {{"item_id", "item_2"}})).value();
  EXPECT_FALSE(transcript.take(completed("Two.", "item_1"))->complete);
  EXPECT_TRUE(transcript.take(completed("Three.", "item_2"))->complete);
  EXPECT_EQ(transcript.text(), "One. Two. Three.");
}

TEST(RealtimeTranscript, TooLittleSoundIsNothing) {
  RealtimeTranscript transcript("");
  transcript.commit();
  EXPECT_TRUE(transcript
                  .take(event("error", {{"error",
                                         {{"type", "invalid_request_error"},
                                          {"code", "input_audio_buffer_commit_empty"},
                                          {"message", "buffer too small"}}}}))
                  ->complete);
  EXPECT_EQ(transcript.text(), "");
}

TEST(RealtimeTranscript, TellsErrors) {
  struct Case {
    std::string message;
    Errc code;
  };
  const auto error = [](const char* type, json code) {
    return event("error",
                 {{"error", {{"type", type}, {"code", std::move(code)}, {"message", "no sk-secret"}}}});
  };
  for (const auto& [message, code] : std::vector<Case>{
           {error("invalid_request_error", "invalid_api_key"), Errc::unauthorized},
           {error("invalid_request_error", nullptr), Errc::invalid_input},
           {error("tokens", "rate_limit_exceeded"), Errc::overloaded},
           {error("server_error", nullptr), Errc::unavailable},
           {event("error", {{"error", "no sk-secret"}}), Errc::invalid_input},
           {event("error"), Errc::invalid_input},
           {event("conversation.item.input_audio_transcription.failed",
                  {{"error", {{"code", "audio_unintelligible"}, {"message", "no sk-secret"}}}}),
            Errc::invalid_input},
           {"", Errc::invalid_input},
           {"[1]", Errc::invalid_input},
           {"{\"type\":", Errc::invalid_input},
           {"{}", Errc::invalid_input},
           {R"({"type":7})", Errc::invalid_input},
           {event("conversation.item.input_audio_transcription.completed"), Errc::invalid_input},
           {event("conversation.item.input_audio_transcription.completed", {{"transcript", 7}}),
            Errc::invalid_input}}) {
    RealtimeTranscript transcript("sk-secret");
    const auto update = transcript.take(message);
    ASSERT_FALSE(update) << message;
    EXPECT_EQ(update.error().code, code) << message << ": " << update.error().message;
    EXPECT_EQ(update.error().message.find("sk-secret"), std::string::npos);
  }
}

// --- the stream -------------------------------------------------------------------------------------------

std::string decoded(const std::string& base64) {
  std::string bytes(base64.size(), '\0');
  const auto length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(base64.data()), static_cast<int>(base64.size()));
  const auto padding = base64.ends_with("==") ? 2U : (base64.ends_with("=") ? 1U : 0U);
  bytes.resize(static_cast<std::size_t>(length) - padding);
  return bytes;
}

struct Told {
  json update;
  std::string audio;
  std::size_t longest = 0;
  bool committed = false;
};

struct OpenAiRealtimeAsr : testing::Test, test::Live {
  OpenAiRealtimeAsrSettings settings;
  engine::AsrRequest request;
  Told told;

  OpenAiRealtimeAsr() {
    settings.endpoint.deadlines = {5s, 6s, 4s, 60s};
    settings.endpoint.secret = "sk-secret";
    settings.endpoint.headers = {{"Authorization", "Bearer sk-secret"}};
    settings.model = "gpt-realtime-whisper";
    settings.clock = clock();
  }

  std::unique_ptr<engine::AsrStream> open(const WebSocketServer& server) {
    settings.endpoint.url = server.url() + "/v1/realtime?intent=transcription";
    const auto provider = make_openai_realtime_asr(settings);
    const auto work = [&]() -> Task<std::unique_ptr<engine::AsrStream>> {
      co_return (co_await provider->open(request)).value();
    };
    return run(work());
  }

  test::Drained<AsrEvent> recognise(const WebSocketServer& server, std::size_t samples = 16'000) {
    const auto stream = open(server);
    stream->push(std::vector<std::int16_t>(samples, 1000));
    stream->finish();
    stream->finish();
    stream->push(std::vector<std::int16_t>(samples, 2000));
    return run(test::drain(*stream));
  }

  /// Reads until the audio is committed.
  Task<> listen(WebSocketPeer& peer) {
    told.update = json::parse((co_await peer.read()).value().bytes);
    while (!told.committed) {
      const auto message = json::parse((co_await peer.read()).value().bytes);
      told.committed = message["type"] == "input_audio_buffer.commit";
      if (told.committed) continue;
      EXPECT_EQ(message["type"], "input_audio_buffer.append");
      const auto piece = decoded(message["audio"]);
      told.longest = std::max(told.longest, piece.size());
      told.audio += piece;
    }
  }

  WebSocketServer::Handler saying(std::vector<std::string> events) {
    return [this, events](WebSocketPeer& peer) -> Task<> {
      co_await peer.accept();
      co_await listen(peer);
      for (const auto& text : events) co_await peer.send_text(text);
      co_await peer.read();
    };
  }
};

TEST_F(OpenAiRealtimeAsr, StreamsAnUtterance) {
  std::map<std::string, std::string> headers;
  std::string target;
  WebSocketServer server(io, [&](WebSocketPeer& peer) -> Task<> {
    headers = peer.headers;
    target = peer.target;
    co_await peer.accept();
    co_await peer.send_text(event("session.created"));
    co_await listen(peer);
    for (const auto& text : {event("input_audio_buffer.committed", {{"item_id", "item_1"}}), delta("Turn on"),
                             delta(" the lamp"), completed("Turn on the lamp."), completed("Once more.")})
      co_await peer.send_text(text);
    co_await peer.read();
  });
  request.language = "de-AT";
  settings.prompt = "Parley, lamp";
  settings.extra_body = json::parse(R"({"audio": {"input": {"noise_reduction": {"type": "far_field"}}}})");
  const auto heard = recognise(server, 20'000);
  ASSERT_FALSE(heard.error) << heard.error->message;
  ASSERT_EQ(heard.events.size(), 3U);
  EXPECT_EQ(heard.events[0].kind, AsrEvent::Kind::partial);
  EXPECT_EQ(heard.events[0].text, "Turn on");
  EXPECT_EQ(heard.events[1].text, "Turn on the lamp");
  EXPECT_EQ(heard.events[2].kind, AsrEvent::Kind::final);
  EXPECT_EQ(heard.events[2].text, "Turn on the lamp.");
  EXPECT_EQ(headers["authorization"], "Bearer sk-secret");
  EXPECT_EQ(target, "/v1/realtime?intent=transcription");
  EXPECT_EQ(told.update,
            json::parse(R"({"type":"session.update","session":{"type":"transcription","audio":{"input":{
      "format":{"type":"audio/pcm","rate":24000},
      "transcription":{"model":"gpt-realtime-whisper","language":"de","prompt":"Parley, lamp"},
      "noise_reduction":{"type":"far_field"},"turn_detection":null}}}})"));
  EXPECT_EQ(told.audio.size(), 2U * 30'000) << "at 24 kHz, and nothing of what came after the end";
  EXPECT_EQ(told.longest, 2U * 12'000) << "in pieces";
  const auto sample = [&](std::size_t at) {
    return static_cast<std::int16_t>(static_cast<unsigned char>(told.audio[2 * at]) |
                                     (static_cast<unsigned char>(told.audio[2 * at + 1]) << 8U));
  };
  EXPECT_NEAR(sample(15'000), 1000, 5);
}

TEST_F(OpenAiRealtimeAsr, ChoosesTheLanguage) {
  WebSocketServer server(io, saying({completed("x")}));
  settings.language = "auto";
  recognise(server);
  EXPECT_FALSE(told.update["session"]["audio"]["input"]["transcription"].contains("language"));
  told = {};
  settings.language = "fr";
  recognise(server);
  EXPECT_EQ(told.update["session"]["audio"]["input"]["transcription"]["language"], "fr");
}

TEST_F(OpenAiRealtimeAsr, LengthensWhatIsTooShortAndBoundsTheRest) {
  WebSocketServer server(io, saying({completed("x")}));
  recognise(server, 160);
  EXPECT_GE(told.audio.size(), 2U * 2'400) << "100 ms at least";
  told = {};
  settings.max_audio = 1s;
  recognise(server, 160'000);
  EXPECT_EQ(told.audio.size(), 2U * 24'000);
}

TEST_F(OpenAiRealtimeAsr, AsksNobodyAboutSilence) {
  WebSocketServer server(io, saying({}));
  const auto stream = open(server);
  stream->push({});
  stream->finish();
  const auto heard = run(test::drain(*stream));
  ASSERT_EQ(heard.events.size(), 1U);
  EXPECT_EQ(heard.events[0].text, "");
  const auto waiting = open(server);
  const auto later = start(test::drain(*waiting));
  ASSERT_TRUE(until([&] { return server.connections() == 2; }));
  waiting->finish();
  pass(0ms);
  ASSERT_TRUE(until([&] { return later->done(); }));
  EXPECT_EQ(later->result->events.size(), 1U);
  EXPECT_FALSE(told.committed);
}

TEST_F(OpenAiRealtimeAsr, GivesUpWaiting) {
  struct Case {
    std::vector<std::string> said;
    Duration limit;
  };
  for (const auto& [said, limit] : {Case{{}, 6s}, Case{{delta("Turn")}, 4s}}) {
    told = {};
    std::size_t sent = 0;
    WebSocketServer server(io, [&, said = said](WebSocketPeer& peer) -> Task<> {
      co_await peer.accept();
      co_await listen(peer);
      for (const auto& text : said) co_await peer.send_text(text);
      sent = said.size() + 1;
      co_await peer.read();
    });
    const auto stream = open(server);
    stream->push(std::vector<std::int16_t>(16'000, 1000));
    stream->finish();
    const auto heard = start(test::drain(*stream));
    ASSERT_TRUE(until([&] { return sent > 0; }));
    io.restart();
    while (io.run_one_for(100ms) > 0) {
    }
    EXPECT_FALSE(scheduler->fire_next(scheduler->now() + limit - 1ms));
    EXPECT_TRUE(scheduler->fire_next(scheduler->now() + 1ms));
    ASSERT_TRUE(until([&] { return heard->done(); }));
    ASSERT_TRUE(heard->result->error);
    EXPECT_EQ(heard->result->error->code, Errc::timeout);
    EXPECT_EQ(heard->result->events.size(), said.size());
  }
}

TEST_F(OpenAiRealtimeAsr, TellsWhatIsWrong) {
  struct Case {
    const char* what;
    WebSocketServer::Handler handler;
    Errc code;
  };
  const std::vector<Case> cases{
      {"refused",
       [](WebSocketPeer& peer) {
         return peer.refuse(401, R"({"error":{"message":"Incorrect API key provided: sk-secret"}})");
       },
       Errc::unauthorized},
      {"busy", [](WebSocketPeer& peer) { return peer.refuse(429, ""); }, Errc::overloaded},
      {"broken", [](WebSocketPeer& peer) { return peer.refuse(500, "<html>"); }, Errc::unavailable},
      {"garbage", saying({"{\"type"}), Errc::invalid_input},
      {"error", saying({event("error", {{"error", {{"type", "server_error"}, {"message", "sk-secret"}}}})}),
       Errc::unavailable},
      {"binary",
       [](WebSocketPeer& peer) -> Task<> {
         co_await peer.accept();
         co_await peer.send_binary("abc");
         co_await peer.read();
       },
       Errc::invalid_input},
      {"huge", saying({std::string(2'000'000, 'x')}), Errc::limit},
      {"closed",
       [this](WebSocketPeer& peer) -> Task<> {
         co_await peer.accept();
         co_await listen(peer);
         co_await peer.close(1000, "");
       },
       Errc::closed},
      {"broken off",
       [](WebSocketPeer& peer) -> Task<> {
         co_await peer.accept();
         co_await peer.close(1008, "sk-secret");
       },
       Errc::closed}};
  for (const auto& [what, handler, code] : cases) {
    told = {};
    WebSocketServer server(io, handler);
    const auto heard = recognise(server);
    EXPECT_TRUE(heard.events.empty()) << what;
    ASSERT_TRUE(heard.error) << what;
    EXPECT_EQ(heard.error->code, code) << what << ": " << heard.error->message;
    EXPECT_EQ(heard.error->message.find("sk-secret"), std::string::npos) << heard.error->message;
  }
}

TEST(OpenAiRealtimeConfig, IsReadStrictly) {
  const auto make = [](const std::string& text) {
    const auto node = config::Node::parse(text, "p.yaml");
    const auto made = openai_realtime_asr_from_config(node, {});
    node.finish();
    return made;
  };
  EXPECT_TRUE(make("{model: m}"));
  EXPECT_TRUE(
      make("{model: m, api_key: k, url: 'ws://h/x', language: auto, prompt: p, max_audio: 5s, "
           "extra_body: {include: [x]}, headers: {A: b}, total_timeout: 1m}"));
  for (const auto* bad : {"{}", "{model: m, url: 'https://h/v1'}", "{model: m, max_audio: 0s}",
                          "{model: m, headers: {\"a b\": c}}", "{model: m, api_key: \"a\\nb\"}",
                          "{model: m, extra_body: 5}", "{model: m, retries: 1}"}) {
    EXPECT_THROW(make(bad), Failure) << bad;
  }
}

}  // namespace
}  // namespace parley::providers
