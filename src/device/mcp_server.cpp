#include "parley/device/mcp_server.hpp"

#include <algorithm>
#include <utility>

namespace parley::device {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr auto kReplace = json::error_handler_t::replace;

std::string dump(const ordered_json& value) {
  return value.dump(-1, ' ', false, kReplace);
}

std::string reply_start(std::int64_t id) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id);
}

std::string result_text(std::int64_t id, std::string_view result) {
  return reply_start(id).append(R"(,"result":)").append(result).append("}");
}

std::string error_text(std::int64_t id, std::string_view message) {
  return reply_start(id).append(R"(,"error":{"message":")").append(message).append(R"("}})");
}

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string string_member(const json& object, const char* key) {
  const auto* const value = member(object, key);
  return value && value->is_string() ? value->get<std::string>() : "";
}

ordered_json describe(const Tool& tool) {
  ordered_json text{
      {"name", tool.name}, {"description", tool.description}, {"inputSchema", tool.input_schema}};
  if (tool.user_only) text["annotations"] = {{"audience", {"user"}}};
  return text;
}

/// The value that a property of `schema` takes, or an error in the firmware's way.
Result<json> fit_argument(const std::string& name, const json& schema, const json* given) {
  const auto type = string_member(schema, "type");
  const bool is_integer = type == "integer";
  if (given && is_integer && given->is_number()) {
    const auto value = given->is_number_integer() ? given->get<std::int64_t>()
                                                  : static_cast<std::int64_t>(given->get<double>());
    const auto* const low = member(schema, "minimum");
    const auto* const high = member(schema, "maximum");
    if (low && low->is_number() && static_cast<double>(value) < low->get<double>()) {
      return Error(Errc::invalid_input, "Value is below minimum allowed: " + low->dump());
    }
    if (high && high->is_number() && static_cast<double>(value) > high->get<double>()) {
      return Error(Errc::invalid_input, "Value exceeds maximum allowed: " + high->dump());
    }
    return json(value);
  }
  const bool fits =
      given && ((type == "boolean" && given->is_boolean()) || (type == "string" && given->is_string()) ||
                (!is_integer && type != "boolean" && type != "string"));
  if (fits) return *given;
  if (const auto* const fallback = member(schema, "default")) return *fallback;
  return Error(Errc::invalid_input, "Missing valid argument: " + name);
}

Result<json> fit_arguments(const json& schema, const json& given) {
  auto fitted = json::object();
  const auto* const properties = member(schema, "properties");
  if (!properties || !properties->is_object()) return fitted;
  const auto* const required = member(schema, "required");
  for (const auto& [name, property] : properties->items()) {
    const auto* const value = member(given, name.c_str());
    // A tool file may have optional properties; those of the firmware are required or have a default.
    const bool optional = required && required->is_array() &&
                          std::find(required->begin(), required->end(), json(name)) == required->end() &&
                          !member(property, "default");
    if (!value && optional) continue;
    auto one = fit_argument(name, property, value);
    if (!one) return one.error();
    fitted[name] = std::move(*one);
  }
  return fitted;
}

}  // namespace

McpServer::McpServer(std::vector<Tool> tools, std::size_t page_bytes)
    : tools_(std::move(tools)), page_bytes_(page_bytes) {
}

std::optional<McpReply> McpServer::handle(const json& payload) {
  const auto method = string_member(payload, "method");
  if (string_member(payload, "jsonrpc") != "2.0" || method.empty()) return std::nullopt;
  if (method.starts_with("notifications")) return std::nullopt;
  const auto* const params = member(payload, "params");
  const auto* const id = member(payload, "id");
  if ((params && !params->is_object()) || !id || !id->is_number_integer()) return std::nullopt;

  const auto number = id->get<std::int64_t>();
  const json given = params ? *params : json::object();
  if (method == "initialize") {
    if (const auto* const capabilities = member(given, "capabilities")) capabilities_ = *capabilities;
    initialized_ = true;
    constexpr std::string_view result =
        R"({"protocolVersion":"2024-11-05","capabilities":{"tools":{}},)"
        R"("serverInfo":{"name":"parley-device","version":")" PARLEY_VERSION R"("}})";
    return McpReply{result_text(number, result), {}, false, {}};
  }
  if (method == "tools/list") return McpReply{list(given, number), {}, false, {}};
  if (method == "tools/call") return call(given, number);
  return McpReply{error_text(number, "Method not implemented: " + method), {}, false, {}};
}

std::string McpServer::list(const json& params, std::int64_t id) const {
  const auto cursor = string_member(params, "cursor");
  const auto* const wanted = member(params, "withUserTools");
  const bool with_user_tools = wanted && wanted->is_boolean() && wanted->get<bool>();

  std::string page = R"({"tools":[)";
  std::string next;
  bool found = cursor.empty();
  bool any = false;
  for (const auto& tool : tools_) {
    found = found || tool.name == cursor;
    if (!found || (tool.user_only && !with_user_tools)) continue;
    const auto text = dump(describe(tool));
    // Room for `,"nextCursor":"…"` as well.
    if (page.size() + text.size() + tool.name.size() + 20 > page_bytes_) {
      if (!any) return error_text(id, "Failed to add tool " + tool.name + " because of payload size limit");
      next = tool.name;
      break;
    }
    if (any) page += ',';
    page += text;
    any = true;
  }
  page += ']';
  if (!next.empty()) page.append(R"(,"nextCursor":)").append(dump(next));
  return result_text(id, page + "}");
}

McpReply McpServer::call(const json& params, std::int64_t id) const {
  const auto* const name = member(params, "name");
  if (!name || !name->is_string()) return {error_text(id, "Missing name"), {}, false, {}};
  const auto* const given = member(params, "arguments");
  if (given && !given->is_object()) return {error_text(id, "Invalid arguments"), {}, false, {}};

  ToolCall record{name->get<std::string>(), given ? *given : json::object(), "", true};
  const auto tool =
      std::find_if(tools_.begin(), tools_.end(), [&](const Tool& each) { return each.name == record.name; });
  const auto refuse = [&](const std::string& message) {
    record.result = message;
    return McpReply{error_text(id, message), {}, false, record};
  };
  if (tool == tools_.end()) return refuse("Unknown tool: " + record.name);
  const auto arguments = fit_arguments(json(tool->input_schema), record.arguments);
  if (!arguments) return refuse(arguments.error().message);

  const auto outcome = tool->run(*arguments);
  McpReply reply{"", tool->delay, tool->stalls, {}};
  if (!outcome) {
    record.result = outcome.error().message;
    reply.payload = error_text(id, record.result);
  } else if (outcome->is_object() && outcome->contains("content") && (*outcome)["content"].is_array()) {
    record.result = dump((*outcome)["content"]);
    record.failed = outcome->value("isError", ordered_json(false)) == true;
    reply.payload = result_text(id, dump(*outcome));
  } else {
    record.result = outcome->is_string() ? outcome->get<std::string>() : dump(*outcome);
    record.failed = false;
    const ordered_json result{{"content", {{{"type", "text"}, {"text", record.result}}}}, {"isError", false}};
    reply.payload = result_text(id, dump(result));
  }
  reply.call = std::move(record);
  return reply;
}

std::string mcp_envelope(std::string_view payload, std::string_view session_id) {
  return R"({"session_id":)" + dump(session_id) + R"(,"type":"mcp","payload":)" + std::string(payload) + "}";
}

}  // namespace parley::device
