#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parley/core/task.hpp"

namespace parley::test {

/// What a client sent.
struct HttpAsked {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

/// One request at a misbehaving server: what is written goes out as it is.
class HttpExchange {
 public:
  explicit HttpExchange(asio::ip::tcp::socket& socket) : socket_(&socket) {}

  HttpAsked asked;

  Task<> write(std::string bytes);
  /// A status line, Content-Length, `extra` ("Name: value\r\n" …) and the body.
  Task<> respond(int status, std::string content_type, std::string body, std::string extra = {});
  /// The head of a chunked answer.
  Task<> begin(std::string content_type, int status = 200);
  Task<> chunk(std::string bytes);
  Task<> end();
  /// Returns when the client has closed its side.
  Task<> until_closed();
  /// The connection ends after this, without another word.
  void close() { closing_ = true; }
  bool closing() const { return closing_; }

 private:
  asio::ip::tcp::socket* socket_;
  bool closing_ = false;
};

/// A small HTTP/1.1 server on a loopback port, in the test's own I/O thread.
class HttpServer {
 public:
  using Handler = std::function<Task<>(HttpExchange&)>;

  /// `handler` is asked for each request, on whichever connection it came.
  HttpServer(asio::io_context& io, Handler handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  HttpServer(HttpServer&&) = delete;
  HttpServer& operator=(HttpServer&&) = delete;
  ~HttpServer();

  /// `http://127.0.0.1:PORT`
  std::string url() const;
  /// Every request so far.
  const std::vector<HttpAsked>& asked() const;
  /// Connections so far, and those that clients closed.
  int connections() const;
  int closed() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

/// Runs `io` until `done`, for as long as a slow machine may need; false: it never was.
bool run_until(asio::io_context& io, const std::function<bool()>& done);

/// Runs `io` until nothing has happened for a moment: what is on its way between two sockets has arrived.
void run_until_quiet(asio::io_context& io);

/// Runs a task to its end on `io`.
template <class T>
T run_on(asio::io_context& io, Task<T> task);

}  // namespace parley::test

#include <boost/asio/co_spawn.hpp>
#include <optional>
#include <stdexcept>

template <class T>
T parley::test::run_on(asio::io_context& io, Task<T> task) {
  std::optional<T> result;
  std::exception_ptr thrown;
  asio::co_spawn(io, std::move(task), [&](std::exception_ptr failed, T value) {
    thrown = failed;
    if (!failed) result.emplace(std::move(value));
  });
  if (!run_until(io, [&] { return result || thrown; })) throw std::runtime_error("the task never ended");
  if (thrown) std::rethrow_exception(thrown);
  return std::move(*result);
}
