#include "providers/sqlite_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "parley/core/log.hpp"

namespace parley::providers::sqlite {
namespace {

constexpr std::chrono::milliseconds kBusyPatience{5'000};

/// A file and what it should hold.
struct Place {
  std::filesystem::path file;
  const Schema& schema;

  [[noreturn]] void refuse(const std::string& why) const {
    throw Failure(Error(Errc::configuration, std::string(schema.key) + ": " + file.string() + " " + why));
  }
};

std::string system_error(int code) {
  return std::error_code(code, std::generic_category()).message();
}

/// The library would create the file readable for whom the umask lets; its helper files follow its mode. An
/// existing one is not opened here: to close it again would take away the locks of this process.
void make_private(const Place& place, Database::Mode mode) {
  const auto& file = place.file;
  constexpr mode_t kOwner = S_IRUSR | S_IWUSR;
  struct stat found {};
  if (::stat(file.c_str(), &found) == 0) {
    if (S_ISDIR(found.st_mode)) place.refuse("is a directory; expected a file in it");
    // A device, or a pipe, is not ours to change.
    if (!S_ISREG(found.st_mode)) place.refuse("is no file");
    if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0 && ::chmod(file.c_str(), kOwner) != 0) {
      log::warn("what is kept can be read by other users of this machine", {{"file", file.string()}});
    }
    return;
  }
  if (mode == Database::Mode::existing) place.refuse("is not there: nothing was kept yet");
  std::error_code unknown;
  if (!std::filesystem::is_directory(file.parent_path(), unknown)) {
    place.refuse("cannot be made: there is no directory " + file.parent_path().string());
  }
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kOwner);
  if (descriptor < 0) place.refuse("cannot be made: " + system_error(errno));
  ::close(descriptor);
}

void set_up(Database& database, const Place& place) {
  const auto& schema = place.schema;
  const auto version = database.number("PRAGMA user_version");
  if (version > schema.version) {
    place.refuse("was written by a newer Parley (version " + std::to_string(version) + ", this one knows " +
                 std::to_string(schema.version) + "); use that one, or name another file");
  }
  const auto tables = database.number("SELECT count(*) FROM sqlite_schema");
  auto ours = database.prepare("SELECT count(*) FROM sqlite_schema WHERE name = ?");
  ours.bind(std::string_view(schema.table));
  const bool known = ours.step() && ours.integer(0) == 1;
  ours.run();
  if (tables > 0 && (version == 0 || !known)) {
    place.refuse("is a database of something else; name another file");
  }
  auto healthy = database.prepare("PRAGMA quick_check(1)");
  if (!healthy.step() || healthy.text(0) != "ok") {
    place.refuse("is damaged; move it away, and a new one is made");
  }
  healthy.run();
  database.execute("PRAGMA journal_mode = WAL");
  // A crash of the machine may cost the last turns, not the file.
  database.execute("PRAGMA synchronous = NORMAL");
  database.execute("PRAGMA secure_delete = ON");
  // Also shows now whether anything can be written at all.
  database.transaction([&] {
    if (database.number("PRAGMA user_version") == 0) database.execute(schema.sql);
  });
}

}  // namespace

Database open_file(const std::filesystem::path& file, Database::Mode mode, const Schema& schema) {
  const Place place{file.empty() ? file : std::filesystem::absolute(file).lexically_normal(), schema};
  try {
    if (!place.file.empty()) make_private(place, mode);
    Database database(place.file, mode, kBusyPatience);
    set_up(database, place);
    return database;
  } catch (const DatabaseError& failure) {
    if (failure.code() == SQLITE_NOTADB || failure.code() == SQLITE_CORRUPT) {
      place.refuse("is damaged or no database; move it away, and a new one is made");
    }
    place.refuse(std::string("cannot be used: ") + failure.what());
  }
}

}  // namespace parley::providers::sqlite
