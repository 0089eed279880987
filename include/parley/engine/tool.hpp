#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace parley::engine {

/// One tool as the model sees it.
struct ToolSpec {
  /// Unique, `^[a-zA-Z0-9_-]{1,64}$`: what model APIs allow.
  std::string name;
  /// Where it is: the key of its server in the configuration; empty: the device.
  std::string server;
  /// The tool's own name on its server, `self.audio_speaker.set_volume`.
  std::string wire_name;
  std::string description;
  /// The JSON Schema of its arguments as the server sent it; an object.
  nlohmann::json input_schema;
  /// Called only when the person has agreed to this very call.
  bool confirm = false;
};

/// The tools of one session, sorted by name; immutable, shared by sessions with equal tools.
struct ToolSet {
  /// Equal ids are equal sets.
  std::string id;
  std::vector<ToolSpec> tools;

  const ToolSpec* find(std::string_view name) const {
    for (const auto& tool : tools) {
      if (tool.name == name) return &tool;
    }
    return nullptr;
  }
  /// A tool of the device by its own name.
  const ToolSpec* find_wire(std::string_view wire_name) const {
    for (const auto& tool : tools) {
      if (tool.server.empty() && tool.wire_name == wire_name) return &tool;
    }
    return nullptr;
  }
};

/// A call that the model asks for.
struct ToolCall {
  std::string id;
  std::string name;  ///< ToolSpec::name
  nlohmann::json arguments = nlohmann::json::object();
  /// What the model wrote instead of a JSON object: the call is not carried out, the model is told.
  std::optional<std::string> malformed = std::nullopt;
  /// The engine has asked the person itself, where ToolSpec::confirm wants that. Never a model's word.
  bool agreed = false;
};

/// What came back: always something the model can read.
struct ToolResult {
  std::string text;
  bool failed = false;
};

}  // namespace parley::engine
