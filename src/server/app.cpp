#include "parley/server/app.hpp"

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <thread>
#include <vector>

#include "parley/config/settings.hpp"
#include "parley/core/log.hpp"
#include "parley/server/front.hpp"

namespace parley::server {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

/// After the grace, the time that sockets get to say goodbye.
constexpr Millis kLastWords{500};
constexpr Millis kCloseCheck{20};
constexpr Millis kAcceptRetry{100};

std::size_t threads_or_cores(std::size_t configured) {
  return configured != 0 ? configured : std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

/// One I/O thread with its own single-threaded context.
struct IoThread {
  IoThread() = default;
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;
  IoThread(IoThread&&) = delete;
  IoThread& operator=(IoThread&&) = delete;
  ~IoThread() {
    context.stop();
    if (thread.joinable()) thread.join();
  }
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::thread thread;
};

/// What escapes from a handler is a defect of one session; the others on this thread go on.
void run_for_ever(asio::io_context& context) {
  while (true) {
    try {
      context.run();
      return;
    } catch (const std::exception& escaped) {
      log::error("an I/O handler failed by a defect", {{"what", escaped.what()}});
    }
  }
}

class App {
 public:
  explicit App(ServeOptions options) : options_(std::move(options)) {
    const auto settings = load();
    configure_log(*settings);
    auto turn_log = session::open_turn_log(settings->turn_log);
    if (!turn_log) throw Failure(turn_log.error());
    shared_.workers = std::make_shared<WorkerPool>(threads_or_cores(settings->server.worker_threads),
                                                   settings->server.worker_queue);
    shared_.metrics = std::make_shared<Metrics>();
    shared_.turn_log = *turn_log;
    shared_.conversations = open_history(settings->history, shared_.metrics);
    reminder_store_ = open_reminders(settings->reminders);
    shared_.reminders =
        mcp::ReminderBook::open(reminder_store_, shared_.metrics, std::chrono::system_clock::now(),
                                {.per_device = settings->reminders.max_per_device});
    shared_.synthesize = embedded_voice;
    connect_mcp_servers(*settings);
    premises_->metrics = shared_.metrics;
    premises_->workers = shared_.workers;
    premises_->admission = std::make_shared<Admission>(settings);
    premises_->deploy(std::make_shared<Deployment>(settings, registry_, shared_));
    open_listener(settings->server);
    for (std::size_t i = 0; i < threads_or_cores(settings->server.io_threads); ++i) {
      io_.push_back(std::make_unique<IoThread>());
    }
  }

  void run() {
    for (auto& io : io_) io->thread = std::thread([&context = io->context] { run_for_ever(context); });
    signals_.add(SIGTERM);
    signals_.add(SIGINT);
    signals_.add(SIGHUP);
    wait_for_signal();
    accept_next();
    announce();
    run_for_ever(control_);
    for (auto& io : io_) {
      io->work.reset();
      io->context.stop();
    }
    for (auto& io : io_) io->thread.join();
    // Before the contexts that their answers go to.
    if (shared_.mcp_servers) shared_.mcp_servers->stop();
    for (const auto& old : retired_) old->stop();
    shared_.workers->stop();
    if (shared_.conversations) shared_.conversations->stop();
    if (reminder_store_) reminder_store_->stop();
    log::info("stopped");
  }

 private:
  std::shared_ptr<const config::Settings> load() {
    auto settings = std::make_shared<config::Settings>(config::load(options_.config));
    if (options_.listen) {
      const auto parsed = config::load_text("server: {listen: \"" + *options_.listen + "\"}", "--listen");
      settings->server.address = parsed.server.address;
      settings->server.port = parsed.server.port;
    }
    if (options_.turn_log) settings->turn_log = *options_.turn_log;
    if (settings->auth.required && settings->auth.tokens.empty()) {
      if (made_up_token_.empty()) made_up_token_ = make_token();
      settings->auth.tokens.push_back({"this-run", made_up_token_});
    }
    return settings;
  }

  /// Those that stay the same stay connected.
  void connect_mcp_servers(const config::Settings& settings) {
    const auto wanted = std::pair(settings.mcp_servers, settings.mcp_credentials);
    if (mcp_servers_ == wanted) return;
    shared_.mcp_servers =
        std::make_shared<mcp::RemoteServers>(settings.mcp_servers, open_tokens(settings), shared_.metrics);
    mcp_servers_ = wanted;
  }

  static void configure_log(const config::Settings& settings) {
    auto level = log::Level::info;
    log::parse_level(settings.log.level, level);
    log::configure(level, settings.log.show_private, settings.log.json);
  }

  void open_listener(const config::ServerSettings& server) {
    const tcp::endpoint endpoint(asio::ip::make_address(server.address), server.port);
    const auto where = server.address + ":" + std::to_string(server.port);
    error_code failed;
    acceptor_.open(endpoint.protocol(), failed);
    if (!failed) acceptor_.set_option(asio::socket_base::reuse_address(true), failed);
    if (!failed) acceptor_.bind(endpoint, failed);
    if (!failed) acceptor_.listen(asio::socket_base::max_listen_connections, failed);
    if (failed == asio::error::address_in_use) {
      throw Failure(
          Error(Errc::configuration, "cannot listen on " + where +
                                         ": the port is in use by another program; stop it, or choose "
                                         "another port with --listen or server.listen"));
    }
    if (failed)
      throw Failure(Error(Errc::configuration, "cannot listen on " + where + ": " + failed.message()));
  }

  void announce() const {
    const auto endpoint = acceptor_.local_endpoint();
    const auto& auth = premises_->deployment()->settings()->auth;
    if (!auth.required)
      log::warn("auth is none: whoever reaches this port can use the assistant and its devices");
    if (!made_up_token_.empty()) {
      std::cout << "token " << made_up_token_
                << "  (made up for this run, because PARLEY_TOKEN is not set; give it to your devices)\n";
    }
    const auto address = endpoint.address().is_v6() ? "[" + endpoint.address().to_string() + "]"
                                                    : endpoint.address().to_string();
    std::cout << "ready ws://" << address << ":" << endpoint.port() << kDevicePath << std::endl;
  }

  void accept_next() {
    auto& io = io_[next_io_++ % io_.size()]->context;
    acceptor_.async_accept(io.get_executor(), [this, &io](const error_code& failed, net::Socket socket) {
      if (failed == asio::error::operation_aborted) return;
      if (failed) {
        // Out of descriptors, mostly: wait for some to come back instead of spinning.
        log::error("a connection cannot be accepted", {{"why", failed.message()}});
        accept_retry_->arm(Clock::now() + kAcceptRetry, [this] { accept_next(); });
        return;
      }
      take(io, std::move(socket));
      accept_next();
    });
  }

  void take(asio::io_context& io, net::Socket socket) {
    error_code failed;
    const auto remote = socket.remote_endpoint(failed);
    if (failed) return;
    auto ticket = premises_->admission->connection(remote.address().to_string(), Clock::now());
    if (!ticket) {
      // No reply: whoever floods us is not worth a thread's time.
      shared_.metrics->connection_refused("address_limit");
      return;
    }
    asio::co_spawn(io, serve_connection(premises_, std::move(socket), std::move(ticket)),
                   [](std::exception_ptr thrown) {
                     try {
                       if (thrown) std::rethrow_exception(thrown);
                     } catch (const std::exception& escaped) {
                       log::error("a connection ended by a defect", {{"what", escaped.what()}});
                     }
                   });
  }

  void wait_for_signal() {
    signals_.async_wait([this](const error_code& failed, int signal) {
      if (failed) return;
      if (signal == SIGHUP) {
        reload();
      } else if (premises_->stopping.exchange(true)) {
        control_.stop();  // Asked twice: at once.
        return;
      } else {
        stop();
      }
      wait_for_signal();
    });
  }

  void reload() {
    std::erase_if(retired_, [](const auto& old) { return old.use_count() == 1; });
    const auto servers = std::pair(shared_.mcp_servers, mcp_servers_);
    try {
      const auto settings = load();
      connect_mcp_servers(*settings);
      auto next = std::make_shared<Deployment>(settings, registry_, shared_);
      configure_log(*settings);
      premises_->admission->reconfigure(settings);
      premises_->deploy(std::move(next));
      if (servers.first != shared_.mcp_servers) retired_.push_back(servers.first);
      log::info("the configuration was read again; new sessions use it");
    } catch (const std::exception& failure) {
      std::tie(shared_.mcp_servers, mcp_servers_) = servers;
      log::error("the configuration was not taken; the old one stays in force", {{"why", failure.what()}});
    }
  }

  void stop() {
    const auto grace = premises_->deployment()->settings()->server.shutdown_grace;
    log::info("stopping", {{"devices", premises_->devices.size()}, {"grace_ms", grace.count()}});
    // The listener stays open, so that new devices are told (503) instead of left waiting.
    for (const auto& session : premises_->devices.all()) session->shut_down();
    wait_for_sessions(Clock::now() + grace, false);
  }

  void wait_for_sessions(TimePoint until, bool last_words) {
    if (premises_->devices.size() == 0 || (last_words && Clock::now() >= until)) {
      acceptor_.close();
      control_.stop();
      return;
    }
    if (Clock::now() >= until) {
      for (const auto& session : premises_->devices.all()) session->close(1001, "the server is stopping");
      until = Clock::now() + kLastWords;
      last_words = true;
    }
    close_check_->arm(Clock::now() + kCloseCheck,
                      [this, until, last_words] { wait_for_sessions(until, last_words); });
  }

  ServeOptions options_;
  std::string made_up_token_;
  engine::Registry registry_ = built_in_engines();
  Deployment::Shared shared_;
  /// What shared_.mcp_servers were made from.
  std::optional<std::pair<config::McpServers, std::filesystem::path>> mcp_servers_;
  /// Of configurations before this one; sessions that began with them still use them. The last to let one go
  /// waits for its goodbyes, which must not be an I/O thread.
  std::vector<std::shared_ptr<mcp::RemoteServers>> retired_;
  std::shared_ptr<engine::ReminderStore> reminder_store_;  ///< null: in memory
  std::shared_ptr<Premises> premises_ = std::make_shared<Premises>();
  // Before the control context: its pending accept holds a socket of one of these.
  std::vector<std::unique_ptr<IoThread>> io_;
  asio::io_context control_{1};
  asio::signal_set signals_{control_};
  tcp::acceptor acceptor_{control_};
  std::unique_ptr<Timer> accept_retry_ = make_asio_scheduler(control_.get_executor())->make_timer();
  std::unique_ptr<Timer> close_check_ = make_asio_scheduler(control_.get_executor())->make_timer();
  std::size_t next_io_ = 0;
};

}  // namespace

int serve(const ServeOptions& options) {
  // A peer that is gone is an error code, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    App(options).run();
    return 0;
  } catch (const Failure& failure) {
    std::cerr << "parley: " << failure.what() << "\n";
  } catch (const std::exception& failure) {
    std::cerr << "parley: cannot serve: " << failure.what() << "\n";
  }
  return 2;
}

}  // namespace parley::server
