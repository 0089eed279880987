#include "providers/openai/chat_request.hpp"

#include <utility>

namespace parley::providers::openai {
namespace {

using engine::Message;
using nlohmann::json;

std::string dumped(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json call_json(const engine::ToolCall& call) {
  // Malformed arguments do not go back: some servers parse them, and the result says what was wrong.
  return {{"id", call.id},
          {"type", "function"},
          {"function", {{"name", call.name}, {"arguments", dumped(call.arguments)}}}};
}

json messages_json(const std::vector<Message>& messages) {
  auto list = json::array();
  for (const auto& message : messages) {
    switch (message.role) {
      case Message::Role::system:
        list.push_back({{"role", "system"}, {"content", message.text}});
        break;
      case Message::Role::user:
        list.push_back({{"role", "user"}, {"content", message.text}});
        break;
      case Message::Role::tool:
        list.push_back({{"role", "tool"}, {"tool_call_id", message.call_id}, {"content", message.text}});
        break;
      case Message::Role::assistant: {
        if (message.text.empty() && message.calls.empty()) break;  // APIs refuse an empty one.
        json said = {{"role", "assistant"}};
        said["content"] = message.text.empty() ? json() : json(message.text);
        for (const auto& call : message.calls) said["tool_calls"].push_back(call_json(call));
        list.push_back(std::move(said));
        break;
      }
    }
  }
  return list;
}

json tools_json(const engine::ToolSet& tools) {
  auto list = json::array();
  for (const auto& tool : tools.tools) {
    auto schema = tool.input_schema.is_object() ? tool.input_schema : json::object();
    if (!schema.contains("type")) schema["type"] = "object";
    if (!schema.contains("properties")) schema["properties"] = json::object();
    list.push_back(
        {{"type", "function"},
         {"function",
          {{"name", tool.name}, {"description", tool.description}, {"parameters", std::move(schema)}}}});
  }
  return list;
}

}  // namespace

json chat_body(const OpenAiLlmSettings& settings, const engine::ChatRequest& request) {
  json body = {{"model", settings.model}, {"messages", messages_json(request.messages)}, {"stream", true}};
  if (settings.usage) body["stream_options"] = {{"include_usage", true}};
  if (settings.temperature) body["temperature"] = *settings.temperature;
  if (settings.max_tokens) body["max_tokens"] = *settings.max_tokens;
  if (settings.tools && !request.tools->tools.empty()) {
    body["tools"] = tools_json(*request.tools);
    if (settings.parallel_tool_calls) body["parallel_tool_calls"] = *settings.parallel_tool_calls;
  }
  engine::add_extra(body, settings.extra_body);
  return body;
}

}  // namespace parley::providers::openai
