#include "parley/server/front.hpp"

#include <algorithm>
#include <utility>

#include "parley/core/log.hpp"
#include "server/pages.hpp"

namespace parley::server {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

net::HttpReply refusal(int status, std::string text) {
  net::HttpReply reply;
  reply.status = status;
  reply.body = std::move(text) + "\n";
  return reply;
}

bool is_device_path(const std::string& path) {
  return path == kDevicePath || path == kDevicePath.substr(0, kDevicePath.size() - 1);
}

/// An id is a key and goes to the log: something short and printable.
bool usable_id(std::string_view id) {
  return !id.empty() && id.size() <= 64 &&
         std::ranges::all_of(id, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

net::HttpReply answer_upgrade(Premises& premises, const Deployment& deployment,
                              const net::ServerRequest& request) {
  auto& metrics = *premises.metrics;
  if (!is_device_path(request.path())) return refusal(404, "devices connect to " + std::string(kDevicePath));
  if (premises.stopping) {
    metrics.connection_refused("stopping");
    return refusal(503, "the server is stopping");
  }
  const auto& auth = deployment.settings()->auth;
  if (auth.required && authenticate(request.header("authorization"), auth.tokens).empty()) {
    metrics.connection_refused("unauthorized");
    log::warn("a device was refused: missing or wrong token", {{"address", request.remote_address}});
    auto reply = refusal(401, "a valid token is needed: Authorization: Bearer TOKEN");
    reply.headers["WWW-Authenticate"] = "Bearer";
    return reply;
  }
  net::HttpReply reply;
  reply.upgrade = true;
  return reply;
}

session::Caller caller_of(const net::ServerRequest& request, const config::AuthSettings& auth) {
  session::Caller caller;
  caller.device_id = lower(request.header("device-id"));
  caller.client_id = request.header("client-id");
  if (!usable_id(caller.device_id)) {
    caller.nameless = !usable_id(caller.client_id);
    caller.device_id = caller.nameless ? "unnamed-" + make_token().substr(0, 12) : lower(caller.client_id);
  }
  caller.protocol_version = request.header("protocol-version");
  caller.remote_address = request.remote_address;
  if (auth.required) caller.token_name = authenticate(request.header("authorization"), auth.tokens);
  return caller;
}

Task<> run_session(std::shared_ptr<Premises> premises, std::shared_ptr<const Deployment> deployment,
                   net::Upgraded upgraded, Admission::Ticket seat, std::shared_ptr<Scheduler> scheduler) {
  session::Session::Wiring wiring;
  wiring.caller = caller_of(upgraded.request, deployment->settings()->auth);
  wiring.runtime = deployment->runtime_for(wiring.caller.device_id);
  wiring.connection = std::move(upgraded.connection);
  wiring.scheduler = std::move(scheduler);
  wiring.executor = co_await asio::this_coro::executor;
  wiring.on_ready = [premises](const std::shared_ptr<session::Session>& session) {
    premises->devices.add(session);
    if (premises->stopping) session->shut_down();
  };
  upgraded.request = {};
  const auto session = session::Session::make(std::move(wiring));
  try {
    co_await session->run();
  } catch (const std::exception& escaped) {
    log::error("a session ended by a defect", {{"session", session->id()}, {"what", escaped.what()}});
    session->close(1011, "internal error");
  }
  premises->devices.remove(*session);
}

}  // namespace

net::HttpReply answer_http(Premises& premises, const Deployment& deployment,
                           const net::ServerRequest& request) {
  if (request.wants_websocket) return answer_upgrade(premises, deployment, request);
  if (request.method != "GET" && request.method != "HEAD") {
    auto reply = refusal(405, "only GET is served here");
    reply.headers["Allow"] = "GET, HEAD";
    return reply;
  }
  const auto path = request.path();
  net::HttpReply reply;
  if (path == "/healthz") {
    reply.body = "ok\n";
  } else if (path == "/readyz") {
    if (premises.stopping) return refusal(503, "stopping");
    reply.body = "ready\n";
  } else if (path == "/metrics") {
    premises.metrics->worker_jobs(premises.workers->pending());
    reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
    reply.body = premises.metrics->text();
  } else if (path == "/") {
    reply.content_type = "text/html; charset=utf-8";
    reply.body = home_page(premises.devices.size(), request.header("host"));
  } else if (is_device_path(path)) {
    reply = refusal(426, "this is where devices connect, by WebSocket");
    reply.headers["Upgrade"] = "websocket";
  } else {
    return refusal(404, "there is nothing here; try /, /healthz, /readyz or /metrics");
  }
  return reply;
}

Task<> serve_connection(std::shared_ptr<Premises> premises, net::Socket socket, Admission::Ticket ticket) {
  const auto scheduler = make_asio_scheduler(co_await asio::this_coro::executor);
  const auto deployment = premises->deployment();
  const auto& server = deployment->settings()->server;
  net::SocketLimits limits;
  limits.handshake_timeout = server.handshake_timeout;
  limits.idle_timeout = server.idle_timeout;
  limits.max_message = server.max_message;
  limits.max_send_queue = server.max_send_queue;
  Admission::Ticket seat;
  const auto handle = [&](const net::ServerRequest& request) {
    auto reply = answer_http(*premises, *deployment, request);
    if (!reply.upgrade) return reply;
    seat = premises->admission->session();
    if (seat) return reply;
    premises->metrics->connection_refused("full");
    return refusal(503, "the server is full");
  };
  auto upgraded = co_await net::serve(std::move(socket), handle, limits, scheduler);
  if (upgraded.connection) {
    co_await run_session(premises, deployment, std::move(upgraded), std::move(seat), scheduler);
  }
}

}  // namespace parley::server
