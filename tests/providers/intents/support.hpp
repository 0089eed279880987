#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/engine/tool.hpp"
#include "providers/intents/catalog.hpp"
#include "providers/intents/loader.hpp"
#include "providers/intents/matcher.hpp"
#include "providers/intents/numbers.hpp"

namespace parley::providers::intents::test {

inline Catalog catalog_of(std::string_view yaml) {
  const auto node = config::Node::parse(yaml, "test.yaml");
  Catalog out = load_catalog({node});
  node.finish();
  return out;
}

inline Catalog builtin_catalog() {
  return load_catalog({builtin_document()});
}
inline Catalog coffee_catalog() {
  return load_catalog({config::Node::load(PARLEY_SOURCE_DIR "/config/examples/coffee-intents.yaml")});
}

/// The message that a configuration is refused with; empty when it is not.
inline std::string refusal_of(std::string_view yaml) {
  try {
    const Catalog catalog = catalog_of(yaml);
    const Matcher matcher(catalog);
  } catch (const Failure& failure) {
    return failure.error().message;
  }
  return {};
}

inline std::vector<bool> everything(const Catalog& catalog) {
  return std::vector<bool>(catalog.intents.size(), true);
}

inline engine::ToolSpec tool(std::string wire_name, std::string_view properties = "{}",
                             std::string_view required = "[]") {
  std::string name = wire_name;
  for (char& c : name) c = c == '.' ? '_' : c;
  return {.name = std::move(name),
          .wire_name = std::move(wire_name),
          .description = "",
          .input_schema = {{"type", "object"},
                           {"properties", nlohmann::json::parse(properties)},
                           {"required", nlohmann::json::parse(required)}}};
}

/// The tools of a device that has everything.
inline engine::ToolSet stock_tools() {
  constexpr std::string_view kColor = R"({"r": {"type": "integer", "minimum": 0, "maximum": 255},
                                          "g": {"type": "integer", "minimum": 0, "maximum": 255},
                                          "b": {"type": "integer", "minimum": 0, "maximum": 255}})";
  return {
      .id = "stock",
      .tools = {
          tool("self.audio_speaker.set_volume",
               R"({"volume": {"type": "integer", "minimum": 0, "maximum": 100}})", R"(["volume"])"),
          tool("self.camera.take_photo", R"({"question": {"type": "string"}})", R"(["question"])"),
          tool("self.get_device_status"),
          tool("self.lamp.get_state"),
          tool("self.lamp.turn_off"),
          tool("self.lamp.turn_on"),
          tool("self.light.set_rgb", kColor, R"(["r", "g", "b"])"),
          tool("self.screen.set_brightness",
               R"({"brightness": {"type": "integer", "minimum": 0, "maximum": 100}})", R"(["brightness"])"),
          tool("self.screen.set_theme", R"({"theme": {"type": "string"}})", R"(["theme"])"),
      }};
}

/// Those of a device, and Parley's own as far as intents use them.
inline engine::ToolSet stock_and_own_tools() {
  auto set = stock_tools();
  set.id = "stock and own";
  for (const char* name :
       {"parley__set_timer", "parley__set_reminder", "parley__list_reminders", "parley__cancel_reminder"}) {
    auto own = tool(name);
    own.server = "parley";
    own.input_schema = {{"type", "object"}};
    set.tools.push_back(std::move(own));
  }
  return set;
}

inline engine::ToolSet coffee_tools() {
  return {.id = "coffee",
          .tools = {tool("self.coffee.order_drink",
                         R"({"size": {"type": "string"}, "roast": {"type": "string"},
                             "number_of_shots": {"type": "string"}, "coffee_drink": {"type": "string"},
                             "milk_amount": {"type": "string"}, "sugar_amount": {"type": "string"}})",
                         R"(["coffee_drink"])")}};
}

/// Something that a template lets a person say.
struct Sample {
  std::vector<std::string> words;
  nlohmann::json slots = nlohmann::json::object();

  std::string text() const {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
    return out;
  }
};

/// Random expansions of templates.
class Sampler {
 public:
  explicit Sampler(const Catalog& catalog, unsigned seed = 1) : catalog_(catalog), random_(seed) {}

  Sample sentence(const Sentence& sentence) {
    Sample out;
    const Frame& frame = catalog_.frames[sentence.frame];
    if (frame.before) part(*frame.before, out);
    part(sentence.part, out);
    if (frame.after) part(*frame.after, out);
    return out;
  }

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

 private:
  void part(const Part& what, Sample& out) {
    switch (what.kind) {
      case Part::Kind::word:
        out.words.push_back(what.text);
        return;
      case Part::Kind::sequence:
        for (const Part& inner : what.parts) part(inner, out);
        return;
      case Part::Kind::choice:
        return part(what.parts[below(what.parts.size())], out);
      case Part::Kind::optional:
        if (below(2) == 1) part(what.parts.front(), out);
        return;
      case Part::Kind::permutation: {
        std::vector<const Part*> order;
        for (const Part& inner : what.parts) order.push_back(&inner);
        std::shuffle(order.begin(), order.end(), random_);
        for (const Part* inner : order) part(*inner, out);
        return;
      }
      case Part::Kind::rule:
        return part(catalog_.rules.at(what.text), out);
      case Part::Kind::list:
        break;
    }
    list(catalog_.lists.at(what.text), what.slot, out);
  }

  void list(const List& list, const std::string& slot, Sample& out) {
    if (list.kind == List::Kind::wildcard) {
      for (const char* word : {"anything", "at", "all"}) out.words.emplace_back(word);
      out.slots[slot] = "anything at all";
    } else if (list.kind == List::Kind::range) {
      const auto count = static_cast<std::size_t>((list.to - list.from) / list.step) + 1;
      const auto value = list.from + static_cast<std::int64_t>(below(count)) * list.step;
      const auto forms = spoken_number(value, catalog_.language);
      const auto& form = forms[below(forms.size())];
      out.words.insert(out.words.end(), form.begin(), form.end());
      out.slots[slot] = value;
    } else {
      const ListValue& value = list.values[below(list.values.size())];
      Sample said;
      part(value.said, said);
      out.words.insert(out.words.end(), said.words.begin(), said.words.end());
      out.slots[slot] = value.out ? *value.out : nlohmann::json(said.text());
    }
  }

  const Catalog& catalog_;
  std::mt19937 random_;
};

}  // namespace parley::providers::intents::test
