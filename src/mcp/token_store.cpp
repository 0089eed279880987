#include "parley/mcp/token_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "parley/core/hex.hpp"

namespace parley::mcp {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxFile = std::size_t{4} * 1024 * 1024;
constexpr int kVersion = 1;

std::string why(int number) {
  return std::system_category().message(number);
}

/// Closes what it holds.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? std::string() : found->get<std::string>();
}

std::int64_t seconds_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? 0 : found->get<std::int64_t>();
}

OAuthCredentials credentials_of(const json& entry) {
  OAuthCredentials held;
  held.issuer = entry.at("issuer").get<std::string>();
  held.resource = text_of(entry, "resource");
  held.access_token = text_of(entry, "access_token");
  held.refresh_token = text_of(entry, "refresh_token");
  held.scope = text_of(entry, "scope");
  held.wanted_scope = text_of(entry, "wanted_scope");
  held.expires_at = seconds_of(entry, "expires_at");
  const auto& client = entry.at("client");
  held.client.id = text_of(client, "id");
  held.client.secret = text_of(client, "secret");
  held.client.auth_method = text_of(client, "auth_method");
  held.client.redirect_uri = text_of(client, "redirect_uri");
  held.client.registered = client.value("registered", false);
  held.client.secret_expires_at = seconds_of(client, "secret_expires_at");
  return held;
}

json json_of(const OAuthCredentials& held) {
  return {{"issuer", held.issuer},
          {"resource", held.resource},
          {"access_token", held.access_token},
          {"refresh_token", held.refresh_token},
          {"scope", held.scope},
          {"wanted_scope", held.wanted_scope},
          {"expires_at", held.expires_at},
          {"client",
           {{"id", held.client.id},
            {"secret", held.client.secret},
            {"auth_method", held.client.auth_method},
            {"redirect_uri", held.client.redirect_uri},
            {"registered", held.client.registered},
            {"secret_expires_at", held.client.secret_expires_at}}}};
}

Error cannot(const std::string& what, const std::filesystem::path& file, int number) {
  return {Errc::configuration, "cannot " + what + " " + file.string() + ": " + why(number)};
}

/// A new file beside `file` that takes its place when it is complete.
Result<> replace(const std::filesystem::path& file, const std::string& content) {
  auto fresh = file;
  fresh += "." + random_hex(6);
  const Descriptor out(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!out) return cannot("write", fresh, errno);
  const auto give_up = [&](int number) -> Result<> {
    ::unlink(fresh.c_str());
    return cannot("write", file, number);
  };
  for (std::size_t at = 0; at < content.size();) {
    const auto count = ::write(out.get(), content.data() + at, content.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return give_up(errno);
    at += static_cast<std::size_t>(count);
  }
  if (::fsync(out.get()) != 0) return give_up(errno);
  if (::rename(fresh.c_str(), file.c_str()) != 0) return give_up(errno);
  const Descriptor folder(::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) ::fsync(folder.get());
  return {};
}

}  // namespace

TokenStore::TokenStore(std::filesystem::path file)
    : file_(file.empty() ? std::move(file) : std::filesystem::absolute(file)) {
}

TokenStore::~TokenStore() {
  stop();
}

void TokenStore::stop() {
  writer_.join();
}

