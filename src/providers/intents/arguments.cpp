#include "providers/intents/arguments.hpp"

#include <charconv>
#include <cmath>
#include <exception>
#include <string>
#include <utility>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "parley/engine/tool_arguments.hpp"

namespace parley::providers::intents {
namespace {

using nlohmann::json;

/// Any type that a schema allows for one property; `type` may be a name or a list of names.
bool allows(const json& schema, std::string_view type) {
  const auto found = schema.is_object() ? schema.find("type") : schema.end();
  if (!schema.is_object() || found == schema.end()) return false;
  if (found->is_string()) return found->get_ref<const std::string&>() == type;
  if (!found->is_array()) return false;
  for (const json& one : *found) {
    if (one.is_string() && one.get_ref<const std::string&>() == type) return true;
  }
  return false;
}

template <class Number>
bool parse(const std::string& text, Number& out) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && stop == text.data() + text.size();
}

json convert(json value, const json& schema) {
  const bool wants_text = allows(schema, "string");
  if (value.is_string() && !wants_text) {
    const std::string text = value.get<std::string>();
    std::int64_t integer = 0;
    double real = 0;
    if ((allows(schema, "integer") || allows(schema, "number")) && parse(text, integer)) return integer;
    if (allows(schema, "number") && parse(text, real) && std::isfinite(real)) return real;
    if (allows(schema, "boolean") && (text == "true" || text == "false")) return text == "true";
  }
  if (value.is_number_float() && allows(schema, "integer") && !allows(schema, "number")) {
    const double real = value.get<double>();
    if (std::abs(real) < 9e15 && real == std::round(real)) return static_cast<std::int64_t>(real);
  }
  if (wants_text && (value.is_number() || value.is_boolean()) && !allows(schema, "integer") &&
      !allows(schema, "number") && !allows(schema, "boolean")) {
    return value.dump();
  }
  return value;
}

}  // namespace

Result<json> make_arguments(const Step& step, const engine::ToolSpec& tool, const json& scope) {
  const json& schema = tool.input_schema;
  static const json kAnything = json::object();
  const auto properties = schema.is_object() ? schema.find("properties") : schema.end();
  const auto schema_of = [&](const std::string& name) -> const json& {
    if (!schema.is_object() || properties == schema.end() || !properties->is_object()) return kAnything;
    const auto found = properties->find(name);
    return found == properties->end() ? kAnything : *found;
  };

  json out = json::object();
  for (const auto& [name, value] : step.arguments) {
    if (auto evaluated = value.evaluate(scope)) out[name] = convert(*std::move(evaluated), schema_of(name));
  }
  if (schema.is_null() || schema.empty()) return out;

  const json checkable = engine::checkable_schema(schema);
  valijson::Schema compiled;
  try {
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(checkable), compiled);
  } catch (const std::exception& problem) {
    return Error(Errc::unsupported,
                 "the input schema of " + tool.name + " cannot be checked: " + problem.what());
  }
  valijson::Validator validator;
  valijson::ValidationResults problems;
  if (validator.validate(compiled, valijson::adapters::NlohmannJsonAdapter(out), &problems)) return out;
  valijson::ValidationResults::Error problem;
  problems.popError(problem);
  return Error(Errc::invalid_input, "arguments of " + tool.name + ": " + problem.description);
}

}  // namespace parley::providers::intents
