#include "providers/sqlite_conversations.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "parley/core/log.hpp"
#include "providers/sqlite_file.hpp"

namespace parley::providers::sqlite {
namespace {

using engine::Message;
using engine::PastTurn;
using nlohmann::json;

constexpr Schema kSchema{.key = "history.file", .table = "turns", .version = 1, .sql = R"(
  CREATE TABLE turns (
    id INTEGER PRIMARY KEY,
    device TEXT NOT NULL,
    at INTEGER NOT NULL,  -- ms of Unix time
    user TEXT NOT NULL,
    reply TEXT NOT NULL   -- JSON: what the reply added, in order
  ) STRICT;
  CREATE INDEX turns_by_device ON turns (device, id);
  CREATE INDEX turns_by_time ON turns (at);
  PRAGMA user_version = 1;
)"};

constexpr std::pair<Message::Role, const char*> kRoles[] = {{Message::Role::system, "system"},
                                                            {Message::Role::user, "user"},
                                                            {Message::Role::assistant, "assistant"},
                                                            {Message::Role::tool, "tool"}};

std::int64_t to_stored(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

WallTime from_stored(std::int64_t time) {
  return WallTime(std::chrono::milliseconds(time));
}

json to_json(const Message& message) {
  json out;
  for (const auto& [role, name] : kRoles) {
    if (role == message.role) out["role"] = name;
  }
  if (!message.text.empty()) out["text"] = message.text;
  for (const auto& call : message.calls) {
    out["calls"].push_back({{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
  }
  if (!message.call_id.empty()) out["call_id"] = message.call_id;
  if (message.failed) out["failed"] = true;
  return out;
}

/// Throws json::exception where the text is none of ours.
Message from_json(const json& stored) {
  Message out;
  const auto& role = stored.at("role").get_ref<const std::string&>();
  const auto* const known =
      std::ranges::find_if(kRoles, [&](const auto& candidate) { return role == candidate.second; });
  if (known == std::end(kRoles)) throw json::other_error::create(501, "unknown role", &stored);
  out.role = known->first;
  out.text = stored.value("text", "");
  for (const auto& call : stored.value("calls", json::array())) {
    out.calls.push_back({.id = call.at("id"), .name = call.at("name"), .arguments = call.at("arguments")});
  }
  out.call_id = stored.value("call_id", "");
  out.failed = stored.value("failed", false);
  return out;
}

std::string write_reply(const std::vector<Message>& reply) {
  auto out = json::array();
  for (const auto& message : reply) out.push_back(to_json(message));
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// The turns of `SELECT at, user, reply`. What cannot be read is left out.
std::vector<PastTurn> read_turns(Statement& query) {
  std::vector<PastTurn> out;
  while (query.step()) {
    PastTurn turn{.user_text = query.text(1), .reply = {}, .at = from_stored(query.integer(0))};
    try {
      for (const auto& message : json::parse(query.text(2))) turn.reply.push_back(from_json(message));
    } catch (const json::exception& damaged) {
      log::warn("a stored turn cannot be read", {{"why", damaged.what()}});
      continue;
    }
    out.push_back(std::move(turn));
  }
  return out;
}

}  // namespace

Conversations::Conversations(const std::filesystem::path& file, Database::Mode mode)
    : database_(open_file(file, mode, kSchema)),
      insert_(database_.prepare("INSERT INTO turns (device, at, user, reply) VALUES (?, ?, ?, ?)")),
      trim_(database_.prepare("DELETE FROM turns WHERE device = ?1 AND id <= "
                              "(SELECT id FROM turns WHERE device = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)")),
      select_(database_.prepare("SELECT at, user, reply FROM turns WHERE device = ? AND at >= ? "
                                "ORDER BY id DESC LIMIT ?")),
      prune_(database_.prepare("DELETE FROM turns WHERE at < ?")) {
}

void Conversations::limit_size(std::size_t bytes) {
  const auto pages = static_cast<std::int64_t>(bytes) / database_.number("PRAGMA page_size");
  // A pragma takes no parameters; this is a number.
  const auto pragma = "PRAGMA max_page_count = " + std::to_string(pages);
  database_.number(pragma);
}

void Conversations::append(const std::string& device, const PastTurn& turn, std::size_t max_turns) {
  const auto reply = write_reply(turn.reply);
  database_.transaction([&] {
    insert_.bind(std::string_view(device), to_stored(turn.at), std::string_view(turn.user_text),
                 std::string_view(reply));
    insert_.run();
    trim_.bind(std::string_view(device), static_cast<std::int64_t>(max_turns)).run();
  });
}

std::vector<PastTurn> Conversations::newest(const std::string& device, std::size_t max_turns,
                                            WallTime since) {
  select_.bind(std::string_view(device), to_stored(since), static_cast<std::int64_t>(max_turns));
  auto out = read_turns(select_);
  std::ranges::reverse(out);
  return out;
}

std::size_t Conversations::prune(WallTime before) {
  prune_.bind(to_stored(before)).run();
  return static_cast<std::size_t>(database_.changes());
}

std::vector<engine::ConversationArchive::Device> Conversations::devices() {
  std::vector<Device> out;
  auto query = database_.prepare(
      "SELECT device, count(*), min(at), max(at) FROM turns GROUP BY device ORDER BY device");
  while (query.step()) {
    out.push_back({.id = query.text(0),
                   .turns = static_cast<std::size_t>(query.integer(1)),
                   .first = from_stored(query.integer(2)),
                   .last = from_stored(query.integer(3))});
  }
  return out;
}

std::vector<PastTurn> Conversations::turns(const std::string& device) {
  return newest(device, std::numeric_limits<std::int64_t>::max(), WallTime());
}

std::size_t Conversations::remove(const std::string& device) {
  auto statement = database_.prepare("DELETE FROM turns WHERE device = ?");
  statement.bind(std::string_view(device)).run();
  const auto removed = static_cast<std::size_t>(database_.changes());
  // The log of writes still holds the turns; where a server is reading, they go with its next checkpoint.
  auto checkpoint = database_.prepare("PRAGMA wal_checkpoint(TRUNCATE)");
  checkpoint.run();
  return removed;
}

}  // namespace parley::providers::sqlite
