#include "parley/mcp/tool.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "parley/core/hex.hpp"
#include "parley/core/text.hpp"

namespace parley::mcp {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxName = 64;
constexpr std::size_t kMaxResult = std::size_t{16} * 1024;
/// Of names and types in the place of what cannot be read.
constexpr std::size_t kMaxNamed = 100;

std::string compact(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::string tool_set_id(const std::vector<engine::ToolSpec>& tools) {
  std::string all;
  for (const auto& tool : tools) {
    for (const auto& part : {tool.name, tool.server, tool.wire_name, tool.description,
                             compact(tool.input_schema), std::string(tool.confirm ? "confirm" : "")}) {
      // With its length, for what is in it may be anything.
      all += std::to_string(part.size()) + ':' + part;
    }
  }
  return sha256_hex(all);
}

/// One object for equal sets, for as long as a session holds it.
std::shared_ptr<const engine::ToolSet> share(std::shared_ptr<const engine::ToolSet> set) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const engine::ToolSet>> known;
  const std::scoped_lock lock(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  auto& slot = known[set->id];
  if (auto existing = slot.lock()) return existing;
  slot = set;
  return set;
}

/// Text that grows up to a limit, parts on lines of their own.
class Words {
 public:
  void add(std::string_view part) {
    if (part.empty() || full_) return;
    if (!text_.empty()) text_ += '\n';
    full_ = text_.size() + part.size() > kMaxResult;
    text_ += head(part, kMaxResult - std::min(kMaxResult, text_.size()));
    if (full_) text_ += " […]";
  }
  bool full() const { return full_; }
  bool empty() const { return text_.empty(); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  bool full_ = false;
};

/// A text member, or empty.
std::string_view word(const json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? std::string_view(found->get_ref<const std::string&>())
                                                     : std::string_view();
}

/// `[an image, image/png]`: what cannot be read, by its kind and what else is known of it.
std::string placeholder(std::string_view kind, std::string_view known) {
  std::string out = "[";
  out += head(kind, kMaxNamed);
  if (!known.empty()) (out += ", ") += head(known, kMaxNamed);
  return out += ']';
}

/// Its title and its name, where they differ. The address stays out: nobody wants to hear it.
std::string link(const json& item) {
  const auto name = word(item, "name");
  const auto title = word(item, "title");
  if (title.empty() || title == name) return placeholder("a link", name);
  return placeholder("a link", std::string(head(title, kMaxNamed)) +
                                   (name.empty() ? "" : " (" + std::string(head(name, kMaxNamed)) + ")"));
}

void add_content(Words& words, const json& item) {
  const auto type = word(item, "type");
  if (type == "text") {
    words.add(word(item, "text"));
  } else if (type == "image") {
    const auto nested = item.find("image");
    const auto format = word(nested != item.end() && nested->is_object() ? *nested : item, "mimeType");
    words.add(placeholder("an image", format.empty() ? "of unknown type" : format));
  } else if (type == "audio") {
    words.add(placeholder("a sound", word(item, "mimeType")));
  } else if (type == "resource_link") {
    words.add(link(item));
  } else if (type == "resource") {
    const auto found = item.find("resource");
    const auto& resource = found != item.end() ? *found : item;
    const auto text = word(resource, "text");
    words.add(text.empty() ? placeholder("a document", word(resource, "mimeType")) : std::string(text));
  } else if (!type.empty()) {
    words.add(placeholder(type, {}));
  }
}

bool has_text(const json& content) {
  return std::ranges::any_of(
      content, [](const json& item) { return word(item, "type") == "text" && !word(item, "text").empty(); });
}

}  // namespace

Result<Tool> read_tool(const json& item) {
  if (!item.is_object()) return Error(Errc::invalid_input, "a tool is not an object");
  const auto name = item.find("name");
  if (name == item.end() || !name->is_string() || name->get_ref<const std::string&>().empty()) {
    return Error(Errc::invalid_input, "a tool has no name");
  }
  Tool tool;
  tool.name = name->get<std::string>();
  if (const auto text = item.find("description"); text != item.end() && text->is_string()) {
    tool.description = text->get<std::string>();
  }
  if (const auto schema = item.find("inputSchema"); schema != item.end() && schema->is_object()) {
    tool.input_schema = *schema;
  } else {
    tool.input_schema = {{"type", "object"}, {"properties", json::object()}};
  }
  if (const auto notes = item.find("annotations"); notes != item.end() && notes->is_object()) {
    tool.user_only = notes->value("audience", json()) == json::array({"user"});
    const auto says = [&](const char* hint) {
      const auto found = notes->find(hint);
      return found != notes->end() && found->is_boolean() && found->get<bool>();
    };
    tool.idempotent = says("readOnlyHint") || says("idempotentHint");
  }
  return tool;
}

std::string model_name(std::string_view server, std::string_view tool, bool cut) {
  std::string name(server);
  if (!name.empty()) name += "__";
  name += tool;
  for (auto& c : name) {
    if (!allowed(c)) c = '_';
  }
  if (!name.empty() && name.size() <= kMaxName && !cut) return name;
  const auto hash = sha256_hex(std::string(server) + '\0' + std::string(tool)).substr(0, 8);
  return name.substr(0, kMaxName - 1 - hash.size()) + '_' + hash;
}

std::shared_ptr<const engine::ToolSet> make_tool_set(const std::vector<Offer>& offers) {
  std::map<std::string, int> uses;
  for (const auto& [server, tools] : offers) {
    for (const auto& tool : *tools) ++uses[model_name(server, tool.name)];
  }
  auto set = std::make_shared<engine::ToolSet>();
  for (const auto& [server, tools] : offers) {
    std::set<std::string_view> wire_names;
    for (const auto& tool : *tools) {
      // A name that is listed twice is one tool: the first.
      if (tool.user_only || !wire_names.insert(tool.name).second) continue;
      const bool collides = uses[model_name(server, tool.name)] > 1;
      set->tools.push_back({model_name(server, tool.name, collides), server, tool.name, tool.description,
                            tool.input_schema, tool.confirm});
    }
  }
  std::ranges::stable_sort(set->tools, {}, &engine::ToolSpec::name);
  // A server may call a tool what another one is called with its hash.
  const auto twice = std::ranges::unique(set->tools, {}, &engine::ToolSpec::name);
  set->tools.erase(twice.begin(), twice.end());
  set->id = tool_set_id(set->tools);
  return share(std::move(set));
}

engine::ToolResult read_call_result(const json& result) {
  const engine::ToolResult malformed{"The tool gave a malformed result.", true};
  if (!result.is_object()) return malformed;
  Words words;
  const auto content = result.find("content");
  const auto structured = result.find("structuredContent");
  const bool has_structured = structured != result.end() && !structured->is_null();
  if (content != result.end() && content->is_string()) {
    words.add(content->get_ref<const std::string&>());
  } else if (content != result.end() && content->is_array()) {
    // A server that gives both says the same twice.
    if (has_structured && !has_text(*content)) words.add(compact(*structured));
    for (const auto& item : *content) {
      if (words.full()) break;
      add_content(words, item);
    }
  } else if (content == result.end() && has_structured) {
    words.add(compact(*structured));
  } else {
    return malformed;
  }
  engine::ToolResult out;
  const auto failed = result.find("isError");
  out.failed = failed != result.end() && failed->is_boolean() && failed->get<bool>();
  if (words.empty() && out.failed) words.add("The tool failed and did not say why.");
  out.text = words.take();
  return out;
}

}  // namespace parley::mcp
