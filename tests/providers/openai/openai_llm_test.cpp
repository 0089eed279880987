#include "parley/providers/openai_llm.hpp"

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <chrono>

#include "fakes/http_server.hpp"
#include "fakes/streams.hpp"

namespace parley::providers {
namespace {

using namespace std::chrono_literals;
using engine::LlmEvent;
using engine::Message;
using nlohmann::json;
using test::Heard;
using test::HttpExchange;
using test::HttpServer;
using test::run_on;
using test::run_until;

std::string event(const std::string& content) {
  return "data: " + json({{"choices", {{{"delta", {{"content", content}}}}}}}).dump() + "\n\n";
}

Message message(Message::Role role, std::string text) {
  Message made;
  made.role = role;
  made.text = std::move(text);
  return made;
}

struct OpenAiLlm : testing::Test {
  asio::io_context io;
  std::shared_ptr<engine::LlmProvider> llm;
  engine::ChatRequest request;

  OpenAiLlm() { request.messages = {message(Message::Role::user, "hello")}; }

  void configure(const HttpServer& server, const std::string& more = {}) {
    llm = openai_llm_from_config(
        config::Node::parse(
            "{base_url: \"" + server.url() + "/v1/\", api_key: sk-secret, model: m" + more + "}", "p.yaml"),
        {});
  }

  Heard<LlmEvent> chat() {
    const auto work = [&]() -> Task<Heard<LlmEvent>> {
      auto stream = co_await llm->chat(request);
      if (!stream) co_return Heard<LlmEvent>{{}, stream.error()};
      co_return co_await test::drain(**stream);
    };
    return run_on(io, work());
  }
};

std::string text_of(const Heard<LlmEvent>& heard) {
  std::string text;
  for (const auto& event : heard.events) {
    if (const auto* delta = std::get_if<engine::TextDelta>(&event.what)) text += delta->text;
  }
  return text;
}

TEST_F(OpenAiLlm, StreamsAnAnswer) {
  HttpServer server(io, [](HttpExchange& exchange) -> Task<> {
    co_await exchange.begin("text/event-stream");
    co_await exchange.chunk(": hello\r\n\r\n" + event("Good ") + event("mor").substr(0, 9));
    co_await exchange.chunk(event("mor").substr(9) + event("ning."));
    co_await exchange.chunk("data: [DONE]\n\n");
    co_await exchange.end();
  });
  configure(server);
  const auto before = Clock::now();
  const auto heard = chat();
  EXPECT_FALSE(heard.error);
  EXPECT_EQ(text_of(heard), "Good morning.");
  for (const auto& got : heard.events) {
    EXPECT_GE(got.ready_at, before);
    EXPECT_LE(got.ready_at, Clock::now());
  }
  const auto& asked = server.asked().at(0);
  EXPECT_EQ(asked.method + " " + asked.target, "POST /v1/chat/completions");
  EXPECT_EQ(asked.headers.at("authorization"), "Bearer sk-secret");
  EXPECT_EQ(asked.headers.at("content-type"), "application/json");
  EXPECT_EQ(json::parse(asked.body), json::parse(R"({"model":"m","stream":true,
    "stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello"}]})"));
}

