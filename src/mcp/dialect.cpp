#include "mcp/dialect.hpp"

#include "parley/mcp/elicitation.hpp"

namespace parley::mcp {

using nlohmann::json;

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
    return found != info.end() && found->is_string() ? found->get<std::string>().substr(0, 200)
                                                     : std::string();
  };
  into.name = text("name");
  into.version = text("version");
}

Error refusal_error(const WireAnswer& answer) {
  const bool again = answer.status == 408 || answer.status == 429 || answer.status >= 500;
  return {Errc::unavailable, "the MCP server refuses: " + answer.said, again};
}

}  // namespace parley::mcp
