#pragma once

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "parley/config/mcp_servers.hpp"
#include "parley/core/async_event.hpp"
#include "parley/core/metrics.hpp"
#include "parley/mcp/http_link.hpp"
#include "parley/mcp/remote_settings.hpp"
#include "parley/mcp/token_store.hpp"
#include "parley/mcp/tool_server.hpp"

namespace parley::mcp {

/// One configured MCP server, shared by all sessions: connected in the background, connected again when it is
/// lost, its tools listed anew when they change. While it is not there it has no tools, and nobody waits for
/// it.
class RemoteServer : public std::enable_shared_from_this<RemoteServer> {
 public:
  /// Lives on `home`, the executor of one thread, which has to outlive it. `metrics` may be null.
  RemoteServer(asio::any_io_executor home, std::shared_ptr<Scheduler> scheduler, std::string key,
               const config::McpServer& settings, std::shared_ptr<Authorization> authorization,
               std::shared_ptr<Metrics> metrics);
  RemoteServer(const RemoteServer&) = delete;
  RemoteServer& operator=(const RemoteServer&) = delete;
  RemoteServer(RemoteServer&&) = delete;
  RemoteServer& operator=(RemoteServer&&) = delete;
  ~RemoteServer();

  /// Any thread: begins to connect.
  void start();
  /// Any thread: says goodbye and ends; `done` is called at home.
  void stop(std::function<void()> done);

  const std::string& key() const { return key_; }
  /// Any thread.
  bool serves(const std::string& device_id) const;
  /// Any thread: what it offers now; never null.
  std::shared_ptr<const ToolList> tools() const;
  /// Any thread: the server as one session sees it. The session's calls end on `executor`; `owner` is kept
  /// for as long as they live.
  std::shared_ptr<ToolServer> for_session(asio::any_io_executor executor, std::shared_ptr<const void> owner);

 private:
  struct Running;
  class SessionView;
  class Call;
  using Signal = std::shared_ptr<asio::cancellation_signal>;

  static Task<> supervise(std::shared_ptr<RemoteServer> self);
  static Task<> keep_listening(std::shared_ptr<RemoteServer> self, Signal signal);
  static Task<> goodbye(std::shared_ptr<RemoteServer> self, std::function<void()> done);
  void begin_call(std::shared_ptr<Running> running);
  /// Until it is lost; whether it was ever of use.
  Task<bool> stay_connected(ServerInfo info, TimePoint began);
  void complain(const Error& why);
  Task<Result<Millis>> refresh();
  Task<> wait_for_news(TimePoint until);
  void publish(ToolList tools);
  void news(bool& flag);
  static Task<> run_call(std::shared_ptr<RemoteServer> self, std::shared_ptr<Running> running);

  asio::any_io_executor home_;
  std::shared_ptr<Scheduler> scheduler_;
  std::string key_;
  config::McpServer settings_;
  std::shared_ptr<Metrics> metrics_;
  HttpLink link_;
  AsyncEvent news_;
  asio::cancellation_signal stop_;
  bool supervised_ = false;
  bool stale_ = false;    ///< the list of tools has changed
  bool suspect_ = false;  ///< something went wrong: is it still there?
  bool complained_ = false;
  mutable std::mutex mutex_;
  std::shared_ptr<const ToolList> tools_ = std::make_shared<const ToolList>();
};

/// All configured servers, on a thread of their own: their megabytes of JSON hold up nobody's audio.
class RemoteServers : public std::enable_shared_from_this<RemoteServers> {
 public:
  /// Tokens are kept in `store`. Throws Failure(configuration) as authorization_for() does.
  RemoteServers(const config::McpServers& servers, std::shared_ptr<TokenStore> store,
                std::shared_ptr<Metrics> metrics);
  RemoteServers(const RemoteServers&) = delete;
  RemoteServers& operator=(const RemoteServers&) = delete;
  RemoteServers(RemoteServers&&) = delete;
  RemoteServers& operator=(RemoteServers&&) = delete;
  ~RemoteServers();

  /// Says goodbye to all of them, for a second at most; their calls end. Before the I/O threads go whose
  /// sessions use them. Not from one of those.
  void stop();

  /// The servers that a device may use, as its session sees them. They keep all this alive.
  std::vector<std::shared_ptr<ToolServer>> for_session(const std::string& device_id,
                                                       const asio::any_io_executor& executor) const;

 private:
  asio::io_context io_{1};
  std::shared_ptr<TokenStore> store_;
  std::vector<std::shared_ptr<RemoteServer>> servers_;
  std::thread thread_;
};

}  // namespace parley::mcp
