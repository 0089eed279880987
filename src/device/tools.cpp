#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "parley/device/mcp_server.hpp"

namespace parley::device {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kMaxToolFile = 8UL * 1024 * 1024;

/// What the tools of one board share.
struct Board {
  int volume = 70;
  int brightness = 75;
  std::string theme = "light";
  bool lamp = false;
  int red = 0;
  int green = 0;
  int blue = 0;
};

ordered_json no_arguments() {
  return {{"type", "object"}, {"properties", ordered_json::object()}, {"required", ordered_json::array()}};
}

ordered_json integer(int low, int high) {
  return {{"type", "integer"}, {"minimum", low}, {"maximum", high}};
}

ordered_json arguments(const ordered_json& properties) {
  auto schema = no_arguments();
  schema["properties"] = properties;
  for (const auto& [name, property] : properties.items()) schema["required"].push_back(name);
  return schema;
}

using Run = std::function<Result<ordered_json>(Board&, const json&)>;

Tool tool(const std::shared_ptr<Board>& board, std::string name, std::string description, ordered_json schema,
          Run run) {
  Tool made;
  made.name = std::move(name);
  made.description = std::move(description);
  made.input_schema = std::move(schema);
  made.run = [board, run = std::move(run)](const json& given) { return run(*board, given); };
  return made;
}

ordered_json status(const Board& board) {
  return {{"audio_speaker", {{"volume", board.volume}}},
          {"screen", {{"brightness", board.brightness}, {"theme", board.theme}}},
          {"battery", {{"level", 84}, {"charging", false}}},
          {"network", {{"type", "wifi"}, {"ssid", "home"}, {"signal", "strong"}}}};
}

Error entry_error(std::size_t index, const std::string& complaint) {
  return {Errc::invalid_input, "entry " + std::to_string(index + 1) + " of the tools: " + complaint};
}

Result<Tool> parse_tool(const ordered_json& entry, std::size_t index) {
  if (!entry.is_object()) return entry_error(index, "an object was expected");
  const auto text = [&](const char* key) -> std::string {
    const auto found = entry.find(key);
    return found != entry.end() && found->is_string() ? found->get<std::string>() : "";
  };
  Tool made;
  made.name = text("name");
  made.description = text("description");
  if (made.name.empty()) return entry_error(index, "\"name\" must be a text");
  made.input_schema = entry.value("inputSchema", no_arguments());
  if (!made.input_schema.is_object()) return entry_error(index, "\"inputSchema\" must be an object");
  const auto delay = entry.value("delay_ms", ordered_json(0));
  constexpr int longest = 600'000;
  if (!delay.is_number_integer() || delay < 0 || delay > longest) {
    return entry_error(index, "\"delay_ms\" must be a number from 0 to 600000");
  }
  made.delay = Millis(delay.get<int>());
  made.user_only = entry.value("user_only", ordered_json(false)) == true;
  if (entry.contains("error")) {
    if (!entry["error"].is_string()) return entry_error(index, "\"error\" must be a text");
    made.run = [message = text("error")](const json&) -> Result<ordered_json> {
      return Error(Errc::invalid_input, message);
    };
  } else {
    made.run = [result = entry.value("result", ordered_json(true))](const json&) -> Result<ordered_json> {
      return result;
    };
  }
  return made;
}

}  // namespace

std::vector<Tool> stock_tools() {
  const auto board = std::make_shared<Board>();
  const auto yes = [] { return ordered_json(true); };
  std::vector<Tool> tools;
  tools.push_back(tool(board, "self.get_device_status",
                       "The device's state now: speaker volume, screen, battery, network. "
                       "Ask it before changing a setting by a relative amount.",
                       no_arguments(), [](Board& b, const json&) { return status(b); }));
  tools.push_back(tool(board, "self.audio_speaker.set_volume", "Sets the speaker's volume in percent.",
                       arguments({{"volume", integer(0, 100)}}), [yes](Board& b, const json& given) {
                         b.volume = given["volume"];
                         return yes();
                       }));
  tools.push_back(tool(board, "self.screen.set_brightness", "Sets the screen's brightness in percent.",
                       arguments({{"brightness", integer(0, 100)}}), [yes](Board& b, const json& given) {
                         b.brightness = given["brightness"];
                         return yes();
                       }));
  tools.push_back(tool(board, "self.screen.set_theme", "Sets the screen's theme: `light` or `dark`.",
                       arguments({{"theme", {{"type", "string"}}}}), [](Board& b, const json& given) {
                         const std::string theme = given["theme"];
                         const bool known = theme == "light" || theme == "dark";
                         if (known) b.theme = theme;
                         return ordered_json(known);
                       }));
  tools.push_back(
      tool(board, "self.lamp.turn_on", "Turns the lamp on.", no_arguments(), [yes](Board& b, const json&) {
        b.lamp = true;
        return yes();
      }));
  tools.push_back(
      tool(board, "self.lamp.turn_off", "Turns the lamp off.", no_arguments(), [yes](Board& b, const json&) {
        b.lamp = false;
        return yes();
      }));
  tools.push_back(tool(board, "self.lamp.get_state", "Whether the lamp is on.", no_arguments(),
                       [](Board& b, const json&) {
                         return ordered_json{{"power", b.lamp}};
                       }));
  tools.push_back(tool(board, "self.light.set_rgb", "Sets the colour of the light.",
                       arguments({{"r", integer(0, 255)}, {"g", integer(0, 255)}, {"b", integer(0, 255)}}),
                       [yes](Board& b, const json& given) {
                         b.red = given["r"];
                         b.green = given["g"];
                         b.blue = given["b"];
                         return yes();
                       }));
  auto camera = tool(board, "self.camera.take_photo", "Takes a photo and answers a question about it.",
                     arguments({{"question", {{"type", "string"}}}}), [](Board&, const json&) {
                       return ordered_json{{"success", true}, {"response", "A red mug on a wooden table."}};
                     });
  camera.delay = Millis(800);
  camera.stalls = true;
  tools.push_back(std::move(camera));
  auto reboot =
      tool(board, "self.reboot", "Restarts the device.", no_arguments(), [yes](Board& b, const json&) {
        b = Board();
        return yes();
      });
  reboot.user_only = true;
  tools.push_back(std::move(reboot));
  return tools;
}

Result<std::vector<Tool>> parse_tools(std::string_view text) {
  const auto list = ordered_json::parse(text, nullptr, false);
  if (list.is_discarded()) return Error(Errc::invalid_input, "the tools are not valid JSON");
  if (!list.is_array()) return Error(Errc::invalid_input, "the tools must be a JSON list");
  std::vector<Tool> tools;
  for (const auto& entry : list) {
    auto made = parse_tool(entry, tools.size());
    if (!made) return made.error();
    const bool twice =
        std::any_of(tools.begin(), tools.end(), [&](const Tool& t) { return t.name == made->name; });
    if (twice) return entry_error(tools.size(), "the name \"" + made->name + "\" is there twice");
    tools.push_back(std::move(*made));
  }
  return tools;
}

Result<std::vector<Tool>> read_tools(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return Error(Errc::invalid_input, "cannot read the tools from " + file.string());
  std::string text;
  for (std::istreambuf_iterator<char> at(in), end; at != end && text.size() <= kMaxToolFile; ++at)
    text += *at;
  if (text.size() > kMaxToolFile) return Error(Errc::limit, file.string() + " is larger than 8 MiB");
  auto tools = parse_tools(text);
  if (!tools) return Error(tools.error().code, file.string() + ": " + tools.error().message);
  return tools;
}

}  // namespace parley::device
