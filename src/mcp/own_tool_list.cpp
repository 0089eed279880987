// What Parley's own tools are told to models as.
#include <algorithm>
#include <utility>

#include "parley/mcp/own_tools.hpp"

namespace parley::mcp {
namespace {

using nlohmann::json;

json object(json properties, json required = json::array()) {
  json out = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) out["required"] = std::move(required);
  return out;
}

json text(const char* description) {
  return {{"type", "string"}, {"description", description}};
}

json amount(const char* description) {
  return {{"type", "number"}, {"minimum", 0}, {"description", description}};
}

template <class Choices>
json choice(const Choices& choices) {
  json names = json::array({config::kOwnChoice});
  for (const auto& [name, what] : choices) names.push_back(name);
  return object({{"name", {{"type", "string"}, {"enum", std::move(names)}}}}, {"name"});
}

ToolList every_tool(const config::Settings& settings) {
  ToolList out;
  const auto add = [&](const char* name, const char* description, json schema) {
    out.push_back({.name = name, .description = description, .input_schema = std::move(schema)});
  };
  add("get_time", "The time and the date now.",
      object({{"zone", text("An IANA time zone such as Asia/Tokyo. Leave it out for where the user is.")}}));
  add("set_timer",
      "Sets a timer that speaks when it is over. The parts of its length are added; at most a day.",
      object({{"hours", amount("Hours")},
              {"minutes", amount("Minutes")},
              {"seconds", amount("Seconds")},
              {"name", text("What it is for in a word or two, such as pasta, if the user said so")}}));
  add("set_reminder", "Reminds the user of something, aloud. Give either `at` or `in_minutes`.",
      object({{"text", text("What to remind of, as it will be said to the user")},
              {"at", text("The user's local date and time, such as 2025-03-04T17:10")},
              {"in_minutes", amount("Minutes from now")}},
             {"text"}));
  add("list_reminders", "The timers that run, with the time left, and the reminders, with their ids.",
      object(json::object()));
  add("cancel_reminder",
      "Cancels one timer or reminder, by its id or by its name or text. Neither is needed where there is "
      "only one.",
      object({{"id", {{"type", "integer"}, {"description", "As in list_reminders"}}},
              {"name", text("The timer's name, or words of the reminder")},
              {"kind", {{"type", "string"}, {"enum", {"timer", "reminder"}}}}}));
  add("end_conversation",
      "Ends the conversation when your answer to this has been spoken. For when the user says goodbye.",
      object(json::object()));
  if (!settings.voices.empty()) {
    add("switch_voice", "Speaks with another voice for the rest of the conversation.",
        choice(settings.voices));
  }
  if (!settings.personas.empty()) {
    add("switch_persona", "Becomes another character for the rest of the conversation.",
        choice(settings.personas));
  }
  add("what_can_you_do", "What you are able to do, in short: your tools by where they are.",
      object(json::object()));
  return out;
}

ToolList enabled_tools(const config::Settings& settings, const config::Profile& profile) {
  auto out = every_tool(settings);
  std::erase_if(out, [&](const Tool& tool) {
    return std::ranges::find(profile.tools.disabled, tool.name) != profile.tools.disabled.end();
  });
  return out;
}

}  // namespace

OwnToolbox::OwnToolbox(const config::Settings& settings, const config::Profile& profile)
    : tools(std::make_shared<const ToolList>(enabled_tools(settings, profile))),
      zone_name(profile.timezone),
      zone(profile.timezone) {
}

}  // namespace parley::mcp
