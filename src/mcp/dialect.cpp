#include "mcp/dialect.hpp"

#include <algorithm>
#include <array>

#include "parley/core/text.hpp"
#include "parley/mcp/elicitation.hpp"

namespace parley::mcp {

using nlohmann::json;

namespace {

constexpr std::array kKnownVersions = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr std::size_t kMaxShown = 200;

}  // namespace

json client_info() {
  return {{"name", "parley"}, {"version", PARLEY_VERSION}};
}

json client_capabilities() {
  return {{"elicitation", {{"form", json::object()}}}};
}

std::string answer_to(const RpcMessage& request) {
  if (request.method == "ping") return rpc_result(request.id, json::object());
  if (request.method == "elicitation/create") return rpc_result(request.id, elicited(request.body));
  return rpc_error(request.id, code::kMethodNotFound, "the client does not offer " + request.method);
}

bool is_id(const json& id, std::int64_t ours) {
  return id.is_number_integer() && id == ours;
}

void read_server_info(const json& info, ServerInfo& into) {
  if (!info.is_object()) return;
  const auto text = [&](const char* key) {
    const auto found = info.find(key);
    return found != info.end() && found->is_string()
               ? std::string(head(found->get_ref<const std::string&>(), kMaxShown))
               : std::string();
  };
  into.name = text("name");
  into.version = text("version");
}

Result<ServerInfo> read_initialized(Era era, const json& result) {
  const auto version = result.is_object() ? result.find("protocolVersion") : result.end();
  if (!result.is_object() || version == result.end() || !version->is_string())
    return Error(Errc::invalid_input, "the server's answer to initialize names no version");
  if (std::ranges::find(kKnownVersions, version->get_ref<const std::string&>()) == kKnownVersions.end())
    return Error(Errc::unsupported, "the server insists on a version of MCP that is not known here");
  ServerInfo info{era, version->get<std::string>(), {}, {}};
  if (result.contains("serverInfo")) read_server_info(result["serverInfo"], info);
  return info;
}

Error refusal_error(const WireAnswer& answer) {
  const bool again = answer.status == 408 || answer.status == 429 || answer.status >= 500;
  return {Errc::unavailable, "the MCP server refuses: " + answer.said, again};
}

}  // namespace parley::mcp
