#include "parley/mcp/mirrored_headers.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace parley::mcp {
namespace {

using nlohmann::json;

constexpr const char* kKey = "x-mcp-header";
constexpr std::string_view kPrefix = "=?base64?";
constexpr std::string_view kSuffix = "?=";
/// Where a value is not there for certain, or not at one place: a schema, or a list of them …
constexpr std::array kElsewhere = {"items",
                                   "prefixItems",
                                   "contains",
                                   "additionalProperties",
                                   "unevaluatedProperties",
                                   "unevaluatedItems",
                                   "propertyNames",
                                   "oneOf",
                                   "anyOf",
                                   "allOf",
                                   "not",
                                   "if",
                                   "then",
                                   "else"};
/// … or schemas by name.
constexpr std::array kElsewhereByName = {"patternProperties", "dependentSchemas", "$defs", "definitions"};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

class Scan {
 public:
  std::optional<Error> visit(const json& schema, bool reachable) {
    if (!schema.is_object()) return std::nullopt;
    if (const auto name = schema.find(kKey); name != schema.end()) {
      if (auto wrong = declare(schema, *name, reachable)) return wrong;
    }
    if (const auto properties = schema.find("properties");
        properties != schema.end() && properties->is_object()) {
      for (const auto& [key, child] : properties->items()) {
        path_.push_back(key);
        auto wrong = visit(child, reachable);
        path_.pop_back();
        if (wrong) return wrong;
      }
    }
    for (const auto* keyword : kElsewhere) {
      const auto below = schema.find(keyword);
      if (below == schema.end()) continue;
      if (auto wrong = below->is_array() ? visit_all(*below) : visit(*below, false)) return wrong;
    }
    for (const auto* keyword : kElsewhereByName) {
      const auto below = schema.find(keyword);
      if (below == schema.end() || !below->is_object()) continue;
      if (auto wrong = visit_all(*below)) return wrong;
    }
    return std::nullopt;
  }

  std::vector<MirroredHeader> found;

 private:
  std::optional<Error> visit_all(const json& schemas) {
    for (const auto& schema : schemas) {
      if (auto wrong = visit(schema, false)) return wrong;
    }
    return std::nullopt;
  }

  std::optional<Error> declare(const json& schema, const json& name, bool reachable) {
    const auto wrong = [](const std::string& why) {
      return Error(Errc::invalid_input, std::string(kKey) + " " + why);
    };
    if (!reachable || path_.empty()) return wrong("is not on a property that is always at the same place");
    if (!name.is_string()) return wrong("is not a text");
    const auto& header = name.get_ref<const std::string&>();
    if (!net::is_valid_header({header, ""})) return wrong("is no name that a header may have");
    const auto type = schema.find("type");
    if (type == schema.end() || (*type != "string" && *type != "integer" && *type != "boolean"))
      return wrong("is on a property that is no string, integer or boolean");
    if (!names_.insert(lower(header)).second) return wrong("names a header twice");
    found.push_back({path_, "Mcp-Param-" + header});
    return std::nullopt;
  }

  std::vector<std::string> path_;
  std::set<std::string> names_;
};

std::optional<std::string> plain_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_integer()) return value.dump();
  if (value.is_number_float() && value.get<double>() == std::trunc(value.get<double>()) &&
      std::abs(value.get<double>()) < 1e15)
    return std::to_string(static_cast<long long>(value.get<double>()));
  return std::nullopt;
}

std::string base64(std::string_view bytes) {
  std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const auto length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(length));
  return out;
}

}  // namespace

Result<std::vector<MirroredHeader>> mirrored_headers(const json& input_schema) {
  Scan scan;
  if (auto wrong = scan.visit(input_schema, true)) return *wrong;
  return std::move(scan.found);
}

std::vector<net::HttpHeader> headers_for(const std::vector<MirroredHeader>& declared, const json& arguments) {
  std::vector<net::HttpHeader> headers;
  for (const auto& [path, name] : declared) {
    const auto* value = &arguments;
    for (const auto& key : path) {
      const auto found = value->is_object() ? value->find(key) : value->end();
      value = value->is_object() && found != value->end() ? &*found : nullptr;
      if (value == nullptr) break;
    }
    const auto text = value == nullptr ? std::nullopt : plain_text(*value);
    if (text) headers.push_back({name, header_value(*text)});
  }
  return headers;
}

std::string header_value(std::string_view value) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  const bool plain = !value.empty() && !blank(value.front()) && !blank(value.back()) &&
                     std::ranges::all_of(value, [](char c) { return c >= 0x20 && c <= 0x7e; }) &&
                     !(value.starts_with(kPrefix) && value.ends_with(kSuffix));
  if (plain) return std::string(value);
  return std::string(kPrefix) + base64(value) + std::string(kSuffix);
}

}  // namespace parley::mcp
