#pragma once

#include <functional>
#include <memory>
#include <string>

#include "parley/config/settings.hpp"
#include "parley/core/clock.hpp"
#include "parley/core/time_zone.hpp"
#include "parley/mcp/reminder_book.hpp"
#include "parley/mcp/tool_server.hpp"

namespace parley::mcp {

/// The key of Parley's own tools: the model knows them as `parley__set_timer` …
inline constexpr std::string_view kOwnKey = "parley";

/// What Parley's own tools may do to the session that they belong to.
class SessionControl {
 public:
  SessionControl() = default;
  SessionControl(const SessionControl&) = delete;
  SessionControl& operator=(const SessionControl&) = delete;
  SessionControl(SessionControl&&) = delete;
  SessionControl& operator=(SessionControl&&) = delete;
  virtual ~SessionControl() = default;

  /// After the reply that is running.
  virtual void end_conversation() = 0;
  /// For the rest of the session; a name of Settings::personas or ::voices, or config::kOwnChoice.
  virtual void use_persona(const std::string& name) = 0;
  virtual void use_voice(const std::string& name) = 0;
  /// Of all servers, these here included.
  virtual std::shared_ptr<const engine::ToolSet> tools_at_hand() const = 0;
};

/// Parley's own tools as one profile has them; immutable, shared by its sessions.
struct OwnToolbox {
  /// Throws Failure where the profile's zone is not known.
  OwnToolbox(const config::Settings& settings, const config::Profile& profile);

  std::shared_ptr<const ToolList> tools;  ///< all that are not disabled; never null
  std::string zone_name;                  ///< empty: the server's own
  TimeZone zone;
};

struct OwnToolsWiring {
  std::shared_ptr<const OwnToolbox> toolbox;
  std::shared_ptr<ReminderBook> reminders;
  SessionControl* control = nullptr;  ///< outlives the tools and their calls
  std::shared_ptr<Scheduler> scheduler;
  asio::any_io_executor executor;
  std::function<WallTime()> wall_clock;
  std::string device;  ///< empty: it has no name to find it by again, so nothing is kept for it
};

/// For one session. Their results are sentences that can be spoken.
std::shared_ptr<ToolServer> make_own_tools(OwnToolsWiring wiring);

}  // namespace parley::mcp
