#include "server/browser_login.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <ostream>
#include <utility>

#include "parley/core/async_event.hpp"
#include "parley/core/deadline.hpp"
#include "parley/net/url.hpp"

namespace parley::server {
namespace {

namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr std::uint32_t kMaxHeader = 32U * 1024;
constexpr std::size_t kMaxLine = std::size_t{32} * 1024;
constexpr const char* kReceived =
    "Parley has received the answer. You may close this page; the terminal shows what came of it.";
constexpr const char* kForeign = "This answer does not belong to the login that Parley waits for.";

std::string page(const std::string& text) {
  return "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Parley</title>"
         "<body style=\"font-family:sans-serif;max-width:32em;margin:4em auto\"><h1>Parley</h1><p>" +
         text + "</p></body></html>\n";
}

std::string state_in(const std::string& address) {
  const auto mark = address.find('?');
  if (mark == std::string::npos) return {};
  const auto fields =
      net::form_decoded(std::string_view(address).substr(mark + 1, address.find('#') - mark - 1));
  if (!fields) return {};
  const auto found = fields->find("state");
  return found == fields->end() ? std::string() : found->second;
}

/// On the port of the redirect URI, or any; nullopt: it is another machine's.
std::optional<tcp::acceptor> listen_for(const asio::any_io_executor& executor, const net::Url& redirect) {
  if (!redirect.is_loopback() || redirect.scheme != "http") return std::nullopt;
  const auto address = redirect.host == "[::1]" ? asio::ip::address(asio::ip::address_v6::loopback())
                                                : asio::ip::address(asio::ip::address_v4::loopback());
  const auto port = redirect.has_port ? redirect.port : std::uint16_t{0};
  try {
    return tcp::acceptor(executor, {address, port});
  } catch (const boost::system::system_error& failure) {
    throw Failure(Error(Errc::configuration, "cannot listen on port " + std::to_string(port) +
                                                 " for the browser: " + failure.code().message()));
  }
}

}  // namespace

struct BrowserLogin::State {
  State(const asio::any_io_executor& executor, std::shared_ptr<Scheduler> clock, std::ostream& text,
        Millis limit)
      : scheduler(std::move(clock)), out(text), timeout(limit), answered(executor), input(executor) {}

  bool take(const std::string& address) {
    if (wanted.empty() || state_in(address) != wanted) return false;
    if (!answer) answer = address;
    return true;
  }

  static Task<> accept(std::shared_ptr<State> self) {
    const auto executor = co_await asio::this_coro::executor;
    while (true) {
      boost::system::error_code failed;
      auto socket = co_await self->acceptor->async_accept(asio::redirect_error(asio::use_awaitable, failed));
      if (failed) co_return;
      asio::co_spawn(executor, serve(self, std::move(socket)), asio::detached);
    }
  }

  static Task<> serve(std::shared_ptr<State> self, tcp::socket socket) {
    boost::system::error_code failed;
    const auto soft = [&failed] { return asio::redirect_error(asio::use_awaitable, failed); };
    boost::beast::flat_buffer buffer;
    http::request_parser<http::empty_body> parser;
    parser.header_limit(kMaxHeader);
    co_await http::async_read_header(socket, buffer, parser, soft());
    if (failed) co_return;
    const auto& request = parser.get();
    const std::string target(request.target());
    http::response<http::string_body> response;
    response.version(11);
    response.keep_alive(false);
    response.set(http::field::content_type, "text/html; charset=utf-8");
    response.set(http::field::cache_control, "no-store");
    response.set("Referrer-Policy", "no-referrer");
    bool good = false;
    if (request.method() != http::verb::get || target.substr(0, target.find('?')) != self->path) {
      response.result(http::status::not_found);
      response.body() = page("There is nothing here.");
    } else {
      good = self->take(self->origin + target);
      response.result(good ? http::status::ok : http::status::bad_request);
      response.body() = page(good ? kReceived : kForeign);
    }
    response.prepare_payload();
    // The page has to be on its way before the program goes on, and ends.
    co_await http::async_write(socket, response, soft());
    socket.shutdown(tcp::socket::shutdown_both, failed);
    if (good) self->answered.notify();
  }

