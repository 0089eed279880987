#include <algorithm>
#include <limits>
#include <utility>

#include "mcp/dialect.hpp"
#include "parley/mcp/elicitation.hpp"
#include "parley/mcp/mirrored_headers.hpp"

namespace parley::mcp {
namespace {

using nlohmann::json;

constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kClientKey = "io.modelcontextprotocol/clientInfo";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kServerKey = "io.modelcontextprotocol/serverInfo";
/// Rounds of questions that one request may cost.
constexpr int kMaxRounds = 3;
constexpr std::size_t kMaxQuestions = 16;

bool supports_us(const json& versions) {
  return versions.is_array() && std::ranges::find(versions, json(kModernVersion)) != versions.end();
}

bool needs_input(const RpcReply& reply) {
  if (reply.error || !reply.result.is_object()) return false;
  const auto type = reply.result.find("resultType");
  return type != reply.result.end() && *type == "input_required";
}

/// The answers to what an `input_required` asks; an error where it asks for what nobody offered.
Result<json> answers_to(const json& questions) {
  auto answers = json::object();
  if (questions.is_null()) return answers;
  if (!questions.is_object() || questions.size() > kMaxQuestions)
    return Error(Errc::invalid_input, "the MCP server asks for input in a form that is not known");
  for (const auto& [key, question] : questions.items()) {
    const auto method = question.is_object() ? question.find("method") : question.end();
    if (!question.is_object() || method == question.end() || *method != "elicitation/create") {
      return Error(Errc::unsupported, "the MCP server asks for input that this client never offered");
    }
    const auto params = question.find("params");
    answers[key] = elicited(params == question.end() ? json() : *params);
  }
  return answers;
}

/// MCP 2026-07-28: no session; each request says everything about itself.
class ModernDialect final : public Dialect {
 public:
  ModernDialect(std::shared_ptr<HttpWire> wire, OpenFailure* failure)
      : wire_(std::move(wire)), failure_(failure) {}

  Task<Result<ServerInfo>> open() override {
    DialectCall discover;
    discover.method = "server/discover";
    discover.idempotent = true;
    discover.on_progress = [](const json&) {};
    // A server may refuse the first version that it is asked in, and name ours among those that it speaks.
    for (int attempt = 0; attempt < 2; ++attempt) {
      const auto reply = co_await exchange(discover, failure_);
      if (!reply) co_return reply.error();
      ServerInfo info{Era::modern, kModernVersion, {}, {}};
      if (!reply->error) {
        const auto& result = reply->result;
        const auto versions = result.is_object() ? result.find("supportedVersions") : result.end();
        if (!result.is_object() || versions == result.end() || !supports_us(*versions)) break;
        const auto meta = result.find("_meta");
        if (meta != result.end() && meta->is_object() && meta->contains(kServerKey)) {
          read_server_info((*meta)[kServerKey], info);
        } else if (result.contains("serverInfo")) {
          read_server_info(result["serverInfo"], info);
        }
        co_return info;
      }
      const auto& error = *reply->error;
      const bool ours =
          error.data.is_object() && error.data.contains("supported") && supports_us(error.data["supported"]);
      if (error.code == code::kUnsupportedVersion && ours) continue;
      if (error.code == code::kUnsupportedVersion) break;
      // Modern by its words, though it does not introduce itself.
      if (error.code == code::kHeaderMismatch || error.code == code::kMissingCapability ||
          (error.code == code::kMethodNotFound && failure_->status == 404))
        co_return info;
      co_return Error(Errc::unsupported, "the server does not speak MCP " + std::string(kModernVersion) +
                                             ": " + describe(error));
    }
    co_return Error(Errc::unsupported, "the server does not speak MCP " + std::string(kModernVersion));
  }

  Task<Result<RpcReply>> request(DialectCall call) override {
    const auto self = shared_from_this();
    const auto original = call.params;
    for (int round = 0;; ++round) {
      auto reply = co_await exchange(call, nullptr);
      if (!reply && reply.error().retryable && call.idempotent && round == 0) {
        reply = co_await exchange(call, nullptr);
      }
      if (!reply || !needs_input(*reply)) co_return reply;
      if (round == kMaxRounds) co_return Error(Errc::limit, "the MCP server asks for input again and again");
      const auto questions = reply->result.find("inputRequests");
      auto answers = answers_to(questions == reply->result.end() ? json() : *questions);
      if (!answers) co_return answers.error();
      call.params = original;
      call.params["inputResponses"] = std::move(*answers);
      // Exactly as it came, and not where none came.
      if (const auto state = reply->result.find("requestState"); state != reply->result.end())
        call.params["requestState"] = *state;
    }
  }

