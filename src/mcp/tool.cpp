#include "parley/mcp/tool.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "parley/core/hex.hpp"

namespace parley::mcp {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxName = 64;
constexpr std::size_t kMaxResult = 16 * 1024;

bool allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::string tool_set_id(const std::vector<engine::ToolSpec>& tools) {
  std::string all;
  for (const auto& tool : tools) {
    for (const auto& part : {tool.name, tool.server, tool.wire_name, tool.description,
                             tool.input_schema.dump(), std::string(tool.confirm ? "confirm" : "")}) {
      all += part;
      all += '\0';
    }
  }
  return sha256_hex(all);
}

/// One object for equal sets, for as long as a session holds it.
std::shared_ptr<const engine::ToolSet> share(std::shared_ptr<const engine::ToolSet> set) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const engine::ToolSet>> known;
  const std::scoped_lock lock(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  auto& slot = known[set->id];
  if (auto existing = slot.lock()) return existing;
  slot = set;
  return set;
}

void append_part(std::string& text, std::string_view part) {
  if (part.empty()) return;
  if (!text.empty()) text += '\n';
  text += part;
}

std::string string_or(const json& object, const char* key, std::string fallback) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::move(fallback);
}

void append_content(std::string& text, const json& item) {
  if (!item.is_object()) return;
  const auto type = string_or(item, "type", "");
  if (type == "text") {
    append_part(text, string_or(item, "text", ""));
  } else if (type == "image") {
    const auto nested = item.find("image");
    const auto& image = nested != item.end() && nested->is_object() ? *nested : item;
    append_part(text, "[an image, " + string_or(image, "mimeType", "of unknown type") + "]");
  } else if (!type.empty()) {
    append_part(text, "[" + type.substr(0, 40) + "]");
  }
}

}  // namespace

Result<Tool> read_tool(const json& item) {
  if (!item.is_object()) return Error(Errc::invalid_input, "a tool is not an object");
  const auto name = item.find("name");
  if (name == item.end() || !name->is_string() || name->get_ref<const std::string&>().empty()) {
    return Error(Errc::invalid_input, "a tool has no name");
  }
  Tool tool;
  tool.name = name->get<std::string>();
  if (const auto text = item.find("description"); text != item.end() && text->is_string()) {
    tool.description = text->get<std::string>();
  }
  if (const auto schema = item.find("inputSchema"); schema != item.end() && schema->is_object()) {
    tool.input_schema = *schema;
  } else {
    tool.input_schema = {{"type", "object"}, {"properties", json::object()}};
  }
  if (const auto notes = item.find("annotations"); notes != item.end() && notes->is_object()) {
    tool.user_only = notes->value("audience", json()) == json::array({"user"});
    const auto says = [&](const char* hint) {
      const auto found = notes->find(hint);
      return found != notes->end() && found->is_boolean() && found->get<bool>();
    };
    tool.idempotent = says("readOnlyHint") || says("idempotentHint");
  }
  return tool;
}

std::string model_name(std::string_view server, std::string_view tool, bool cut) {
  std::string name(server);
  if (!name.empty()) name += "__";
  name += tool;
  for (auto& c : name) {
    if (!allowed(c)) c = '_';
  }
  if (!name.empty() && name.size() <= kMaxName && !cut) return name;
  const auto hash = sha256_hex(std::string(server) + '\0' + std::string(tool)).substr(0, 8);
  return name.substr(0, kMaxName - 1 - hash.size()) + '_' + hash;
}

std::shared_ptr<const engine::ToolSet> make_tool_set(const std::vector<Offer>& offers) {
  std::map<std::string, int> uses;
  for (const auto& [server, tools] : offers) {
    for (const auto& tool : *tools) ++uses[model_name(server, tool.name)];
  }
  auto set = std::make_shared<engine::ToolSet>();
  for (const auto& [server, tools] : offers) {
    std::set<std::string_view> wire_names;
    for (const auto& tool : *tools) {
      // A name that is listed twice is one tool: the first.
      if (tool.user_only || !wire_names.insert(tool.name).second) continue;
      const bool collides = uses[model_name(server, tool.name)] > 1;
      set->tools.push_back({model_name(server, tool.name, collides), server, tool.name, tool.description,
                            tool.input_schema, tool.confirm});
    }
  }
  std::ranges::sort(set->tools, {}, &engine::ToolSpec::name);
  set->id = tool_set_id(set->tools);
  return share(std::move(set));
}

engine::ToolResult read_call_result(const json& result) {
  if (!result.is_object()) return {"The tool gave a malformed result.", true};
  engine::ToolResult out;
  const auto content = result.find("content");
  if (content != result.end() && content->is_array()) {
    for (const auto& item : *content) append_content(out.text, item);
  } else if (content != result.end() && content->is_string()) {
    out.text = content->get<std::string>();
  } else {
    return {"The tool gave a malformed result.", true};
  }
  const auto failed = result.find("isError");
  out.failed = failed != result.end() && failed->is_boolean() && failed->get<bool>();
  if (out.failed && out.text.empty()) out.text = "The tool failed and did not say why.";
  if (out.text.size() > kMaxResult) {
    auto end = kMaxResult;
    while (end > 0 && (static_cast<unsigned char>(out.text[end]) & 0xC0U) == 0x80U) --end;
    out.text.resize(end);
    out.text += " […]";
  }
  return out;
}

}  // namespace parley::mcp
