#include "fakes/mcp_server.hpp"

#include <utility>

namespace parley::test {

using nlohmann::json;

McpServer::McpServer(asio::io_context& io)
    : http_(io, [this](HttpExchange& exchange) { return serve(exchange); }) {
  on("*", [](HttpExchange& exchange, json) { return send_page(exchange, 404); });
}

void McpServer::on(const std::string& what, Reply reply) {
  replies_.push_back(std::move(reply));
  by_kind_[what] = &replies_.back();
}

void McpServer::answer(const std::string& method, json result) {
  on(method, [result](HttpExchange& exchange, json message) {
    return send_result(exchange, std::move(message), result);
  });
}

void McpServer::speak_modern() {
  answer("server/discover",
         {{"resultType", "complete"},
          {"supportedVersions", {"2026-07-28"}},
          {"_meta", {{"io.modelcontextprotocol/serverInfo", {{"name", "fake"}, {"version", "1"}}}}}});
}

void McpServer::speak_legacy(const std::string& prefix) {
  prefix_ = prefix;
  by_kind_.erase("server/discover");
  on("*", [](HttpExchange& exchange, json message) {
    return send_error(exchange, std::move(message), 400, -32000, "Bad Request: Server not initialized");
  });
  on("initialize", [this](HttpExchange& exchange, json message) {
    if (!prefix_.empty()) session_ = prefix_ + std::to_string(++sessions_);
    return send_result(exchange, std::move(message),
                       {{"protocolVersion", "2025-11-25"},
                        {"capabilities", json::object()},
                        {"serverInfo", {{"name", "old"}, {"version", "0.9"}}}},
                       session_.empty() ? "" : "Mcp-Session-Id: " + session_ + "\r\n");
  });
  const auto accepted = [](HttpExchange& exchange, json) { return exchange.respond(202, "text/plain", ""); };
  on("notifications/initialized", accepted);
  on("notifications/cancelled", accepted);
  on("reply", accepted);
  on("DELETE", [](HttpExchange& exchange, json) { return exchange.respond(200, "text/plain", ""); });
  on("GET", [](HttpExchange& exchange, json) { return send_page(exchange, 405); });
}

std::string McpServer::kind_of(const HttpAsked& asked, const json& message) {
  if (asked.method != "POST") return asked.method;
  if (message.is_object() && message.contains("method")) return message["method"].get<std::string>();
  return "reply";
}

Task<> McpServer::serve(HttpExchange& exchange) {
  const auto asked = exchange.asked;
  auto message = asked.method == "POST" ? json::parse(asked.body, nullptr, false) : json();
  heard_.push_back({asked, message});
  const auto kind = kind_of(asked, message);
  const auto session = asked.headers.find("mcp-session-id");
  if (session != asked.headers.end() && session->second != session_) {
    co_await send_error(exchange, std::move(message), 404, -32001, "Session not found");
    co_return;
  }
  const auto found = by_kind_.find(kind);
  auto& reply = found != by_kind_.end() ? *found->second : *by_kind_.at("*");
  co_await reply(exchange, std::move(message));
}

std::vector<McpServer::Heard> McpServer::heard(const std::string& what) const {
  std::vector<Heard> out;
  for (const auto& one : heard_) {
    if (kind_of(one.http, one.message) == what) out.push_back(one);
  }
  return out;
}

json result_of(const json& request, json result) {
  return {{"jsonrpc", "2.0"}, {"id", request["id"]}, {"result", std::move(result)}};
}

json error_of(const json& request, int code, const std::string& message, json data) {
  json error = {{"code", code}, {"message", message}};
  if (!data.is_null()) error["data"] = std::move(data);
  const auto id = request.is_object() && request.contains("id") ? request["id"] : json();
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
}

Task<> send_result(HttpExchange& exchange, json request, json result, std::string extra) {
  co_await exchange.respond(200, "application/json", result_of(request, std::move(result)).dump(), extra);
}

Task<> send_error(HttpExchange& exchange, json request, int status, int code, std::string message,
                  json data) {
  co_await exchange.respond(status, "application/json",
                            error_of(request, code, message, std::move(data)).dump());
}

Task<> send_page(HttpExchange& exchange, int status) {
  co_await exchange.respond(status, "text/html", "<html><body>no</body></html>");
}

std::string event(const json& message, const std::string& id) {
  return (id.empty() ? "" : "id: " + id + "\n") + "data: " + message.dump() + "\n\n";
}

json notification(const std::string& method, json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

json tool(const std::string& name) {
  return {{"name", name}, {"description", "does " + name}, {"inputSchema", {{"type", "object"}}}};
}

json said(const std::string& text) {
  return {{"content", {{{"type", "text"}, {"text", text}}}}};
}

}  // namespace parley::test
