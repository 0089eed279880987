#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <list>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fakes/http_server.hpp"
#include "parley/core/async_event.hpp"

namespace parley::test {

/// Holds coroutines up until it is opened.
class Gate {
 public:
  explicit Gate(const asio::any_io_executor& executor) : opened_(executor) {}
  Task<> pass() {
    while (!open_) co_await opened_.wait();
  }
  void open() {
    open_ = true;
    opened_.notify();
  }

 private:
  AsyncEvent opened_;
  bool open_ = false;
};

/// An MCP server over HTTP that does what a test tells it to.
class McpServer {
 public:
  /// `message` is what was posted; null for other requests.
  using Reply = std::function<Task<>(HttpExchange& exchange, nlohmann::json message)>;

  explicit McpServer(asio::io_context& io);

  /// What is done at a JSON-RPC method, at "reply" (what answers a request of the server), at an HTTP method,
  /// or at "*", which is anything else. The last word counts.
  void on(const std::string& what, Reply reply);
  /// Answers a method with this result.
  void answer(const std::string& method, nlohmann::json result);
  /// Says hello in the modern way: `server/discover`.
  void speak_modern();
  /// Knows `initialize`, and refuses requests outside of its sessions, which are named "s1", "s2", …; empty:
  /// it has none.
  void speak_legacy(const std::string& prefix = "s");
  /// Forgets the session.
  void forget() { session_ = "none"; }

  std::string url() const { return http_.url() + "/mcp"; }
  HttpServer& http() { return http_; }

  struct Heard {
    HttpAsked http;
    nlohmann::json message;
  };
  /// Everything asked so far.
  const std::vector<Heard>& heard() const { return heard_; }
  /// That of one kind, named as for on().
  std::vector<Heard> heard(const std::string& what) const;
  std::size_t count(const std::string& what) const { return heard(what).size(); }

 private:
  Task<> serve(HttpExchange& exchange);
  static std::string kind_of(const HttpAsked& asked, const nlohmann::json& message);

  std::list<Reply> replies_;  ///< all of them: a running one may have been replaced
  std::map<std::string, Reply*> by_kind_;
  std::vector<Heard> heard_;
  std::string session_;
  std::string prefix_;
  int sessions_ = 0;
  HttpServer http_;
};

nlohmann::json result_of(const nlohmann::json& request, nlohmann::json result);
nlohmann::json error_of(const nlohmann::json& request, int code, const std::string& message,
                        nlohmann::json data = nullptr);
/// `result_of` as the body of a 200.
Task<> send_result(HttpExchange& exchange, nlohmann::json request, nlohmann::json result,
                   std::string extra = {});
Task<> send_error(HttpExchange& exchange, nlohmann::json request, int status, int code, std::string message,
                  nlohmann::json data = nullptr);
Task<> send_page(HttpExchange& exchange, int status);
/// One event of a stream; `id` may be empty.
std::string event(const nlohmann::json& message, const std::string& id = {});
nlohmann::json notification(const std::string& method, nlohmann::json params = nlohmann::json::object());
nlohmann::json tool(const std::string& name);
nlohmann::json said(const std::string& text);

}  // namespace parley::test
