// The client that the official MCP conformance suite drives: Parley's own link to MCP servers, told what to
// do by the scenario. Called with the server's address; the suite says the rest in the environment.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <iostream>
#include <map>

#include "oauth.hpp"
#include "parley/core/log.hpp"
#include "parley/mcp/http_link.hpp"

namespace {

using namespace parley;
using nlohmann::json;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void expect(bool good, const std::string& what) {
  if (!good) throw std::runtime_error(what);
}

template <class T>
T expect(Result<T> result, const std::string& what) {
  if (!result) throw std::runtime_error(what + ": " + result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// What a scenario does once the tools are known.
using Play = Task<> (*)(mcp::HttpLink& link, const std::vector<mcp::Tool>& tools, const json& context);

Task<json> call(mcp::HttpLink& link, std::string tool, json arguments = json::object()) {
  auto result = co_await link.call_tool(tool, std::move(arguments), {});
  co_return expect(std::move(result), tool);
}

Task<> nothing_more(mcp::HttpLink& /*link*/, const std::vector<mcp::Tool>& /*tools*/,
                    const json& /*context*/) {
  co_return;
}

Task<> add_numbers(mcp::HttpLink& link, const std::vector<mcp::Tool>& /*tools*/, const json& /*context*/) {
  co_await call(link, "add_numbers", {{"a", 5}, {"b", 3}});
}

Task<> call_each(mcp::HttpLink& link, const std::vector<mcp::Tool>& tools, const json& /*context*/) {
  for (const auto& tool : tools) co_await call(link, tool.name);
}

Task<> call_each_with_region(mcp::HttpLink& link, const std::vector<mcp::Tool>& tools,
                             const json& /*context*/) {
  for (const auto& tool : tools) co_await call(link, tool.name, {{"region", "us-west1"}});
}

Task<> call_as_told(mcp::HttpLink& link, const std::vector<mcp::Tool>& /*tools*/, const json& context) {
  for (const auto& one : context.at("toolCalls"))
    co_await call(link, one.at("name").get<std::string>(), one.at("arguments"));
}

Task<> echo_schema(mcp::HttpLink& link, const std::vector<mcp::Tool>& tools, const json& /*context*/) {
  for (const auto& tool : tools) {
    if (tool.name == "json_schema_2020_12_tool")
      co_await call(link, "json_schema_echo", {{"schema", tool.input_schema}});
  }
}

Task<json> ask(mcp::HttpLink& link, std::string method, json params = json::object(), std::string name = {}) {
  auto reply = co_await link.request(method, std::move(params), std::move(name), {});
  auto answer = expect(std::move(reply), method);
  expect(!answer.error, method + " was refused");
  co_return std::move(answer.result);
}

Task<> use_everything(mcp::HttpLink& link, const std::vector<mcp::Tool>& tools, const json& context) {
  co_await call_each(link, tools, context);
  const auto resources = co_await ask(link, "resources/list");
  for (const auto& resource : resources.at("resources")) {
    const auto uri = resource.at("uri").get<std::string>();
    co_await ask(link, "resources/read", {{"uri", uri}}, uri);
  }
  const auto prompts = co_await ask(link, "prompts/list");
  for (const auto& prompt : prompts.at("prompts")) {
    const auto name = prompt.at("name").get<std::string>();
    co_await ask(link, "prompts/get", {{"name", name}}, name);
  }
}

const std::map<std::string, Play>& plays() {
  static const std::map<std::string, Play> table = {
      {"initialize", nothing_more},
      {"tools_call", add_numbers},
      {"elicitation-sep1034-client-defaults", call_each},
      {"sse-retry", call_each},
      {"json-schema-2020-12-preservation", echo_schema},
      {"json-schema-ref-no-deref", nothing_more},
      {"request-metadata", nothing_more},
      {"http-standard-headers", use_everything},
      {"http-custom-headers", call_as_told},
      {"http-invalid-tool-headers", call_each_with_region},
      {"sep-2322-client-request-state", call_each},
  };
  return table;
}

Task<> listen(mcp::HttpLink& link) {
  co_await link.listen([] {});
}

Task<> run(std::string url) {
  const auto scenario = environment("MCP_CONFORMANCE_SCENARIO");
  const auto version = environment("MCP_CONFORMANCE_PROTOCOL_VERSION");
  const auto told = environment("MCP_CONFORMANCE_CONTEXT");
  const auto context = told.empty() ? json::object() : json::parse(told);
  const bool authorized = scenario.starts_with("auth/");
  const auto known = plays().find(scenario);
  expect(authorized || known != plays().end(), "no such scenario: " + scenario);
  const auto play = authorized ? call_each : known->second;
  const auto executor = co_await asio::this_coro::executor;
  mcp::HttpLinkSettings settings;
  settings.url = std::move(url);
  settings.allow_private_network = true;
  settings.era = version.empty()           ? mcp::Era::automatic
                 : version == "2026-07-28" ? mcp::Era::modern
                                           : mcp::Era::legacy;
  std::shared_ptr<mcp::Authorization> authorization;
  if (authorized) authorization = conformance::make_authorization(executor, settings.url, scenario, context);
  mcp::HttpLink link(executor, make_asio_scheduler(executor), settings, authorization);
  expect(co_await link.connect(), "connect");
  // As the server does it: what does not belong to a request comes on a stream of its own.
  asio::cancellation_signal enough;
  asio::co_spawn(executor, listen(link), asio::bind_cancellation_slot(enough.slot(), asio::detached));
  const auto page = expect(co_await link.list_tools(), "tools/list");
  co_await play(link, page.tools, context);
  enough.emit(asio::cancellation_type::terminal);
  co_await link.close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: mcp_conformance_client URL\n";
    return 2;
  }
  log::configure(log::Level::warn, false, false);
  asio::io_context io;
  const bool refused = conformance::must_be_refused(environment("MCP_CONFORMANCE_SCENARIO"));
  int code = refused ? 0 : 1;
  asio::co_spawn(io, run(argv[argc - 1]), [&](const std::exception_ptr& thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
      code = refused ? 1 : 0;
    } catch (const std::exception& failure) {
      std::cerr << "mcp_conformance_client: " << failure.what() << "\n";
    }
  });
  io.run();
  return code;
}
