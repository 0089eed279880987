#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "parley/engine/stream.hpp"
#include "parley/engine/tool.hpp"

namespace parley::mcp {

/// A tool as its server describes it.
struct Tool {
  std::string name;
  std::string description;
  nlohmann::json input_schema = nlohmann::json::object();
  /// For a person only (annotations.audience is ["user"]): never shown to the model.
  bool user_only = false;
  /// By its annotations it may be called twice with the same arguments (readOnlyHint, idempotentHint).
  bool idempotent = false;
  /// Called only when the person has agreed to this very call.
  bool confirm = false;

  friend bool operator==(const Tool&, const Tool&) = default;
};

/// A tool from its server's list. Errc::invalid_input: it is no object, or has no name.
Result<Tool> read_tool(const nlohmann::json& item);

/// One running call: next() gives its one result. Destroying it abandons the call.
using CallStream = engine::EventStream<engine::ToolResult>;

/// `^[a-zA-Z0-9_-]{1,64}$` for models, from any tool name; `server` is empty for the device (MCP.md, section
/// 3). `cut`: always with the hash, for names that collide.
std::string model_name(std::string_view server, std::string_view tool, bool cut = false);

/// What one server (empty: the device) offers; `tools` outlives the call that it is given to.
struct Offer {
  std::string server;
  const std::vector<Tool>* tools = nullptr;
};

/// All tools as the model sees them, sorted by name, without those for people. Equal offers give the same
/// object, so a thousand equal devices hold one.
std::shared_ptr<const engine::ToolSet> make_tool_set(const std::vector<Offer>& offers);

/// One readable text of a `tools/call` result: its text parts and the text of embedded resources joined;
/// images, sounds, links and other bytes named instead of included, and never fetched; `structuredContent` as
/// JSON where there is no text part. At most 16 KiB, and a mark where it was cut. Understands `{content,
/// isError}` with both image forms of PROTOCOL.md section 5, and anything else as an error that says so.
engine::ToolResult read_call_result(const nlohmann::json& result);

}  // namespace parley::mcp
