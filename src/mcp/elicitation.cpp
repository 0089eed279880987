#include "parley/mcp/elicitation.hpp"

namespace parley::mcp {

using nlohmann::json;

json elicited(const json& params) {
  const json declined = {{"action", "decline"}};
  if (!params.is_object()) return declined;
  if (const auto mode = params.find("mode"); mode != params.end() && *mode != "form") return declined;
  const auto schema = params.find("requestedSchema");
  if (schema == params.end() || !schema->is_object()) return declined;
  json content = json::object();
  if (const auto properties = schema->find("properties");
      properties != schema->end() && properties->is_object()) {
    for (const auto& [name, property] : properties->items()) {
      if (property.is_object() && property.contains("default")) content[name] = property["default"];
    }
  }
  if (const auto required = schema->find("required"); required != schema->end() && required->is_array()) {
    for (const auto& name : *required) {
      if (!name.is_string() || !content.contains(name.get_ref<const std::string&>())) return declined;
    }
  }
  // Without a single default it asks for consent, which only a person can give.
  if (content.empty()) return declined;
  return {{"action", "accept"}, {"content", content}};
}

}  // namespace parley::mcp
