#pragma once

#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "parley/core/error.hpp"
#include "parley/core/task.hpp"

namespace parley::mcp {

/// Parley as one authorization server knows it.
struct OAuthClient {
  std::string id;
  std::string secret;        ///< of a registered client alone; others have theirs in the configuration
  std::string auth_method;   ///< `token_endpoint_auth_method`; empty: not said
  std::string redirect_uri;  ///< that it was registered with
  bool registered = false;   ///< dynamically, with this issuer
  std::int64_t secret_expires_at = 0;  ///< seconds since 1970; 0: never

  friend bool operator==(const OAuthClient&, const OAuthClient&) = default;
};

/// What is held for one MCP server. Client and tokens belong to this issuer and to no other.
struct OAuthCredentials {
  std::string issuer;
  std::string resource;  ///< what the tokens are for, as the server names itself
  OAuthClient client;
  std::string access_token;     ///< may be empty, as may be …
  std::string refresh_token;    ///< … this
  std::string scope;            ///< granted, separated by spaces
  std::int64_t expires_at = 0;  ///< of the access token, seconds since 1970; 0: not said
  /// What the server demanded beyond that while there was nobody to ask.
  std::string wanted_scope;

  friend bool operator==(const OAuthCredentials&, const OAuthCredentials&) = default;
};

/// The credentials for MCP servers, in a JSON file that only its owner may read. Thread-safe; other processes
/// may change the file at any time. Outlives its tasks, but not the I/O contexts that they run on.
class TokenStore {
 public:
  /// An empty `file`: in memory alone.
  explicit TokenStore(std::filesystem::path file);
  ~TokenStore();
  TokenStore(const TokenStore&) = delete;
  TokenStore& operator=(const TokenStore&) = delete;
  TokenStore(TokenStore&&) = delete;
  TokenStore& operator=(TokenStore&&) = delete;

  /// What is held for the server of this URL; reads the file again where it has changed. Errors, with the
  /// file's name: configuration (others may read it, it cannot be read), invalid_input (it is damaged).
  Result<std::optional<OAuthCredentials>> find(const std::string& server_url);

  /// Replaces what is held. It is in force at once, in this process, also where writing fails. What the file
  /// says of other servers stays. Errors: as above; a damaged file is left as it is.
  Task<Result<>> save(std::string server_url, OAuthCredentials credentials);

  /// Returns when what was being written is written; nothing is written afterwards. Before the I/O contexts
  /// of its tasks go.
  void stop();

  const std::filesystem::path& file() const { return file_; }

 private:
  using Entries = std::map<std::string, OAuthCredentials>;
  /// Tells one state of the file from the next.
  struct Stamp {
    std::uint64_t inode = 0;
    std::int64_t size = -1;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };

  Result<Stamp> stamp() const;
  Result<Entries> read() const;
  Result<> refresh();
  Result<> write(const std::string& server_url);

  std::filesystem::path file_;
  std::mutex mutex_;
  Stamp seen_;
  Entries entries_;
  std::set<std::string> unwritten_;
  asio::thread_pool writer_{1};  ///< files are synchronised to the disk, which takes its time
};

/// `mcp-credentials.json` in `$XDG_STATE_HOME/parley`; without that in `/var/lib/parley` for root or where
/// that may be written, else in `$HOME/.local/state/parley`.
std::filesystem::path default_token_file();

}  // namespace parley::mcp
