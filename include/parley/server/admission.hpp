#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "parley/config/settings.hpp"
#include "parley/session/flood_guard.hpp"

namespace parley::server {

/// Counts connections and sessions against the configured limits. Thread-safe.
class Admission {
 public:
  /// Held for as long as the connection (or session) lasts.
  using Ticket = std::shared_ptr<void>;

  explicit Admission(std::shared_ptr<const config::Settings> settings) : settings_(std::move(settings)) {}
  void reconfigure(std::shared_ptr<const config::Settings> settings);

  /// Null: `address` has too many connections, or opens them too fast.
  Ticket connection(const std::string& address, TimePoint now);
  /// Null: the server is full.
  Ticket session();
  std::size_t sessions() const;

 private:
  struct Address {
    std::size_t connections = 0;
    session::RateLimit rate;
    TimePoint last_seen;
  };
  session::RateLimit rate_limit() const;
  void forget_idle(TimePoint now);
  void leave(const std::string& address);

  mutable std::mutex mutex_;
  std::shared_ptr<const config::Settings> settings_;
  std::map<std::string, Address> addresses_;
  std::size_t sessions_ = 0;
  std::size_t forget_above_ = 1024;
};

/// The name of the token that an `Authorization` header carries; empty: none of them. Compared in constant
/// time. A token with a blank in it comes without "Bearer " (PROTOCOL.md, section 1).
std::string authenticate(std::string_view authorization, const std::vector<config::Token>& tokens);

/// A secret for this run: 128 random bits in hex.
std::string make_token();

}  // namespace parley::server
