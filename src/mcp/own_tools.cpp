#include "parley/mcp/own_tools.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "mcp/call_arguments.hpp"
#include "mcp/reminder_tools.hpp"
#include "mcp/spoken_time.hpp"

namespace parley::mcp {
namespace {

using nlohmann::json;
using Stream = std::unique_ptr<CallStream>;

constexpr std::size_t kMaxName = 60;       ///< bytes
constexpr std::size_t kMaxAbilities = 24;  ///< of one server

Stream said(std::string text) {
  return answered({std::move(text), false});
}
Stream failed(std::string text) {
  return answered({std::move(text), true});
}

/// `self.audio_speaker.set_volume` as words: "audio speaker set volume".
std::string as_words(std::string name) {
  constexpr std::string_view kSelf = "self.";
  if (name.starts_with(kSelf)) name.erase(0, kSelf.size());
  std::ranges::replace_if(
      name, [](char c) { return c == '.' || c == '_' || c == '-' || c == '/'; }, ' ');
  return name;
}

class OwnTools final : public ToolServer {
 public:
  explicit OwnTools(OwnToolsWiring wiring) : wiring_(std::move(wiring)) {}

  const std::string& key() const override { return key_; }
  std::shared_ptr<const ToolList> tools() const override { return wiring_.toolbox->tools; }

  Stream call(const std::string& tool, const json& arguments, Millis timeout) override {
    const auto& offered = *wiring_.toolbox->tools;
    const auto handler = std::ranges::find(kHandlers, tool, &Entry::first);
    if (handler == kHandlers.end() || std::ranges::find(offered, tool, &Tool::name) == offered.end()) {
      return failed("There is no tool named " + tool + ".");
    }
    return (this->*handler->second)(CallArguments(arguments), timeout);
  }

 private:
  using Handler = Stream (OwnTools::*)(const CallArguments&, Millis);
  using Entry = std::pair<std::string_view, Handler>;
  static const std::array<Entry, config::kOwnTools.size()> kHandlers;

  Stream get_time(const CallArguments& arguments, Millis /*timeout*/) {
    const auto zone = arguments.text("zone", kMaxName);
    if (!zone) return failed(zone.error().message);
    try {
      const auto there =
          (zone->empty() ? wiring_.toolbox->zone : TimeZone(*zone)).local(wiring_.wall_clock());
      return said("It is " + clock_time(there) + " on " + long_date(there) +
                  (zone->empty() ? "." : " in " + *zone + "."));
    } catch (const Failure&) {
      return failed("There is no time zone named " + *zone + ". Use an IANA name such as Asia/Tokyo.");
    }
  }

  Stream set_timer(const CallArguments& arguments, Millis timeout) {
    return reminders_.set_timer(arguments, timeout);
  }
  Stream set_reminder(const CallArguments& arguments, Millis timeout) {
    return reminders_.set_reminder(arguments, timeout);
  }
  Stream list_reminders(const CallArguments& /*arguments*/, Millis /*timeout*/) { return reminders_.list(); }
  Stream cancel_reminder(const CallArguments& arguments, Millis /*timeout*/) {
    return reminders_.cancel(arguments);
  }

  Stream end_conversation(const CallArguments& /*arguments*/, Millis /*timeout*/) {
    wiring_.control->end_conversation();
    return said("The conversation ends after your next words.");
  }

  /// The name, where the schema of `tool` offers it.
  Result<std::string> choice(const char* tool, const CallArguments& arguments) const {
    auto name = arguments.text("name", kMaxName);
    if (!name) return name;
    const auto& offered = *wiring_.toolbox->tools;
    const auto found = std::ranges::find(offered, tool, &Tool::name);
    const auto& names = found->input_schema.at("properties").at("name").at("enum");
    if (std::ranges::find(names, json(*name)) != names.end()) return name;
    std::string list;
    for (const auto& known : names) list += (list.empty() ? "" : ", ") + known.get<std::string>();
    return Error(Errc::invalid_input, "There is none of that name. There are: " + list + ".");
  }

  Stream switch_voice(const CallArguments& arguments, Millis /*timeout*/) {
    const auto name = choice("switch_voice", arguments);
    if (!name) return failed(name.error().message);
    wiring_.control->use_voice(*name);
    return said("This is the voice now.");
  }

  Stream switch_persona(const CallArguments& arguments, Millis /*timeout*/) {
    const auto name = choice("switch_persona", arguments);
    if (!name) return failed(name.error().message);
    wiring_.control->use_persona(*name);
    return said("From your next answer on you are " +
                (*name == config::kOwnChoice ? std::string("yourself again") : *name) + ".");
  }

  Stream what_can_you_do(const CallArguments& /*arguments*/, Millis /*timeout*/) {
    std::map<std::string, std::vector<std::string>> servers;
    for (const auto& tool : wiring_.control->tools_at_hand()->tools) {
      servers[tool.server].push_back(as_words(tool.wire_name));
    }
    std::string out;
    for (const auto& [server, names] : servers) {
      out += (out.empty() ? "" : " ") + (server.empty()      ? std::string("On the device: ")
                                         : server == kOwnKey ? std::string("By myself: ")
                                                             : "With " + as_words(server) + ": ");
      for (std::size_t i = 0; i < std::min(names.size(), kMaxAbilities); ++i) {
        out += (i == 0 ? "" : ", ") + names[i];
      }
      if (names.size() > kMaxAbilities)
        out += ", and " + std::to_string(names.size() - kMaxAbilities) + " more";
      out += ".";
    }
    return said(std::move(out));
  }

  OwnToolsWiring wiring_;
  ReminderTools reminders_{wiring_};
  std::string key_{kOwnKey};
};

const std::array<OwnTools::Entry, config::kOwnTools.size()> OwnTools::kHandlers = {
    {{"get_time", &OwnTools::get_time},
     {"set_timer", &OwnTools::set_timer},
     {"set_reminder", &OwnTools::set_reminder},
     {"list_reminders", &OwnTools::list_reminders},
     {"cancel_reminder", &OwnTools::cancel_reminder},
     {"end_conversation", &OwnTools::end_conversation},
     {"switch_voice", &OwnTools::switch_voice},
     {"switch_persona", &OwnTools::switch_persona},
     {"what_can_you_do", &OwnTools::what_can_you_do}}};

}  // namespace

std::shared_ptr<ToolServer> make_own_tools(OwnToolsWiring wiring) {
  return std::make_shared<OwnTools>(std::move(wiring));
}

}  // namespace parley::mcp
