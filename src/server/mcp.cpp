#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <cmath>
#include <csignal>
#include <future>
#include <iostream>
#include <nlohmann/json.hpp>

#include "parley/core/log.hpp"
#include "parley/core/text.hpp"
#include "parley/mcp/remote_server.hpp"
#include "parley/server/app.hpp"
#include "parley/server/mcp_login.hpp"

namespace parley::server {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxShown = 76;

config::Settings settings_of(const McpOptions& options) {
  log::configure(log::Level::warn, false, false);
  std::signal(SIGPIPE, SIG_IGN);
  auto settings = config::load(options.config);
  if (settings.mcp_servers.empty()) {
    throw Failure(Error(Errc::configuration, options.config.string() + " configures no mcp_servers"));
  }
  return settings;
}

const config::McpServer& named(const config::Settings& settings, const std::string& key) {
  const auto server = settings.mcp_servers.find(key);
  if (server != settings.mcp_servers.end()) return server->second;
  std::vector<std::string> keys;
  for (const auto& [known, entry] : settings.mcp_servers) keys.push_back(known);
  const auto near = config::nearest(key, keys);
  throw Failure(Error(Errc::configuration, "there is no MCP server \"" + key + "\"" +
                                               (near.empty() ? "" : " (did you mean " + near + "?)")));
}

/// The first line of a description, as far as it fits.
std::string summary(const std::string& text) {
  auto line = printable(text.substr(0, text.find_first_of("\r\n")));
  if (line.size() > kMaxShown) line = std::string(head(line, kMaxShown)) + "…";
  return line;
}

struct Seen {
  mcp::ServerInfo info;
  mcp::ToolList tools;
  std::size_t listed = 0;
  Duration connected{};
  Duration answered{};
};

/// One server of the configuration, and where its tokens are.
struct Place {
  std::string key;
  config::McpServer server;
  std::shared_ptr<mcp::TokenStore> tokens;
};

std::unique_ptr<mcp::HttpLink> link_to(const Place& place, const asio::any_io_executor& executor) {
  const auto clock = make_asio_scheduler(executor);
  return std::make_unique<mcp::HttpLink>(
      executor, clock, mcp::link_settings(place.server),
      mcp::authorization_for(executor, clock, place.key, place.server, place.tokens));
}

Task<Result<Seen>> look_at(Place place) {
  const auto executor = co_await asio::this_coro::executor;
  const auto clock = make_asio_scheduler(executor);
  const auto made = link_to(place, executor);
  auto& link = *made;
  Seen seen;
  const auto began = clock->now();
  auto info = co_await link.connect();
  if (!info) co_return info.error();
  seen.info = std::move(*info);
  seen.connected = clock->now() - began;
  auto page = co_await link.list_tools();
  if (!page) co_return page.error();
  seen.answered = clock->now() - began - seen.connected;
  seen.listed = page->tools.size();
  seen.tools = mcp::admitted(std::move(page->tools), place.server);
  co_await link.close();
  co_return seen;
}

Task<Result<json>> call_once(Place place, std::string tool, json arguments) {
  const auto made = link_to(place, co_await asio::this_coro::executor);
  auto& link = *made;
  if (const auto info = co_await link.connect(); !info) co_return info.error();
  // The schema says which arguments go into headers too.
  const auto page = co_await link.list_tools();
  if (!page) co_return page.error();
  mcp::RequestOptions options;
  const auto known = std::ranges::find(page->tools, tool, &mcp::Tool::name);
  options.idempotent = known != page->tools.end() && known->idempotent;
  options.on_progress = [](double progress, const std::string& message) {
    std::cerr << "  … " << progress << (message.empty() ? "" : " " + printable(message)) << "\n";
  };
  auto result = co_await link.call_tool(std::move(tool), std::move(arguments), std::move(options));
  co_await link.close();
  co_return result;
}

template <class T>
T run(Task<T> task) {
  asio::io_context io;
  auto result = asio::co_spawn(io, std::move(task), asio::use_future);
  // Without waiting for what still goes on in the background, such as an answer that nobody wants.
  while (result.wait_for(std::chrono::seconds(0)) != std::future_status::ready && io.run_one() > 0) {
  }
  return result.get();
}

void print(const std::string& key, const Seen& seen) {
  std::cout << key << ": " << to_string(seen.info.era) << " (" << printable(seen.info.protocol_version)
            << ")";
  if (!seen.info.name.empty())
    std::cout << ", " << printable(seen.info.name) << " " << printable(seen.info.version);
  std::cout << ", connected in " << std::llround(to_ms(seen.connected)) << " ms, lists its tools in "
            << std::llround(to_ms(seen.answered)) << " ms\n";
  for (const auto& tool : seen.tools) {
    std::cout << "  " << mcp::model_name(key, tool.name) << (tool.confirm ? " (asks first)" : "") << "  "
              << summary(tool.description) << "\n";
  }
  if (seen.tools.size() < seen.listed)
    std::cout << "  and " << seen.listed - seen.tools.size() << " that the configuration keeps out\n";
}

/// Runs the command; 2 with one sentence where it cannot.
template <class Command>
int guarded(Command command) {
  try {
    return command();
  } catch (const std::exception& failure) {
    std::cerr << "parley: " << failure.what() << "\n";
    return 2;
  }
}

}  // namespace

std::shared_ptr<mcp::TokenStore> open_tokens(const config::Settings& settings) {
  return std::make_shared<mcp::TokenStore>(settings.mcp_credentials.empty() ? mcp::default_token_file()
                                                                            : settings.mcp_credentials);
}

int mcp_login(const McpOptions& options) {
  return guarded([&] {
    const auto settings = settings_of(options);
    const auto& server = named(settings, options.server);
    if (!server.oauth) {
      throw Failure(Error(Errc::configuration,
                          "the MCP server " + options.server +
                              " is not configured for OAuth; `oauth: {}` in its block is enough for most"));
    }
    McpLogin login;
    login.url = server.url;
    login.oauth = mcp::oauth_settings(options.server, server);
    login.credentials =
        settings.mcp_credentials.empty() ? mcp::default_token_file() : settings.mcp_credentials;
    return mcp_login(login);
  });
}

int mcp_list(const McpOptions& options) {
  return guarded([&] {
    const auto settings = settings_of(options);
    const auto tokens = open_tokens(settings);
    int code = 0;
    for (const auto& [key, server] : settings.mcp_servers) {
      const auto seen = run(look_at({key, server, tokens}));
      if (seen) {
        print(key, *seen);
      } else {
        std::cout << key << ": NOT USABLE: " << seen.error().message << "\n";
        code = 1;
      }
    }
    return code;
  });
}

int mcp_call(const McpOptions& options) {
  return guarded([&] {
    const auto settings = settings_of(options);
    const auto& server = named(settings, options.server);
    auto arguments =
        options.arguments.empty() ? json::object() : json::parse(options.arguments, nullptr, false);
    if (!arguments.is_object())
      throw Failure(Error(Errc::invalid_input, "the arguments are no JSON object: " + options.arguments));
    const auto result =
        run(call_once({options.server, server, open_tokens(settings)}, options.tool, std::move(arguments)));
    if (!result) {
      std::cerr << "parley: " << result.error().message << "\n";
      return 1;
    }
    std::cout << result->dump(2, ' ', false, json::error_handler_t::replace) << "\n";
    return mcp::read_call_result(*result).failed ? 1 : 0;
  });
}

}  // namespace parley::server
