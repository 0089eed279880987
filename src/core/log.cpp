#include "parley/core/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <nlohmann/json.hpp>

namespace parley::log {
namespace {

constexpr std::size_t kMaxValue = 200;

std::atomic<bool> show_private_{false};
std::atomic<bool> as_json_{false};

spdlog::logger& logger() {
  // Never destroyed: worker threads may still log while the process exits.
  static spdlog::logger& instance = *[] {
    auto* made = new spdlog::logger("parley", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v");
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return instance;
}

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::trace:
      return spdlog::level::trace;
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warn:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
    case Level::off:
      break;
  }
  return spdlog::level::off;
}

std::string_view shown_value(const Field& field) {
  if (field.is_private && !show_private_) return "<private>";
  return std::string_view(field.value).substr(0, kMaxValue);
}

std::string text_value(const Field& field) {
  const auto value = shown_value(field);
  std::string out;
  bool quote = value.empty();
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += '?';
      quote = true;
    } else {
      if (c == '"' || c == '\\') out += '\\';
      quote = quote || c == ' ' || c == '"' || c == '=';
      out += c;
    }
  }
  return quote ? "\"" + out + "\"" : out;
}

}  // namespace

Field private_field(std::string_view key, std::string_view value) {
  Field field(key, value);
  field.is_private = true;
  return field;
}

void configure(Level level, bool show_private, bool json) {
  show_private_ = show_private;
  as_json_ = json;
  logger().set_level(to_spdlog(level));
  logger().set_pattern(json ? "%v" : "%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v");
}

bool private_shown() {
  return show_private_;
}

bool parse_level(std::string_view name, Level& level) {
  constexpr std::pair<std::string_view, Level> names[] = {{"trace", Level::trace}, {"debug", Level::debug},
                                                          {"info", Level::info},   {"warn", Level::warn},
                                                          {"error", Level::error}, {"off", Level::off}};
  for (const auto& [text, value] : names) {
    if (text == name) {
      level = value;
      return true;
    }
  }
  return false;
}

void write(Level level, std::string_view message, Fields fields) {
  const auto severity = to_spdlog(level);
  if (!logger().should_log(severity)) return;
  if (as_json_) {
    nlohmann::ordered_json line;
    line["ts"] = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    line["level"] = std::string(spdlog::level::to_string_view(severity).data());
    line["msg"] = message;
    for (const auto& field : fields) line[std::string(field.key)] = shown_value(field);
    logger().log(severity, line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  std::string line(message);
  for (const auto& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    line += text_value(field);
  }
  logger().log(severity, line);
}

}  // namespace parley::log
