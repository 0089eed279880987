#include "parley/mcp/remote_server.hpp"

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <random>
#include <utility>

#include "parley/core/deadline.hpp"
#include "parley/core/log.hpp"
#include "parley/core/mailbox.hpp"

namespace parley::mcp {
namespace {

using namespace std::chrono_literals;

constexpr Millis kFirstWait = 1s;
constexpr Millis kLongestWait = 60s;
/// How long a list of tools is kept where the server says nothing, and whatever it says.
constexpr Millis kUsualAge = 10min;
constexpr Millis kLeastAge = 10s;
constexpr Millis kGreatestAge = 1h;
/// Lists are asked for no more often, however often the server says that they changed.
constexpr Millis kLeastPause = 1s;
constexpr Millis kGoodbye = 1s;

/// Between half of the wait and one and a half of it, so that servers are not besieged in step.
Millis jittered(Millis wait) {
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::chrono::duration_cast<Millis>(wait * std::uniform_real_distribution<double>(0.5, 1.5)(random));
}

}  // namespace

/// One call, from the session that asks to the thread that carries it out.
struct RemoteServer::Running {
  std::string tool;
  nlohmann::json arguments;
  Millis timeout{0};
  std::shared_ptr<Mailbox<engine::ToolResult>> result;
  asio::cancellation_signal abandoned;  ///< at home
};

class RemoteServer::Call final : public CallStream {
 public:
  Call(std::shared_ptr<RemoteServer> server, std::shared_ptr<const void> owner,
       std::shared_ptr<Running> running)
      : owner_(std::move(owner)), server_(std::move(server)), running_(std::move(running)) {
    asio::post(server_->home_, [server = server_, running = running_] { server->begin_call(running); });
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  Call(Call&&) = delete;
  Call& operator=(Call&&) = delete;
  ~Call() override {
    asio::post(server_->home_,
               [running = running_] { running->abandoned.emit(asio::cancellation_type::terminal); });
  }

  Task<Result<std::optional<engine::ToolResult>>> next() override { return running_->result->next(); }

 private:
  std::shared_ptr<const void> owner_;
  std::shared_ptr<RemoteServer> server_;
  std::shared_ptr<Running> running_;
};

class RemoteServer::SessionView final : public ToolServer {
 public:
  SessionView(std::shared_ptr<RemoteServer> server, asio::any_io_executor executor,
              std::shared_ptr<const void> owner)
      : owner_(std::move(owner)), server_(std::move(server)), executor_(std::move(executor)) {}

  const std::string& key() const override { return server_->key(); }
  std::shared_ptr<const ToolList> tools() const override { return server_->tools(); }
  std::unique_ptr<CallStream> call(const std::string& tool, const nlohmann::json& arguments,
                                   Millis timeout) override {
    auto running = std::make_shared<Running>();
    running->tool = tool;
    running->arguments = arguments;
    running->timeout = timeout;
    running->result = Mailbox<engine::ToolResult>::make(executor_);
    return std::make_unique<Call>(server_, owner_, std::move(running));
  }