  /// Lines as they are typed. The descriptor stays in blocking mode, which a terminal shares with the shell.
  static Task<> read_lines(std::shared_ptr<State> self) {
    std::string text;
    std::array<char, 4096> piece{};
    while (true) {
      boost::system::error_code failed;
      co_await self->input.async_wait(asio::posix::stream_descriptor::wait_read,
                                      asio::redirect_error(asio::use_awaitable, failed));
      if (failed) co_return;
      const auto count = ::read(self->input.native_handle(), piece.data(), piece.size());
      if (count <= 0) co_return;
      text.append(piece.data(), static_cast<std::size_t>(count));
      if (text.size() > kMaxLine) text.clear();
      for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
        self->take_line(text.substr(0, end));
        text.erase(0, end + 1);
      }
    }
  }

  void take_line(std::string line) {
    constexpr const char* kBlanks = " \t\r\"'<>";
    line.erase(0, std::min(line.find_first_not_of(kBlanks), line.size()));
    line.erase(line.find_last_not_of(kBlanks) + 1);
    if (line.empty()) return;
    if (take(line)) {
      answered.notify();
    } else {
      out << "That is not the address to which the browser came back for this login. Try again:" << std::endl;
    }
  }

  std::shared_ptr<Scheduler> scheduler;
  std::ostream& out;
  Millis timeout;
  AsyncEvent answered;
  asio::posix::stream_descriptor input;
  std::optional<tcp::acceptor> acceptor;
  std::string redirect_uri;
  std::string origin;
  std::string path;
  std::string wanted;  ///< the state of the login that runs
  std::optional<std::string> answer;
};

BrowserLogin::BrowserLogin(const asio::any_io_executor& executor, std::shared_ptr<Scheduler> scheduler,
                           const std::string& redirect_uri, std::ostream& out, int input, Millis timeout)
    : state_(std::make_shared<State>(executor, std::move(scheduler), out, timeout)) {
  auto redirect = net::parse_url(redirect_uri);
  if (!redirect || redirect->has_fragment)
    throw Failure(Error(Errc::configuration, "redirect_uri has to be an http or https address"));
  state_->acceptor = listen_for(executor, *redirect);
  state_->redirect_uri = redirect_uri;
  if (state_->acceptor) {
    redirect->port = state_->acceptor->local_endpoint().port();
    state_->path = redirect->path;
    state_->origin = redirect->origin();
    state_->redirect_uri =
        redirect->origin() + redirect->path + (redirect->query.empty() ? "" : "?" + redirect->query);
    asio::co_spawn(executor, State::accept(state_), asio::detached);
  }
  boost::system::error_code failed;
  const int own = input < 0 ? -1 : ::fcntl(input, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return;
  // What is no terminal and no pipe cannot be waited for.
  if (state_->input.assign(own, failed); failed) {
    ::close(own);
  } else {
    asio::co_spawn(executor, State::read_lines(state_), asio::detached);
  }
}

BrowserLogin::~BrowserLogin() {
  boost::system::error_code ignored;
  if (state_->acceptor) state_->acceptor->close(ignored);
  if (state_->input.is_open()) state_->input.close(ignored);
}

const std::string& BrowserLogin::redirect_uri() const {
  return state_->redirect_uri;
}

Task<Result<std::string>> BrowserLogin::authorize(std::string authorization_url, std::string redirect_uri) {
  const auto state = state_;
  state->answer.reset();
  state->wanted = state_in(authorization_url);
  state->out << "Open this address in a browser and agree there:\n\n  " << authorization_url << "\n\n";
  if (state->acceptor) {
    state->out
        << "The browser then comes back to " << redirect_uri
        << ".\nWhere it runs on another machine and finds nothing there, copy the address that it shows "
           "and paste it here:"
        << std::endl;
  } else {
    state->out << "Then copy the address to which the browser comes back and paste it here:" << std::endl;
  }
  const auto wait = [](std::shared_ptr<State> waiting) -> Task<Result<std::string>> {
    while (!waiting->answer) co_await waiting->answered.wait();
    co_return *waiting->answer;
  };
  auto answer = co_await with_deadline(*state->scheduler, state->scheduler->now() + state->timeout,
                                       "nobody has agreed in time", wait(state));
  state->wanted.clear();
  co_return answer;
}

}  // namespace parley::server