TEST_F(OpenAiLlm, KeepsItsConnectionAfterDone) {
  HttpServer server(io, [](HttpExchange& exchange) -> Task<> {
    co_await exchange.begin("text/event-stream");
    co_await exchange.chunk(event("x") + "data: [DONE]\n\n");
    co_await exchange.chunk("\n");
    co_await exchange.end();
  });
  configure(server);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(text_of(chat()), "x");
    test::run_until_quiet(io);
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(OpenAiLlm, SendsTheWholeConversation) {
  HttpServer server(io, [](HttpExchange& exchange) {
    return exchange.respond(200, "application/json", R"({"choices":[{"message":{"content":"ok"}}]})");
  });
  configure(server,
            ", temperature: 0.5, max_tokens: 99, parallel_tool_calls: false, usage: false, "
            "headers: {X-Title: parley}, extra_body: {top_p: 0.9, stream: null, options: {num_ctx: 8}}");
  auto tools = std::make_shared<engine::ToolSet>();
  tools->tools.push_back({"lamp",
                          "",
                          "self.lamp",
                          "A lamp.",
                          {{"type", "object"}, {"properties", {{"on", {{"type", "boolean"}}}}}}});
  tools->tools.push_back({"bare", "", "bare", "", json()});
  request.tools = tools;
  auto calls = message(Message::Role::assistant, "");
  calls.calls = {{"c1", "lamp", {{"on", true}}}, {"c2", "bare", json::object(), "{broken"}};
  auto first = message(Message::Role::tool, "done");
  first.call_id = "c1";
  auto second = message(Message::Role::tool, "failed");
  second.call_id = "c2";
  request.messages = {message(Message::Role::system, "Be nice."),
                      message(Message::Role::user, "bad \xFF byte"),
                      message(Message::Role::assistant, ""),
                      calls,
                      first,
                      second,
                      message(Message::Role::assistant, "There."),
                      message(Message::Role::user, "thanks")};
  EXPECT_EQ(text_of(chat()), "ok");
  EXPECT_EQ(server.asked().at(0).headers.at("x-title"), "parley");
  EXPECT_EQ(json::parse(server.asked().at(0).body),
            json::parse(R"({"model":"m","temperature":0.5,"max_tokens":99,
    "parallel_tool_calls":false,"top_p":0.9,"options":{"num_ctx":8},
    "tools":[{"type":"function","function":{"name":"lamp","description":"A lamp.",
                "parameters":{"type":"object","properties":{"on":{"type":"boolean"}}}}},
             {"type":"function","function":{"name":"bare","description":"",
                "parameters":{"type":"object","properties":{}}}}],
    "messages":[{"role":"system","content":"Be nice."},{"role":"user","content":"bad \ufffd byte"},
      {"role":"assistant","content":null,"tool_calls":[
        {"id":"c1","type":"function","function":{"name":"lamp","arguments":"{\"on\":true}"}},
        {"id":"c2","type":"function","function":{"name":"bare","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"c1","content":"done"},{"role":"tool","tool_call_id":"c2","content":"failed"},
      {"role":"assistant","content":"There."},{"role":"user","content":"thanks"}]})"));
  configure(server, ", tools: false");
  chat();
  EXPECT_FALSE(json::parse(server.asked().at(1).body).contains("tools"));
}

TEST_F(OpenAiLlm, NeedsNoDoneAndNoBlankLine) {
  HttpServer server(io, [](HttpExchange& exchange) -> Task<> {
    const auto body = event("Hel") + event("lo.");
    co_await exchange.respond(200, "text/plain", body.substr(0, body.size() - 2));
  });
  configure(server);
  const auto heard = chat();
  EXPECT_FALSE(heard.error);
  EXPECT_EQ(text_of(heard), "Hello.");
}

TEST_F(OpenAiLlm, AStreamThatBreaksOffIsNoAnswer) {
  std::string body;
  int asked = 0;
  HttpServer server(io, [&](HttpExchange& exchange) -> Task<> {
    // Without a length, the end of the connection is the end of the body, be it complete or not.
    const auto now =
        ++asked == 1 ? body : event("second") + R"(data: {"choices":[{"finish_reason":"stop"}]})";
    co_await exchange.write(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + now);
    exchange.close();
  });
  configure(server);
  body = event("The la");
  auto heard = chat();
  EXPECT_EQ(text_of(heard), "The la");
  ASSERT_TRUE(heard.error);
  EXPECT_EQ(heard.error->code, Errc::closed);
  asked = 0;
  body =
      R"(data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"open_door"}}]}}]})";
  heard = chat();
  EXPECT_FALSE(heard.error);
  EXPECT_EQ(text_of(heard), "second") << "a call of which the arguments never came is not made";
  EXPECT_EQ(heard.events.size(), 1U);
  EXPECT_EQ(asked, 2);
}

TEST_F(OpenAiLlm, TriesAgainOnlyBeforeTheFirstEvent) {
  std::string first;
  int status = 200;
  std::string extra;
  int asked = 0;
  HttpServer server(io, [&](HttpExchange& exchange) -> Task<> {
    if (++asked == 1) {
      co_await exchange.respond(status, "text/event-stream", first, extra);
      exchange.close();
    } else {
      co_await exchange.respond(200, "text/event-stream", event("second"));
    }
  });
  configure(server);
  const auto attempt = [&](int with, std::string body, std::string headers = {}) {
    asked = 0;
    status = with;
    first = std::move(body);
    extra = std::move(headers);
    return chat();
  };
  EXPECT_EQ(text_of(attempt(500, "oops")), "second");
  EXPECT_EQ(text_of(attempt(429, "{}", "Retry-After: 0\r\n")), "second");
  EXPECT_EQ(text_of(attempt(200, "")), "second");
  EXPECT_EQ(text_of(attempt(200, "data: nonsense\n\n")), "second");
  EXPECT_EQ(text_of(attempt(200, "data: {\"error\":{\"message\":\"busy\"}}\n\n")), "second");
  EXPECT_EQ(text_of(attempt(200, "{\"choices\":[{\"mess")), "second");

  auto heard = attempt(200, event("first") + "data: nonsense\n\n");
  EXPECT_EQ(text_of(heard), "first");
  EXPECT_TRUE(heard.error);
  EXPECT_EQ(asked, 1);
  heard = attempt(429, R"({"error":{"message":"Quota of sk-secret exceeded\nnow"}})", "Retry-After: 60\r\n");
  ASSERT_TRUE(heard.error);
  EXPECT_EQ(heard.error->code, Errc::overloaded);
  EXPECT_EQ(heard.error->retry_after, 60s);
  EXPECT_EQ(asked, 1) << "nobody waits a minute for an answer";
  EXPECT_EQ(heard.error->message, server.url() + " answers 429: Quota of … exceeded now");
  heard = attempt(401, R"({"error":{"message":"no"}})");
  EXPECT_EQ(heard.error->code, Errc::unauthorized);
  EXPECT_EQ(asked, 1);
}

TEST_F(OpenAiLlm, GivesUpAfterItsRetries) {
  HttpServer server(io, [](HttpExchange& exchange) { return exchange.respond(503, "text/plain", "<html>"); });
  configure(server, ", retries: 2");
  const auto heard = chat();
  ASSERT_TRUE(heard.error);
  EXPECT_EQ(heard.error->code, Errc::overloaded);
  EXPECT_EQ(server.asked().size(), 3U);
  configure(server, ", retries: 0");
  chat();
  EXPECT_EQ(server.asked().size(), 4U);
}

TEST_F(OpenAiLlm, TellsWhatHappensInTheMiddle) {
  HttpServer server(io, [](HttpExchange& exchange) -> Task<> {
    co_await exchange.begin("text/event-stream");
    co_await exchange.chunk(event("Hel"));
    if (exchange.asked.body.find("close") != std::string::npos) {
      exchange.close();
    } else {
      co_await exchange.until_closed();
    }
  });
  configure(server, ", idle_timeout: 50ms");
  for (const auto code : {Errc::timeout, Errc::closed}) {
    request.messages.back().text = code == Errc::closed ? "close" : "stall";
    const auto heard = chat();
    EXPECT_EQ(text_of(heard), "Hel");
    ASSERT_TRUE(heard.error);
    EXPECT_EQ(heard.error->code, code) << heard.error->message;
  }
}

TEST_F(OpenAiLlm, BoundsAnAnswer) {
  HttpServer server(io, [](HttpExchange& exchange) {
    return exchange.respond(200, "text/event-stream",
                            "data: " + std::string(std::size_t{10} * 1024 * 1024, 'x'));
  });
  configure(server, ", retries: 0");
  const auto heard = chat();
  ASSERT_TRUE(heard.error);
  EXPECT_EQ(heard.error->code, Errc::limit);
}

TEST_F(OpenAiLlm, ClosesTheRequestWhenItIsCancelled) {
  HttpServer server(io, [](HttpExchange& exchange) { return exchange.until_closed(); });
  configure(server);
  asio::cancellation_signal stop;
  bool ended = false;
  const auto work = [&]() -> Task<> { co_await llm->chat(request); };
  asio::co_spawn(io, work(),
                 asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr) { ended = true; }));
  ASSERT_TRUE(run_until(io, [&] { return server.asked().size() == 1; }));
  stop.emit(asio::cancellation_type::terminal);
  EXPECT_TRUE(run_until(io, [&] { return ended && server.closed() == 1; }));
}

TEST_F(OpenAiLlm, ConnectsAhead) {
  HttpServer server(io, [](HttpExchange& exchange) -> Task<> {
    if (exchange.asked.method == "HEAD") {
      co_await exchange.write("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
    } else {
      co_await exchange.respond(200, "text/event-stream", event("x"));
    }
  });
  configure(server);
  llm->connect_ahead(io.get_executor());
  ASSERT_TRUE(run_until(io, [&] { return server.asked().size() == 1; }));
  EXPECT_EQ(server.asked()[0].headers.count("authorization"), 0U);
  test::run_until_quiet(io);
  EXPECT_EQ(text_of(chat()), "x");
  EXPECT_EQ(server.connections(), 1);
}

TEST(OpenAiLlmConfig, RefusesWhatIsWrong) {
  const auto complaint = [](const std::string& text) -> std::string {
    try {
      const auto node = config::Node::parse(text, "p.yaml");
      openai_llm_from_config(node, {});
      node.finish();
      return {};
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().message.find("sk-secret"), std::string::npos);
      return failure.error().message;
    }
  };
  EXPECT_EQ(complaint("model: m"), "");
  for (const auto& [text, about] : std::vector<std::pair<std::string, std::string>>{
           {"{api_key: x}", "model"},
           {"{model: m, base_url: nonsense}", "base_url"},
           {"{model: m, base_url: \"ftp://x\"}", "base_url"},
           {"{model: m, base_url: \"http://user:sk-secret@x\"}", "base_url"},
           {"{model: m, base_url: \"http://x/v1?key=sk-secret\"}", "base_url"},
           {"{model: m, api_key: \"sk-secret\\nX: y\"}", "api_key"},
           {"{model: m, headers: {\"A B\": x}}", "headers"},
           {"{model: m, headers: {A: [x]}}", "headers"},
           {"{model: m, temperature: 3}", "temperature"},
           {"{model: m, max_tokens: 0}", "max_tokens"},
           {"{model: m, extra_body: [1]}", "extra_body"},
           {"{model: m, retries: -1}", "retries"},
           {"{model: m, connect_timeout: 5}", "connect_timeout"},
           {"{model: m, temprature: 1}", "temperature"}}) {
    EXPECT_NE(complaint(text).find(about), std::string::npos) << text << ": " << complaint(text);
  }
}

}  // namespace
}  // namespace parley::providers
