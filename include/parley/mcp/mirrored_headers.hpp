#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "parley/core/error.hpp"
#include "parley/net/http_syntax.hpp"

// Arguments that a server wants to see as HTTP headers too (MCP 2026-07-28, `x-mcp-header`).
namespace parley::mcp {

struct MirroredHeader {
  std::vector<std::string> path;  ///< keys from the arguments down to the value
  std::string name;               ///< `Mcp-Param-…`

  friend bool operator==(const MirroredHeader&, const MirroredHeader&) = default;
};

/// The declarations in a tool's input schema. Errc::invalid_input: one is malformed (no RFC 9110 token,
/// twice, not on a string, integer or boolean, or not reached through `properties` alone); such a tool is not
/// used.
Result<std::vector<MirroredHeader>> mirrored_headers(const nlohmann::json& input_schema);

/// The headers for these arguments; what is absent, null or of no plain type is left out.
std::vector<net::HttpHeader> headers_for(const std::vector<MirroredHeader>& declared,
                                         const nlohmann::json& arguments);

/// A value as it may stand in a header: as it is, or `=?base64?…?=` where it is empty, not printable ASCII,
/// begins or ends with a blank, or looks encoded already.
std::string header_value(std::string_view value);

}  // namespace parley::mcp
