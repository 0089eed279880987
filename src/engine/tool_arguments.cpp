#include "parley/engine/tool_arguments.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <string_view>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

namespace parley::engine {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 32;
constexpr std::array<std::string_view, 7> kTraps = {
    "$ref", "$dynamicRef", "$recursiveRef", "pattern", "patternProperties", "propertyNames", "format"};

json without_traps(const json& schema, int depth) {
  if (!schema.is_structured()) return schema;
  if (depth == kMaxDepth) return json::object();
  if (schema.is_array()) {
    json out = json::array();
    for (const auto& item : schema) out.push_back(without_traps(item, depth + 1));
    return out;
  }
  json out = json::object();
  for (const auto& [key, value] : schema.items()) {
    if (key == "properties" && value.is_object()) {
      // Its keys are names of arguments, whatever they are called.
      out[key] = json::object();
      for (const auto& [name, property] : value.items()) out[key][name] = without_traps(property, depth + 2);
    } else if (std::ranges::find(kTraps, key) == kTraps.end()) {
      out[key] = without_traps(value, depth + 1);
    }
  }
  return out;
}

/// The first reason and the argument it is about: "level: Value type not permitted by 'type' constraint."
std::string reason(valijson::ValidationResults& problems) {
  valijson::ValidationResults::Error problem;
  if (!problems.popError(problem)) return "they do not fit its input schema";
  std::string place;
  // "<root>", "[level]": the innermost names it.
  for (const auto& part : problem.context) {
    if (part.size() > 2 && part.front() == '[') place = part.substr(1, part.size() - 2);
  }
  return place.empty() ? problem.description : place + ": " + problem.description;
}

}  // namespace

json checkable_schema(const json& schema) {
  return without_traps(schema, 0);
}

Result<> check_arguments(const ToolSpec& tool, const json& arguments) {
  const auto refuse = [&](const std::string& why) {
    return Error(Errc::invalid_input, "The arguments of " + tool.name + " are invalid: " + why);
  };
  if (!arguments.is_object()) return refuse("they are not a JSON object.");
  if (!tool.input_schema.is_object() || tool.input_schema.empty()) return {};
  try {
    const json schema = checkable_schema(tool.input_schema);
    valijson::Schema compiled;
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema), compiled);
    valijson::Validator validator;
    valijson::ValidationResults problems;
    if (validator.validate(compiled, valijson::adapters::NlohmannJsonAdapter(arguments), &problems))
      return {};
    return refuse(reason(problems));
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace parley::engine