Result<TokenStore::Stamp> TokenStore::stamp() const {
  struct stat info {};
  if (::stat(file_.c_str(), &info) != 0) {
    if (errno == ENOENT) return Stamp{};
    return cannot("read", file_, errno);
  }
  if (!S_ISREG(info.st_mode)) return Error(Errc::configuration, file_.string() + " is no file");
  if ((info.st_mode & 077U) != 0) {
    return Error(Errc::configuration,
                 file_.string() + " holds tokens, but others than its owner may use it: chmod 600 it");
  }
  return Stamp{info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

Result<TokenStore::Entries> TokenStore::read() const {
  const Descriptor in(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in) {
    if (errno == ENOENT) return Entries{};
    return cannot("read", file_, errno);
  }
  std::string content;
  std::array<char, 4096> piece{};
  while (content.size() <= kMaxFile) {
    const auto count = ::read(in.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot("read", file_, errno);
    if (count == 0) break;
    content.append(piece.data(), static_cast<std::size_t>(count));
  }
  const Error damaged(
      Errc::invalid_input,
      file_.string() + " is damaged and stays as it is: mend it, or move it away and log in anew");
  if (content.size() > kMaxFile) return damaged;
  try {
    const auto document = json::parse(content);
    if (document.at("version") != kVersion) {
      return Error(Errc::unsupported, file_.string() + " was written by another version of Parley");
    }
    Entries entries;
    for (const auto& [url, entry] : document.at("servers").items()) entries[url] = credentials_of(entry);
    return entries;
  } catch (const json::exception&) {
    // What it says would quote the file.
    return damaged;
  }
}

Result<> TokenStore::refresh() {
  if (file_.empty()) return {};
  const auto now = stamp();
  if (!now) return now.error();
  if (*now == seen_) return {};
  auto entries = read();
  if (!entries) return entries.error();
  for (const auto& url : unwritten_) (*entries)[url] = entries_[url];
  entries_ = std::move(*entries);
  seen_ = *now;
  return {};
}

Result<std::optional<OAuthCredentials>> TokenStore::find(const std::string& server_url) {
  const std::scoped_lock lock(mutex_);
  if (const auto fresh = refresh(); !fresh) return fresh.error();
  const auto found = entries_.find(server_url);
  if (found == entries_.end()) return std::optional<OAuthCredentials>();
  return std::optional(found->second);
}

Result<> TokenStore::write(const std::string& server_url) {
  std::error_code failed;
  const auto folder = file_.parent_path();
  if (!std::filesystem::exists(folder, failed)) {
    std::filesystem::create_directories(folder, failed);
    if (failed) return cannot("make", folder, failed.value());
    ::chmod(folder.c_str(), 0700);
  }
  auto lock_file = file_;
  lock_file += ".lock";
  const Descriptor guard(::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!guard) return cannot("write", lock_file, errno);
  while (::flock(guard.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return cannot("lock", lock_file, errno);
  }
  const std::scoped_lock lock(mutex_);
  if (const auto fresh = refresh(); !fresh) return fresh;
  auto servers = json::object();
  for (const auto& [url, held] : entries_) servers[url] = json_of(held);
  const json document{{"version", kVersion}, {"servers", std::move(servers)}};
  const auto content = document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  if (const auto written = replace(file_, content); !written) return written;
  unwritten_.erase(server_url);
  if (const auto now = stamp()) seen_ = *now;
  return {};
}

Task<Result<>> TokenStore::save(std::string server_url, OAuthCredentials credentials) {
  {
    const std::scoped_lock lock(mutex_);
    entries_[server_url] = std::move(credentials);
    if (file_.empty()) co_return Result<>();
    unwritten_.insert(server_url);
  }
  co_return co_await asio::co_spawn(
      writer_.get_executor(),
      [](TokenStore& self, std::string url) -> Task<Result<>> { co_return self.write(url); }(
                                                *this, std::move(server_url)),
      asio::use_awaitable);
}

std::filesystem::path default_token_file() {
  const auto set = [](const char* name) -> std::filesystem::path {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  constexpr const char* kName = "mcp-credentials.json";
  constexpr const char* kShared = "/var/lib/parley";
  if (const auto state = set("XDG_STATE_HOME"); state.is_absolute()) return state / "parley" / kName;
  const auto home = set("HOME");
  if (::geteuid() == 0 || ::access(kShared, W_OK) == 0 || !home.is_absolute())
    return std::filesystem::path(kShared) / kName;
  return home / ".local/state/parley" / kName;
}

}  // namespace parley::mcp
