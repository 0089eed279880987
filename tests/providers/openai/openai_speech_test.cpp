// The recogniser and the voices behind HTTP.
#include <gtest/gtest.h>

#include <chrono>

#include "fakes/http_server.hpp"
#include "fakes/streams.hpp"
#include "parley/audio/wav.hpp"
#include "parley/providers/elevenlabs_tts.hpp"
#include "parley/providers/openai_asr.hpp"
#include "parley/providers/openai_tts.hpp"

namespace parley::providers {
namespace {

using namespace std::chrono_literals;
using engine::AsrEvent;
using engine::TtsAudio;
using nlohmann::json;
using test::Heard;
using test::HttpExchange;
using test::HttpServer;
using test::run_on;

config::Node block(const HttpServer& server, const std::string& more) {
  return config::Node::parse("{base_url: \"" + server.url() + "/v1\", api_key: sk-secret, " + more + "}",
                             "p.yaml");
}

// --- recognition -------------------------------------------------------------------------------------

struct OpenAiAsr : testing::Test {
  asio::io_context io;
  engine::AsrRequest request;

  Heard<AsrEvent> recognise(const config::Node& node, std::size_t samples = 1600, int pieces = 2) {
    const auto asr = openai_asr_from_config(node, {});
    const auto work = [&]() -> Task<Heard<AsrEvent>> {
      auto stream = co_await asr->open(request);
      for (int i = 0; i < pieces; ++i) (*stream)->push(std::vector<std::int16_t>(samples, 1000));
      (*stream)->finish();
      (*stream)->push(std::vector<std::int16_t>(samples, 2000));
      (*stream)->finish();
      co_return co_await test::drain(**stream);
    };
    return run_on(io, work());
  }
};

/// A part of a multipart body.
std::string part(const test::HttpAsked& asked, const std::string& name) {
  const auto boundary =
      "--" + asked.headers.at("content-type").substr(std::string("multipart/form-data; boundary=").size());
  const auto at = asked.body.find("name=\"" + name + "\"");
  if (at == std::string::npos) return "(none)";
  const auto begin = asked.body.find("\r\n\r\n", at) + 4;
  return asked.body.substr(begin, asked.body.find("\r\n" + boundary, begin) - begin);
}

TEST_F(OpenAiAsr, UploadsTheWholeUtterance) {
  HttpServer server(io, [](HttpExchange& exchange) {
    return exchange.respond(200, "application/json", R"({"text":" Turn on the lamp.\n"})");
  });
  request.language = "de-AT";
  const auto heard = recognise(
      block(server, "model: whisper-1, prompt: \"Parley, lamp\", extra_body: {temperature: 0, x: text}"));
  ASSERT_EQ(heard.events.size(), 1U);
  EXPECT_EQ(heard.events[0].kind, AsrEvent::Kind::final);
  EXPECT_EQ(heard.events[0].text, "Turn on the lamp.");
  const auto& asked = server.asked().at(0);
  EXPECT_EQ(asked.target, "/v1/audio/transcriptions");
  EXPECT_EQ(asked.headers.at("authorization"), "Bearer sk-secret");
  EXPECT_EQ(part(asked, "model"), "whisper-1");
  EXPECT_EQ(part(asked, "language"), "de");
  EXPECT_EQ(part(asked, "prompt"), "Parley, lamp");
  EXPECT_EQ(part(asked, "temperature"), "0");
  EXPECT_EQ(part(asked, "x"), "text");
  const auto wav = part(asked, "file");
  const auto pcm = audio::parse_wav({reinterpret_cast<const std::uint8_t*>(wav.data()), wav.size()});
  ASSERT_TRUE(pcm);
  EXPECT_EQ(pcm->rate, 16000);
  EXPECT_EQ(pcm->samples, std::vector<std::int16_t>(3200, 1000)) << "nothing of what came after the end";
  EXPECT_TRUE(asked.body.ends_with("--\r\n"));
}

TEST_F(OpenAiAsr, ChoosesTheLanguage) {
  HttpServer server(io, [](HttpExchange& exchange) {
    return exchange.respond(200, "text/plain; charset=utf-8", "plain text\n");
  });
  request.language = "de";
  EXPECT_EQ(recognise(block(server, "model: m, language: fr")).events.at(0).text, "plain text");
  recognise(block(server, "model: m, language: auto"));
  EXPECT_EQ(part(server.asked().at(0), "language"), "fr");
  EXPECT_EQ(part(server.asked().at(1), "language"), "(none)");
}

TEST_F(OpenAiAsr, AsksNobodyAboutSilence) {
  HttpServer server(io,
                    [](HttpExchange& exchange) { return exchange.respond(200, "application/json", "{}"); });
  const auto heard = recognise(block(server, "model: m"), 0);
  ASSERT_EQ(heard.events.size(), 1U);
  EXPECT_EQ(heard.events[0].text, "");
  EXPECT_TRUE(server.asked().empty());
}

TEST_F(OpenAiAsr, BoundsTheAudio) {
  HttpServer server(io, [](HttpExchange& exchange) {
    return exchange.respond(200, "application/json", R"({"text":"x"})");
  });
  recognise(block(server, "model: m, max_audio: 1s"), 10'000, 10);
  EXPECT_EQ(part(server.asked().at(0), "file").size(), 44U + 2 * 16'000);
}

TEST_F(OpenAiAsr, TriesAgainAndTellsErrors) {
  int failing = 1;
  HttpServer server(io, [&](HttpExchange& exchange) -> Task<> {
    if (exchange.asked.body.find("garbage") != std::string::npos) {
      co_await exchange.respond(200, "application/json", R"({"error":{"message":"no sk-secret"}})");
    } else if (failing-- > 0) {
      co_await exchange.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"te");
      exchange.close();
    } else {
      co_await exchange.respond(200, "application/json", R"({"text":"x"})");
    }
  });
  EXPECT_EQ(recognise(block(server, "model: m")).events.at(0).text, "x");
  EXPECT_EQ(server.asked().size(), 2U);
  EXPECT_EQ(server.asked()[0].body, server.asked()[1].body);
  failing = 9;
  EXPECT_EQ(recognise(block(server, "model: m")).error->code, Errc::closed);
  const auto garbage = recognise(block(server, "model: garbage"));
  ASSERT_TRUE(garbage.error);
  EXPECT_EQ(garbage.error->code, Errc::invalid_input);
  EXPECT_EQ(garbage.error->message.find("sk-secret"), std::string::npos);
}

// --- speech ------------------------------------------------------------------------------------------------

struct HttpVoice : testing::Test {
  asio::io_context io;

  Heard<TtsAudio> speak(const std::shared_ptr<engine::TtsProvider>& tts, std::string voice = {}) {
    const auto work = [&]() -> Task<Heard<TtsAudio>> {
      auto stream = co_await tts->speak({.text = "Hello \xFF.", .voice = voice});
      if (!stream) co_return Heard<TtsAudio>{{}, stream.error()};
      co_return co_await test::drain(**stream);
    };
    return run_on(io, work());
  }
};

std::vector<std::int16_t> samples_of(const Heard<TtsAudio>& heard) {
  std::vector<std::int16_t> all;
  for (const auto& audio : heard.events)
    all.insert(all.end(), audio.pcm.samples.begin(), audio.pcm.samples.end());
  return all;
}

TEST_F(HttpVoice, OpenAiStreamsSamplesCutAnywhere) {
  HttpServer server(io, [](HttpExchange& exchange) -> Task<> {
    co_await exchange.begin("audio/pcm");
    co_await exchange.chunk(std::string("\x01", 1));
    co_await exchange.chunk(std::string("\x00\x02\x00\x03", 4));
    co_await exchange.chunk(std::string("\x80\xFF", 2));
    co_await exchange.end();
  });
  const auto tts = openai_tts_from_config(
      block(server, "model: tts-1, voice: alloy, sample_rate: 22050, extra_body: {speed: 1.5}"), {});
  const auto heard = speak(tts);
  EXPECT_FALSE(heard.error);
  EXPECT_EQ(samples_of(heard), (std::vector<std::int16_t>{1, 2, -32765}))
      << "half a sample at the end is dropped";
  EXPECT_EQ(heard.events.at(0).pcm.rate, 22050);
  EXPECT_EQ(server.asked().at(0).target, "/v1/audio/speech");
  EXPECT_EQ(
      json::parse(server.asked().at(0).body),
      json::parse(
          R"({"model":"tts-1","voice":"alloy","input":"Hello \ufffd.","response_format":"pcm","speed":1.5})"));
  speak(tts, "nova");
  EXPECT_EQ(json::parse(server.asked().at(1).body)["voice"], "nova");
}

TEST_F(HttpVoice, OpenAiTakesAWavFileAtItsOwnRate) {
  HttpServer server(io, [](HttpExchange& exchange) -> Task<> {
    const auto wav = audio::format_wav(std::vector<std::int16_t>{1, 2, 3}, 16000);
    co_await exchange.respond(200, "audio/wav", std::string(wav.begin(), wav.end()));
  });
  const auto heard = speak(openai_tts_from_config(block(server, "model: m, voice: v"), {}));
  EXPECT_EQ(samples_of(heard), (std::vector<std::int16_t>{1, 2, 3}));
  EXPECT_EQ(heard.events.at(0).pcm.rate, 16000);
}

TEST_F(HttpVoice, RefusesWhatIsNoAudio) {
  std::string type;
  std::string body;
  HttpServer server(io, [&](HttpExchange& exchange) { return exchange.respond(200, type, body); });
  const auto tts = openai_tts_from_config(block(server, "model: m, voice: v, retries: 0"), {});
  struct Case {
    std::string type;
    std::string body;
    Errc code;
  };
  for (const auto& [with_type, with_body, code] : std::vector<Case>{
           {"application/json", R"({"error":{"message":"no such voice for sk-secret"}})", Errc::unavailable},
           {"text/html", "<html>", Errc::unavailable},
           {"audio/pcm", "<!DOCTYPE html><html><body>Bad gateway</body></html>", Errc::unavailable},
           {"application/octet-stream", R"({"error":{"message":"sk-secret is wrong"}})", Errc::unavailable},
           {"audio/pcm", "", Errc::unavailable},
           {"audio/pcm", "x", Errc::unavailable},
           {"audio/mpeg", "ID3\x04 and so on", Errc::unsupported},
           {"audio/mpeg", "\xFF\xFB\x90 and so on", Errc::unsupported},
           {"audio/ogg", "OggS and so on", Errc::unsupported}}) {
    type = with_type;
    body = with_body;
    const auto heard = speak(tts);
    EXPECT_TRUE(heard.events.empty()) << type;
    ASSERT_TRUE(heard.error) << type;
    EXPECT_EQ(heard.error->code, code) << heard.error->message;
    EXPECT_EQ(heard.error->message.find("sk-secret"), std::string::npos);
  }
}

TEST_F(HttpVoice, TriesAgainOnlyBeforeTheFirstAudio) {
  int asked = 0;
  bool early = true;
  HttpServer server(io, [&](HttpExchange& exchange) -> Task<> {
    co_await exchange.begin("audio/pcm");
    if (++asked > 1) {
      co_await exchange.chunk("abcd");
      co_await exchange.end();
      co_return;
    }
    if (!early) co_await exchange.chunk("ab");
    exchange.close();
  });
  const auto tts = openai_tts_from_config(block(server, "model: m, voice: v"), {});
  auto heard = speak(tts);
  EXPECT_FALSE(heard.error);
  EXPECT_EQ(samples_of(heard).size(), 2U);
  asked = 0;
  early = false;
  heard = speak(tts);
  EXPECT_EQ(samples_of(heard).size(), 1U);
  ASSERT_TRUE(heard.error);
  EXPECT_EQ(heard.error->code, Errc::closed);
  EXPECT_EQ(asked, 1);
}

TEST_F(HttpVoice, ElevenLabsStreams) {
  HttpServer server(io, [](HttpExchange& exchange) { return exchange.respond(200, "audio/pcm", "abcd"); });
  const auto tts = elevenlabs_tts_from_config(
      config::Node::parse(
          "{base_url: \"" + server.url() +
              "\", api_key: xi-secret, voice: a/b, sample_rate: 16000, extra_body: {language_code: de}}",
          "p.yaml"),
      {});
  const auto heard = speak(tts);
  EXPECT_FALSE(heard.error);
  EXPECT_EQ(heard.events.at(0).pcm.rate, 16000);
  EXPECT_EQ(samples_of(heard).size(), 2U);
  const auto asked = server.asked().at(0);
  EXPECT_EQ(asked.target, "/v1/text-to-speech/a%2Fb/stream?output_format=pcm_16000");
  const auto whole = elevenlabs_tts_from_config(
      config::Node::parse("{base_url: \"" + server.url() + "\", voice: v, stream: false}", "p.yaml"), {});
  EXPECT_EQ(samples_of(speak(whole)).size(), 2U);
  EXPECT_EQ(server.asked().at(1).target, "/v1/text-to-speech/v?output_format=pcm_24000");
  EXPECT_EQ(asked.headers.at("xi-api-key"), "xi-secret");
  EXPECT_EQ(asked.headers.count("authorization"), 0U);
  EXPECT_EQ(json::parse(asked.body),
            json::parse(R"({"text":"Hello \ufffd.","model_id":"eleven_flash_v2_5","language_code":"de"})"));
}

TEST(HttpSpeechConfig, RefusesWhatIsWrong) {
  const auto parse = [](const char* text) { return config::Node::parse(text, "p.yaml"); };
  for (const char* bad : {"{}", "{model: m, max_audio: 0s}", "{model: m, extra_body: {a: [1]}}",
                          "{model: m, extra_body: {\"a\\\"b\": 1}}"}) {
    EXPECT_THROW(openai_asr_from_config(parse(bad), {}), Failure) << bad;
  }
  for (const char* bad : {"{}", "{model: m}", "{voice: v}", "{model: m, voice: v, sample_rate: 4000}"}) {
    EXPECT_THROW(openai_tts_from_config(parse(bad), {}), Failure) << bad;
  }
  for (const char* bad : {"{}", "{voice: v, sample_rate: 12345}"}) {
    EXPECT_THROW(elevenlabs_tts_from_config(parse(bad), {}), Failure) << bad;
  }
}

}  // namespace
}  // namespace parley::providers
