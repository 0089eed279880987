#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/core/error.hpp"
#include "parley/core/task.hpp"
#include "parley/mcp/authorization.hpp"
#include "parley/mcp/json_rpc.hpp"
#include "parley/mcp/tool.hpp"
#include "parley/net/http_syntax.hpp"

namespace parley::mcp {

/// How a server is spoken to (MCP.md, section 1).
enum class Era {
  automatic,  ///< found out at the first contact
  modern,     ///< 2026-07-28: no session, everything in each request
  legacy,     ///< 2025-03-26 to 2025-11-25: `initialize` and streamable HTTP
  sse,        ///< 2024-11-05: HTTP+SSE, deprecated
};
std::string_view to_string(Era era);

struct HttpLinkSettings {
  std::string url;
  std::vector<net::HttpHeader> headers;  ///< with fixed credentials, where there are any
  Era era = Era::automatic;
  Millis connect_timeout{5'000};
  /// Of one request, from the last sign of progress on.
  Millis timeout{10'000};
  /// Of one request, whatever progress is reported.
  Millis max_timeout{60'000};
  /// Whether the name may resolve to an address that is not public.
  bool allow_private_network = false;
  /// Requests at the same time; more wait for their turn.
  std::size_t max_requests = 4;
};

struct ServerInfo {
  Era era = Era::automatic;
  std::string protocol_version;
  std::string name;     ///< may be empty, as may be …
  std::string version;  ///< … this
};

struct ToolPage {
  std::vector<Tool> tools;
  /// How long the list may be kept; zero: the server did not say.
  Millis ttl{0};
};

struct RequestOptions {
  Millis timeout{0};      ///< zero: the link's
  Millis max_timeout{0};  ///< zero: the link's
  /// The server may be asked again when its answer was lost on the way.
  bool idempotent = false;
  std::function<void(double progress, std::string message)> on_progress;
};

/// The MCP client of one server over HTTP: both eras, the deprecated transport, and detection. Belongs to one
/// thread. Requests may run side by side; cancelling one tells the server.
class HttpLink {
 public:
  /// `authorization` may be null.
  HttpLink(asio::any_io_executor executor, std::shared_ptr<Scheduler> scheduler, HttpLinkSettings settings,
           std::shared_ptr<Authorization> authorization);
  HttpLink(const HttpLink&) = delete;
  HttpLink& operator=(const HttpLink&) = delete;
  HttpLink(HttpLink&&) = delete;
  HttpLink& operator=(HttpLink&&) = delete;
  /// Without a goodbye.
  ~HttpLink();

  /// Finds out how the server is spoken to and says hello; again, where it was connected before. Errors:
  /// unavailable, timeout, closed, unauthorized, invalid_input (no MCP server), unsupported (no version in
  /// common).
  Task<Result<ServerInfo>> connect();

  /// All pages; at most 64 of them, 512 tools, 64 KiB a schema. Tools that are malformed are left out, long
  /// descriptions are cut.
  Task<Result<ToolPage>> list_tools();

  /// The raw result of `tools/call`. An error of the server is Errc::invalid_input with its words. The tool
  /// should have been listed by list_tools(): its schema says which arguments are mirrored as headers.
  Task<Result<nlohmann::json>> call_tool(std::string name, nlohmann::json arguments, RequestOptions options);

  /// Any other request, for what has no function of its own. `name`: what `Mcp-Name` says; may be empty.
  Task<Result<RpcReply>> request(std::string method, nlohmann::json params, std::string name,
                                 RequestOptions options);

  /// Keeps the stream open on which the server says that its list of tools has changed, and calls `changed`
  /// then. Returns when the server offers no such stream, or when it is lost for good; the error says why.
  Task<Result<>> listen(std::function<void()> changed);

  /// Says goodbye: a legacy session is deleted. Nothing may be called afterwards.
  Task<> close();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace parley::mcp