  Task<Result<>> listen(std::function<void()> changed) override {
    const auto self = shared_from_this();
    const auto id = next_id_++;
    DialectCall call;
    call.method = "subscriptions/listen";
    call.params["notifications"] = {{"toolsListChanged", true}};
    auto request = wire_request(call, id);
    request.deadlines = wire_->stream_deadlines();
    request.max_answer = std::numeric_limits<std::size_t>::max();
    const auto answer = co_await wire_->send(std::move(request));
    if (!answer) co_return answer.error();
    if (!answer->good()) co_return Result<>();  // It offers no such stream.
    while (true) {
      const auto message = co_await answer->reader->next();
      if (!message) co_return message.error();
      if (!*message) co_return Error(Errc::closed, "the stream of changes ended", true);
      const auto& [kind, its_id, method, body, error] = **message;
      if (kind == RpcMessage::Kind::notification && method == "notifications/tools/list_changed") changed();
      if (kind == RpcMessage::Kind::error) co_return Result<>();
      if (kind == RpcMessage::Kind::result)
        co_return Error(Errc::closed, "the stream of changes ended", true);
    }
  }

  Task<> close() override { co_return; }

 private:
  WireRequest wire_request(const DialectCall& call, std::int64_t id) const {
    auto params = call.params;
    auto& meta = params["_meta"];
    meta[kVersionKey] = kModernVersion;
    meta[kClientKey] = client_info();
    meta[kCapabilitiesKey] = client_capabilities();
    meta["progressToken"] = id;
    WireRequest request;
    request.body = rpc_request(id, call.method, params);
    request.headers = call.headers;
    request.headers.push_back({"MCP-Protocol-Version", kModernVersion});
    request.headers.push_back({"Mcp-Method", call.method});
    if (!call.name.empty()) request.headers.push_back({"Mcp-Name", header_value(call.name)});
    request.deadlines = wire_->deadlines();
    request.only_once = !call.idempotent;
    return request;
  }

  /// `failure`: set to what a refusal said. Cancelling it closes the stream, which is how the server is told.
  Task<Result<RpcReply>> exchange(const DialectCall& call, OpenFailure* failure) {
    const auto id = next_id_++;
    auto answer = co_await wire_->send(wire_request(call, id));
    if (!answer) co_return answer.error();
    if (!answer->good()) {
      if (failure != nullptr) *failure = {answer->status, answer->error};
      if (answer->error) co_return RpcReply{{}, std::move(answer->error)};
      co_return refusal_error(*answer);
    }
    while (true) {
      auto message = co_await answer->reader->next();
      if (!message) {
        if (failure != nullptr) *failure = {answer->status, {}};
        co_return message.error();
      }
      if (!*message) break;
      auto& [kind, its_id, method, body, error] = **message;
      if (kind == RpcMessage::Kind::notification && method == "notifications/progress")
        call.on_progress(body);
      if (kind == RpcMessage::Kind::result && is_id(its_id, id)) co_return RpcReply{std::move(body)};
      if (kind == RpcMessage::Kind::error && (is_id(its_id, id) || its_id.is_null())) {
        if (failure != nullptr) *failure = {answer->status, error};
        co_return RpcReply{{}, std::move(error)};
      }
    }
    if (failure != nullptr) *failure = {answer->status, {}};
    co_return Error(Errc::closed, "the MCP server ended its answer before the result", true);
  }

  std::shared_ptr<HttpWire> wire_;
  OpenFailure* failure_;
  std::int64_t next_id_ = 1;
};

}  // namespace

std::shared_ptr<Dialect> make_modern(std::shared_ptr<HttpWire> wire, OpenFailure* failure) {
  return std::make_shared<ModernDialect>(std::move(wire), failure);
}

}  // namespace parley::mcp