 private:
  std::shared_ptr<const void> owner_;
  std::shared_ptr<RemoteServer> server_;
  asio::any_io_executor executor_;
};

RemoteServer::RemoteServer(asio::any_io_executor home, std::shared_ptr<Scheduler> scheduler, std::string key,
                           const config::McpServer& settings, std::shared_ptr<Authorization> authorization,
                           std::shared_ptr<Metrics> metrics)
    : home_(std::move(home)),
      scheduler_(std::move(scheduler)),
      key_(std::move(key)),
      settings_(settings),
      metrics_(std::move(metrics)),
      link_(home_, scheduler_, link_settings(settings), std::move(authorization)),
      news_(home_) {
}

RemoteServer::~RemoteServer() = default;

void RemoteServer::start() {
  asio::post(home_, [self = shared_from_this()] {
    self->supervised_ = true;
    asio::co_spawn(self->home_, supervise(self),
                   asio::bind_cancellation_slot(self->stop_.slot(), [self](const std::exception_ptr&) {
                     self->supervised_ = false;
                     self->news_.notify();
                   }));
  });
}

void RemoteServer::stop(std::function<void()> done) {
  asio::post(home_, [self = shared_from_this(), done = std::move(done)]() mutable {
    self->stop_.emit(asio::cancellation_type::terminal);
    self->publish({});
    asio::co_spawn(self->home_, goodbye(self, std::move(done)), asio::detached);
  });
}

Task<> RemoteServer::goodbye(std::shared_ptr<RemoteServer> self, std::function<void()> done) {
  // What it has just connected is to be closed too.
  while (self->supervised_) co_await self->news_.wait();
  co_await self->link_.close();
  if (done) done();
}

bool RemoteServer::serves(const std::string& device_id) const {
  return matches(settings_.devices, device_id);
}

std::shared_ptr<const ToolList> RemoteServer::tools() const {
  const std::scoped_lock lock(mutex_);
  return tools_;
}

std::shared_ptr<ToolServer> RemoteServer::for_session(asio::any_io_executor executor,
                                                      std::shared_ptr<const void> owner) {
  return std::make_shared<SessionView>(shared_from_this(), std::move(executor), std::move(owner));
}

void RemoteServer::publish(ToolList tools) {
  // Only this thread writes. An equal list stays the same object: sessions keep what they made of it.
  if (*tools_ == tools) return;
  auto fresh = std::make_shared<const ToolList>(std::move(tools));
  const std::scoped_lock lock(mutex_);
  tools_.swap(fresh);
}

void RemoteServer::news(bool& flag) {
  flag = true;
  news_.notify();
}

Task<> RemoteServer::supervise(std::shared_ptr<RemoteServer> self) {
  auto wait = kFirstWait;
  while (true) {
    const auto began = self->scheduler_->now();
    const auto info = co_await self->link_.connect();
    if (!info) {
      self->complain(info.error());
    } else if (co_await self->stay_connected(*info, began)) {
      wait = kFirstWait;
    }
    self->publish({});
    co_await sleep_until(*self->scheduler_, self->scheduler_->now() + jittered(wait));
    wait = std::min(wait * 2, kLongestWait);
  }
}

void RemoteServer::complain(const Error& why) {
  if (std::exchange(complained_, true)) return;
  log::warn("an MCP server is not usable; it is tried again", {{"server", key_}, {"why", why.message}});
}

Task<bool> RemoteServer::stay_connected(ServerInfo info, TimePoint began) {
  /// Ends the listening with this scope, also when that is cancelled.
  struct Listening {
    Signal signal = std::make_shared<asio::cancellation_signal>();
    Listening() = default;
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
    Listening(Listening&&) = delete;
    Listening& operator=(Listening&&) = delete;
    ~Listening() { signal->emit(asio::cancellation_type::terminal); }
  };
  const Listening listening;
  asio::co_spawn(home_, keep_listening(shared_from_this(), listening.signal),
                 asio::bind_cancellation_slot(listening.signal->slot(), asio::detached));
  for (bool usable = false;; usable = true) {
    stale_ = false;
    suspect_ = false;
    const auto age = co_await refresh();
    if (!age) {
      if (usable) {
        log::warn("an MCP server is lost", {{"server", key_}, {"why", age.error().message}});
      } else {
        complain(age.error());
      }
      co_return usable;
    }
    if (!usable) {
      complained_ = false;
      log::info("an MCP server is connected", {{"server", key_},
                                               {"era", to_string(info.era)},
                                               {"version", info.protocol_version},
                                               {"ms", to_ms(scheduler_->now() - began)}});
    }
    const auto now = scheduler_->now();
    co_await sleep_until(*scheduler_, now + kLeastPause);
    co_await wait_for_news(now + *age);
  }
}

Task<> RemoteServer::keep_listening(std::shared_ptr<RemoteServer> self,
                                    Signal /*kept while it may be used*/) {
  auto wait = kFirstWait;
  while (true) {
    const auto began = self->scheduler_->now();
    const auto end = co_await self->link_.listen([weak = self->weak_from_this()] {
      if (const auto alive = weak.lock()) alive->news(alive->stale_);
    });
    if (end) co_return;  // It has nothing to say.
    self->news(self->suspect_);
    const auto now = self->scheduler_->now();
    if (now - began >= kLongestWait) wait = kFirstWait;
    co_await sleep_until(*self->scheduler_, now + jittered(wait));
    wait = std::min(wait * 2, kLongestWait);
    // What was said meanwhile was not heard.
    self->news(self->stale_);
  }
}

Task<Result<Millis>> RemoteServer::refresh() {
  auto page = co_await link_.list_tools();
  if (!page) co_return page.error();
  const auto all = page->tools.size();
  auto tools = admitted(std::move(page->tools), settings_);
  log::debug("an MCP server's tools were listed",
             {{"server", key_}, {"tools", all}, {"admitted", tools.size()}});
  publish(std::move(tools));
  co_return page->ttl.count() == 0 ? kUsualAge : std::clamp(page->ttl, kLeastAge, kGreatestAge);
}

Task<> RemoteServer::wait_for_news(TimePoint until) {
  using asio::experimental::awaitable_operators::operator||;
  while (!stale_ && !suspect_ && scheduler_->now() < until)
    co_await (news_.wait() || sleep_until(*scheduler_, until));
}

void RemoteServer::begin_call(std::shared_ptr<Running> running) {
  auto slot = running->abandoned.slot();
  asio::co_spawn(home_, run_call(shared_from_this(), std::move(running)),
                 asio::bind_cancellation_slot(slot, asio::detached));
}

Task<> RemoteServer::run_call(std::shared_ptr<RemoteServer> self, std::shared_ptr<Running> running) {
  RequestOptions options;
  options.timeout = std::min(self->settings_.timeout, running->timeout);
  options.max_timeout = running->timeout;
  const auto known = self->tools();
  const auto tool = std::ranges::find(*known, running->tool, &Tool::name);
  options.idempotent = tool != known->end() && tool->idempotent;
  // Also where it takes several requests.
  const auto result = co_await with_deadline(
      *self->scheduler_, self->scheduler_->now() + running->timeout,
      "the MCP server did not answer within " + std::to_string(running->timeout.count()) + " ms",
      self->link_.call_tool(running->tool, running->arguments, std::move(options)));
  if (result) {
    running->result->send(read_call_result(*result));
  } else {
    const auto& error = result.error();
    running->result->send({error.message, true});
    if (self->metrics_) self->metrics_->engine_error("tool", self->key_, to_string(error.code));
    // Whether only this call failed, or the server is gone, another request tells.
    if (error.code != Errc::invalid_input && error.code != Errc::limit) self->news(self->suspect_);
  }
  running->result->close();
}

RemoteServers::RemoteServers(const config::McpServers& servers, std::shared_ptr<TokenStore> store,
                             std::shared_ptr<Metrics> metrics)
    : store_(std::move(store)) {
  const auto home = io_.get_executor();
  const auto scheduler = make_asio_scheduler(home);
  for (const auto& [key, settings] : servers) {
    servers_.push_back(std::make_shared<RemoteServer>(
        home, scheduler, key, settings, authorization_for(home, scheduler, key, settings, store_), metrics));
    servers_.back()->start();
  }
  if (servers_.empty()) return;
  thread_ = std::thread([this] {
    const auto work = asio::make_work_guard(io_);
    while (!io_.stopped()) {
      try {
        io_.run();
      } catch (const std::exception& escaped) {
        log::error("work for MCP servers ended by a defect", {{"what", escaped.what()}});
      }
    }
  });
}

RemoteServers::~RemoteServers() {
  stop();
}

void RemoteServers::stop() {
  if (!thread_.joinable()) return;
  auto left = std::make_shared<std::size_t>(servers_.size());  // counted at home
  for (const auto& server : servers_) {
    server->stop([this, left] {
      if (--*left == 0) io_.stop();
    });
  }
  asio::post(io_, [this] {
    auto timer = std::make_shared<asio::steady_timer>(io_, kGoodbye);
    timer->async_wait([this, timer](const boost::system::error_code&) { io_.stop(); });
  });
  thread_.join();
  if (store_) store_->stop();
}

std::vector<std::shared_ptr<ToolServer>> RemoteServers::for_session(
    const std::string& device_id, const asio::any_io_executor& executor) const {
  std::vector<std::shared_ptr<ToolServer>> out;
  for (const auto& server : servers_) {
    if (server->serves(device_id)) out.push_back(server->for_session(executor, shared_from_this()));
  }
  return out;
}

}  // namespace parley::mcp
