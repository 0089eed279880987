#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mcp/http_wire.hpp"
#include "parley/mcp/http_link.hpp"
#include "parley/mcp/json_rpc.hpp"

// One way of speaking to a server (Era), behind HttpLink.
namespace parley::mcp {

struct DialectCall {
  std::string method;
  nlohmann::json params = nlohmann::json::object();
  std::string name;                      ///< for `Mcp-Name`; may be empty
  std::vector<net::HttpHeader> headers;  ///< mirrored arguments
  bool idempotent = false;               ///< may be sent again when its answer was lost
  std::function<void(const nlohmann::json& params)> on_progress;  ///< never null

  /// Whether it may not be carried out twice.
  bool once() const { return method == "tools/call" && !idempotent; }
};

/// What detection concludes from after a failed hello.
struct OpenFailure {
  int status = 0;  ///< zero: no HTTP answer was to be had
  std::optional<RpcError> error;
};

/// Shared by the dialect's tasks, which keep it alive.
class Dialect : public std::enable_shared_from_this<Dialect> {
 public:
  Dialect() = default;
  Dialect(const Dialect&) = delete;
  Dialect& operator=(const Dialect&) = delete;
  Dialect(Dialect&&) = delete;
  Dialect& operator=(Dialect&&) = delete;
  virtual ~Dialect() = default;

  /// Says hello. Refusal: the server does not speak this dialect (or not at this address); `failure` is then
  /// what it answered.
  virtual Task<Result<ServerInfo>> open(std::shared_ptr<OpenFailure> failure) = 0;
  /// The reply to one request, which has no deadline but its caller's. Errors are about the way there and
  /// back; what the server itself refuses is a reply.
  virtual Task<Result<RpcReply>> request(DialectCall call) = 0;
  /// See HttpLink::listen().
  virtual Task<Result<>> listen(std::function<void()> changed) = 0;
  virtual Task<> close() = 0;
  /// Ends what runs in the background, without a word to the server.
  virtual void abort() {}
};

std::shared_ptr<Dialect> make_modern(std::shared_ptr<HttpWire> wire);
std::shared_ptr<Dialect> make_legacy(asio::any_io_executor executor, std::shared_ptr<HttpWire> wire);
std::shared_ptr<Dialect> make_sse(asio::any_io_executor executor, std::shared_ptr<HttpWire> wire);

// --- What dialects share --------------------------------------------------------------------------

namespace code {
constexpr int kMethodNotFound = -32601;
constexpr int kHeaderMismatch = -32020;
constexpr int kMissingCapability = -32021;
constexpr int kUnsupportedVersion = -32022;
}  // namespace code

inline constexpr const char* kModernVersion = "2026-07-28";
inline constexpr const char* kLegacyVersion = "2025-11-25";

nlohmann::json client_info();
/// What a server may ask of us: nothing but forms, which are answered with their defaults.
nlohmann::json client_capabilities();
/// The text of the answer to a server's request.
std::string answer_to(const RpcMessage& request);
/// Messages to one server, beyond requests, that may be on their way at once; more are not sent.
inline constexpr int kMaxTold = 32;
/// Whether an id that came back is that of our request.
bool is_id(const nlohmann::json& id, std::int64_t ours);
/// `serverInfo` of a result, as far as it is there.
void read_server_info(const nlohmann::json& info, ServerInfo& into);
/// The result of `initialize`. Errors: invalid_input (no version), unsupported (one that is not known here).
Result<ServerInfo> read_initialized(Era era, const nlohmann::json& result);
/// A refusal as an error: Errc::unavailable, to be tried again where the status says so.
Error refusal_error(const WireAnswer& answer);

}  // namespace parley::mcp
