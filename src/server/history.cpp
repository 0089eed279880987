#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <ctime>
#include <iostream>
#include <sstream>
#include <system_error>

#include "parley/core/error.hpp"
#include "parley/core/log.hpp"
#include "parley/core/text.hpp"
#include "parley/core/time_zone.hpp"
#include "parley/server/app.hpp"

namespace parley::server {
namespace {

using engine::ConversationArchive;
using engine::Message;
using engine::PastTurn;

[[noreturn]] void refuse(const std::string& why) {
  throw Failure(Error(Errc::configuration, why));
}

std::string formatted(WallTime time, const char* format, const std::string& zone) {
  const auto moment = TimeZone(zone).local(time);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &moment)};
}

std::string shown(WallTime time) {
  return formatted(time, "%Y-%m-%d %H:%M:%S", "");
}

std::string iso(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto millis = std::chrono::duration_cast<Millis>(time - seconds).count();
  const std::time_t unix_time = std::chrono::system_clock::to_time_t(seconds);
  std::tm moment{};
  gmtime_r(&unix_time, &moment);
  std::array<char, 64> text{};
  const std::string whole(text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &moment));
  const auto fraction = std::to_string(1000 + millis);
  return whole + "." + fraction.substr(1) + "Z";
}

/// What people and models said must not steer the terminal.
nlohmann::ordered_json to_json(const PastTurn& turn) {
  nlohmann::ordered_json out;
  out["at"] = iso(turn.at);
  out["user"] = turn.user_text;
  auto& reply = out["reply"] = nlohmann::ordered_json::array();
  for (const auto& message : turn.reply) {
    nlohmann::ordered_json entry;
    entry["role"] = message.role == Message::Role::tool ? "tool" : "assistant";
    if (!message.text.empty()) entry["text"] = message.text;
    for (const auto& call : message.calls) {
      entry["calls"].push_back({{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
    }
    if (!message.call_id.empty()) entry["call_id"] = message.call_id;
    if (message.failed) entry["failed"] = true;
    reply.push_back(std::move(entry));
  }
  return out;
}

std::string json_lines(const std::vector<PastTurn>& turns) {
  std::string out;
  for (const auto& turn : turns) {
    out += to_json(turn).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return out;
}

void print_turns(const std::vector<PastTurn>& turns) {
  for (const auto& turn : turns) {
    const auto time = shown(turn.at);
    const std::string indent(time.size(), ' ');
    std::cout << time << "  you     " << printable(turn.user_text) << "\n";
    for (const auto& message : turn.reply) {
      if (message.role == Message::Role::tool) {
        std::cout << indent << (message.failed ? "  failed  " : "  result  ") << printable(message.text)
                  << "\n";
        continue;
      }
      if (!message.text.empty()) std::cout << indent << "  parley  " << printable(message.text) << "\n";
      for (const auto& call : message.calls) {
        const auto arguments = call.arguments.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        std::cout << indent << "  calls   " << printable(call.name + " " + arguments) << "\n";
      }
    }
  }
}

void list_devices(const std::vector<ConversationArchive::Device>& devices, bool json) {
  if (devices.empty() && !json) std::cout << "there are no conversations\n";
  for (const auto& device : devices) {
    if (json) {
      nlohmann::ordered_json line;
      line["device"] = device.id;
      line["turns"] = device.turns;
      line["first"] = iso(device.first);
      line["last"] = iso(device.last);
      std::cout << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    } else {
      std::cout << printable(device.id) << "  " << device.turns << (device.turns == 1 ? " turn" : " turns")
                << ", " << shown(device.first) << " to " << shown(device.last) << "\n";
    }
  }
}

[[noreturn]] void refuse_unknown(const std::string& device,
                                 const std::vector<ConversationArchive::Device>& devices) {
  std::vector<std::string> ids;
  for (const auto& known : devices) ids.push_back(known.id);
  const auto close = config::nearest(device, ids);
  refuse("there is no conversation of " + printable(device) + "; " +
         (close.empty() ? "parley history without a device lists those that there are"
                        : "did you mean " + close + "?"));
}

/// A new file that only its owner may read.
void write_new(const std::filesystem::path& file, const std::string& text) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const auto fail = [&](int code) {
    refuse("cannot export to " + file.string() + ": " + std::generic_category().message(code));
  };
  if (descriptor < 0) fail(errno);
  std::string_view left = text;
  int failed = 0;
  while (!left.empty() && failed == 0) {
    const auto written = ::write(descriptor, left.data(), left.size());
    if (written >= 0) left.remove_prefix(static_cast<std::size_t>(written));
    if (written < 0 && errno != EINTR) failed = errno;
  }
  if (failed == 0 && ::fsync(descriptor) != 0) failed = errno;
  if (::close(descriptor) != 0 && failed == 0) failed = errno;
  if (failed != 0) fail(failed);
}

void show(const HistoryOptions& options, const config::HistorySettings& settings) {
  if (settings.file.empty()) {
    refuse("history.file is not set in " + options.config.string() +
           ", so conversations are only in the memory of the running server");
  }
  if (options.device.empty() && (options.remove || !options.export_to.empty())) {
    refuse("which device? expected parley history DEVICE with --delete and --export");
  }
  const auto archive = open_archive(settings);
  if (options.device.empty()) return list_devices(archive->devices(), options.json);

  std::string device = options.device;
  std::ranges::transform(device, device.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto turns = archive->turns(device);
  if (turns.empty()) refuse_unknown(device, archive->devices());
  if (!options.export_to.empty()) {
    write_new(options.export_to, json_lines(turns));
    std::cerr << turns.size() << " turns of " << device << " are in " << options.export_to.string() << "\n";
  } else if (options.json) {
    std::cout << json_lines(turns);
  } else if (!options.remove) {
    print_turns(turns);
  }
  std::cout.flush();
  if (options.remove) {
    std::cerr << archive->remove(device) << " turns of " << device << " were deleted\n";
  }
}

}  // namespace

int history(const HistoryOptions& options) {
  log::configure(log::Level::warn, false, false);
  try {
    show(options, config::load(options.config).history);
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << "parley: " << failure.what() << "\n";
    return 2;
  }
}

}  // namespace parley::server
