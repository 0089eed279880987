#include "parley/server/admission.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <array>

#include "parley/core/hex.hpp"

namespace parley::server {
namespace {

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest sha256(std::string_view text) {
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

/// Digests have one length, so neither the content nor the length of a secret shows in the time this takes.
bool same(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool is_bearer(std::string_view text) {
  constexpr std::string_view scheme = "bearer ";
  if (text.size() < scheme.size()) return false;
  for (std::size_t i = 0; i < scheme.size(); ++i) {
    const char lower = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
    if (lower != scheme[i]) return false;
  }
  return true;
}

}  // namespace

std::string authenticate(std::string_view authorization, const std::vector<config::Token>& tokens) {
  const auto whole = sha256(authorization);
  const auto bare = sha256(is_bearer(authorization) ? authorization.substr(7) : authorization);
  std::string name;
  for (const auto& token : tokens) {
    const auto secret = sha256(token.secret);
    const bool matches = same(secret, bare) || same(secret, whole);
    if (matches && !token.secret.empty()) name = token.name;
  }
  return name;
}

std::string make_token() {
  return random_hex(16);
}

void Admission::reconfigure(std::shared_ptr<const config::Settings> settings) {
  const std::scoped_lock lock(mutex_);
  settings_ = std::move(settings);
  for (auto& [address, entry] : addresses_) entry.rate = rate_limit();
}

Admission::Ticket Admission::connection(const std::string& address, TimePoint now) {
  const std::scoped_lock lock(mutex_);
  const auto& limits = settings_->server;
  forget_idle(now);
  auto& entry = addresses_.try_emplace(address, Address{0, rate_limit(), now}).first->second;
  entry.last_seen = now;
  if (!entry.rate.take(1, now) || entry.connections >= limits.max_connections_per_address) return nullptr;
  ++entry.connections;
  return {this, [this, address](void*) { leave(address); }};
}

session::RateLimit Admission::rate_limit() const {
  const auto& limits = settings_->server;
  return {limits.connections_per_second, static_cast<double>(limits.connection_burst)};
}

void Admission::leave(const std::string& address) {
  const std::scoped_lock lock(mutex_);
  const auto found = addresses_.find(address);
  if (found != addresses_.end() && found->second.connections > 0) --found->second.connections;
}

/// Addresses that have no connection and a full allowance again are as good as new.
void Admission::forget_idle(TimePoint now) {
  if (addresses_.size() < forget_above_) return;
  std::erase_if(addresses_, [&](const auto& entry) {
    return entry.second.connections == 0 && now - entry.second.last_seen > std::chrono::minutes(1);
  });
  forget_above_ = std::max<std::size_t>(1024, 2 * addresses_.size());
}

Admission::Ticket Admission::session() {
  const std::scoped_lock lock(mutex_);
  if (sessions_ >= settings_->server.max_sessions) return nullptr;
  ++sessions_;
  return {this, [this](void*) {
            const std::scoped_lock inner(mutex_);
            --sessions_;
          }};
}

std::size_t Admission::sessions() const {
  const std::scoped_lock lock(mutex_);
  return sessions_;
}

}  // namespace parley::server
