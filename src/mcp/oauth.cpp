#include "parley/mcp/oauth.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <deque>
#include <utility>

#include "mcp/oauth/grants.hpp"
#include "mcp/oauth/scopes.hpp"
#include "parley/core/async_event.hpp"
#include "parley/core/deadline.hpp"
#include "parley/core/log.hpp"

namespace parley::mcp {
namespace {

using namespace std::chrono_literals;
using namespace oauth;

/// Renewed when it has less than this left: a request takes its time.
constexpr std::int64_t kMargin = 30;  // seconds
/// New tokens that a server may refuse again before that is taken for its last word.
constexpr std::size_t kMaxRenewals = 3;
constexpr Duration kRenewalWindow = 60s;
constexpr const char* kOfflineAccess = "offline_access";

Fetcher::Reach reach_of(const OAuthSettings& settings, const std::string& server_url) {
  if (settings.allow_private_network) return Fetcher::Reach::anywhere;
  const auto server = net::parse_url(server_url);
  return server && server->is_loopback() ? Fetcher::Reach::this_machine : Fetcher::Reach::public_only;
}

std::string header_for(const OAuthCredentials& held) {
  return held.access_token.empty() ? "" : "Bearer " + held.access_token;
}

class OAuthAuthorization final : public OAuth, public std::enable_shared_from_this<OAuthAuthorization> {
 public:
  OAuthAuthorization(asio::any_io_executor executor, std::shared_ptr<Scheduler> scheduler,
                     OAuthSettings settings, std::string server_url, std::shared_ptr<TokenStore> store,
                     std::shared_ptr<Interaction> interaction, WallClock wall_clock)
      : executor_(std::move(executor)),
        scheduler_(std::move(scheduler)),
        settings_(std::move(settings)),
        server_url_(std::move(server_url)),
        store_(std::move(store)),
        interaction_(std::move(interaction)),
        wall_clock_(std::move(wall_clock)),
        fetcher_(executor_, scheduler_, reach_of(settings_, server_url_), settings_.timeout),
        grants_(fetcher_, settings_, interaction_.get(), wall_clock_) {}

  Task<Result<std::optional<std::string>>> header() override {
    const auto self = shared_from_this();
    auto held = usable();
    if (!held) co_return held.error();
    if (*held && is_due(**held)) {
      const auto renewed = co_await together([self] { return self->renew_due(); });
      const bool expired = (*held)->expires_at <= wall_clock_();
      held = usable();
      if (!held) co_return held.error();
      if (!renewed && expired && *held && !(*held)->access_token.empty()) co_return renewed.error();
    }
    if (!*held || (*held)->access_token.empty()) co_return std::optional<std::string>();
    co_return std::optional(header_for(**held));
  }

  Task<Result<>> refused(int status, std::string challenge, std::string used) override {
    const auto self = shared_from_this();
    if (flight_) {
      auto result = co_await join(flight_);
      if (!result) co_return result;
    }
    const auto held = usable();
    if (!held) co_return held.error();
    // Somebody else, perhaps another process, has got a new one meanwhile.
    if (*held && !(*held)->access_token.empty() && header_for(**held) != used) co_return Result<>();
    const auto read = read_challenge(challenge);
    co_return co_await together([self, status, read] { return self->renew_refused(status, read); });
  }

  Task<Result<>> log_in() override {
    const auto self = shared_from_this();
    co_return co_await together([self] { return self->log_in_alone(); });
  }

 private:
  struct Flight {
    explicit Flight(const asio::any_io_executor& executor) : done(executor) {}
    AsyncEvent done;
    std::optional<Result<>> result;
  };

  // --- one renewal at a time -----------------------------------------------------------------------

  static Task<Result<>> join(std::shared_ptr<Flight> flight) {
    while (!flight->result) co_await flight->done.wait();
    co_return *flight->result;
  }

  static Task<> fly(std::shared_ptr<OAuthAuthorization> self, std::shared_ptr<Flight> flight,
                    std::function<Task<Result<>>()> work) {
    auto result = co_await contained(work());
    flight->result = std::move(result);
    self->flight_.reset();
    flight->done.notify();
  }

  /// Joins what is under way, else starts this. It goes on when its callers are cancelled: a refresh token
  /// that was used is good for nothing, and its successor must not be lost.
  Task<Result<>> together(std::function<Task<Result<>>()> work) {
    const auto self = shared_from_this();
    auto flight = flight_;
    if (!flight) {
      flight = flight_ = std::make_shared<Flight>(executor_);
      asio::co_spawn(executor_, fly(self, flight, std::move(work)), asio::detached);
    }
    co_return co_await join(flight);
  }

  // --- what is held --------------------------------------------------------------------------------

  /// What is held, unless it belongs to another client or another issuer than the configured ones.
  Result<std::optional<OAuthCredentials>> usable() {
    auto held = store_->find(server_url_);
    if (!held || !*held) return held;
    const auto& client = (*held)->client;
    const bool other_issuer = !settings_.issuer.empty() && (*held)->issuer != settings_.issuer;
    const bool other_client = settings_.client_id.empty()
                                  ? !client.registered && client.id != settings_.client_metadata_url
                                  : client.registered || client.id != settings_.client_id;
    if (other_issuer || (other_client && !client.id.empty())) return std::optional<OAuthCredentials>();
    return held;
  }

  bool is_due(const OAuthCredentials& held) const {
    if (held.expires_at == 0 || held.access_token.empty()) return false;
    if (held.refresh_token.empty() && settings_.grant != Grant::client_credentials) return false;
    return held.expires_at - kMargin <= wall_clock_();
  }

  /// It is in force also where it cannot be written.
  Task<Result<>> keep(OAuthCredentials held) {
    auto saved = co_await store_->save(server_url_, std::move(held));
    if (!saved) {
      log::warn("cannot keep the credentials for an MCP server; they are lost at the next start",
                {{"server", settings_.name}, {"why", saved.error().message}});
    }
    co_return saved;
  }

  Task<> drop_tokens(OAuthCredentials held, bool client_too) {
    held.access_token.clear();
    held.refresh_token.clear();
    held.expires_at = 0;
    if (client_too) held.client = {};
    co_await keep(std::move(held));
  }

  Error login_needed(const std::string& why) const {
    return {Errc::unauthorized, why + "; run `parley mcp login " + settings_.name + "`"};
  }

  // --- ways to new tokens --------------------------------------------------------------------------

  /// The token is about to expire.
  Task<Result<>> renew_due() {
    const auto held = usable();
    if (!held) co_return held.error();
    if (!*held || !is_due(**held)) co_return Result<>();
    const auto server = co_await server_metadata(fetcher_, (*held)->issuer);
    if (!server) co_return server.error();
    if (settings_.grant == Grant::authorization_code) co_return co_await refresh(*server, **held);
    const auto granted = co_await grants_.by_client_credentials(*server, (*held)->resource, (*held)->scope);
    co_return co_await take(granted);
  }

  Task<Result<>> renew_refused(int status, Challenge challenge) {
    auto held = usable();
    if (!held) co_return held.error();
    const bool step_up = status == 403;
    Scopes granted;
    if (*held) granted.add((*held)->scope);
    if (step_up && challenge.error != "insufficient_scope")
      co_return Error(Errc::unauthorized, "the server forbids this to whom the token belongs");
    if (step_up && granted.cover(challenge.scope)) {
      co_return Error(Errc::unauthorized,
                      "the server demands what was granted already: " + one_line(challenge.scope));
    }
    if (!may_renew()) co_return Error(Errc::unauthorized, "the server refuses one new token after the other");
    const bool refreshable = !step_up && *held && !(*held)->refresh_token.empty();
    if (settings_.grant == Grant::authorization_code && !interaction_ && !refreshable) {
      if (step_up && *held) co_await want(**held, challenge.scope);
      co_return login_needed(step_up ? "the server demands more permissions: " + one_line(challenge.scope)
                                     : "the server demands that somebody logs in");
    }
    const auto place = co_await find_place(challenge);
    if (!place) co_return place.error();
    held = co_await moved_to(*place);
    if (!held) co_return held.error();
    if (!step_up && *held && !(*held)->refresh_token.empty()) {
      auto refreshed = co_await refresh(place->server, **held);
      held = usable();
      if (!held) co_return held.error();
      if (refreshed) {
        renewed();
        co_return refreshed;
      }
      // Only where the refresh token is gone, somebody has to agree anew.
      if (*held && !(*held)->refresh_token.empty()) co_return refreshed;
    }
    auto result = co_await obtain(*place, scope_for(*place, challenge, *held), *held);
    if (result) renewed();
    co_return result;
  }

  Task<Result<>> log_in_alone() {
    const auto challenge = co_await probe();
    if (!challenge) co_return challenge.error();
    const auto place = co_await find_place(*challenge);
    if (!place) co_return place.error();
    const auto held = co_await moved_to(*place);
    if (!held) co_return held.error();
    auto obtained = co_await obtain(*place, scope_for(*place, *challenge, *held), *held);
    // What is not on the disk is gone with this program.
    co_return obtained ? kept_ : obtained;
  }

  /// What the server says to a request without credentials.
  Task<Result<Challenge>> probe() {
    constexpr const char* kHello =
        R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
        R"("capabilities":{},"clientInfo":{"name":"parley","version":")" PARLEY_VERSION R"("}}})";
    auto answer = co_await fetcher_.post(server_url_, "application/json", kHello,
                                         {{"Accept", "application/json, text/event-stream"}});
    if (!answer) co_return answer.error();
    co_return answer->status == 401 ? read_challenge(answer->challenge) : Challenge{};
  }

  Task<Result<Discovered>> find_place(Challenge challenge) {
    const auto held = store_->find(server_url_);
    const bool pinned = !settings_.issuer.empty();
    const auto preferred = pinned ? settings_.issuer : held && *held ? (*held)->issuer : "";
    co_return co_await discover(fetcher_, server_url_, std::move(challenge), preferred, pinned);
  }

  /// What is held of this issuer. What another one gave is worth nothing any more.
  Task<Result<std::optional<OAuthCredentials>>> moved_to(const Discovered& place) {
    auto held = usable();
    if (!held || !*held || (*held)->issuer == place.server.issuer) co_return held;
    const auto& old = **held;
    if (!settings_.client_id.empty()) {
      co_return Error(Errc::unauthorized, "the server now names the authorization server " +
                                              one_line(place.server.issuer) + ", but client_id belongs to " +
                                              one_line(old.issuer) + "; set `issuer` where that is right");
    }
    log::warn("an MCP server has changed its authorization server; it is asked anew",
              {{"server", settings_.name}, {"was", old.issuer}, {"is", place.server.issuer}});
    OAuthCredentials fresh;
    fresh.issuer = place.server.issuer;
    co_await keep(std::move(fresh));
    co_return std::optional<OAuthCredentials>();
  }

  std::string scope_for(const Discovered& place, const Challenge& challenge,
                        const std::optional<OAuthCredentials>& held) const {
    Scopes scopes;
    scopes.add(settings_.scopes);
    scopes.add(challenge.scope);
    if (scopes.empty()) scopes.add(place.resource.scopes_supported);
    if (held) {
      Scopes before;
      before.add(held->scope);
      before.remove(kOfflineAccess);
      before.add(held->wanted_scope);
      scopes.add(before.text());
    }
    Scopes offered;
    offered.add(place.server.scopes_supported);
    // Alone it would stand for nothing else, where no scope stands for the usual ones.
    if (settings_.grant == Grant::authorization_code && !scopes.empty() && offered.has(kOfflineAccess))
      scopes.add(kOfflineAccess);
    return scopes.text();
  }

  Task<> want(OAuthCredentials held, std::string scope) {
    Scopes wanted;
    wanted.add(held.wanted_scope);
    if (wanted.cover(scope)) co_return;
    wanted.add(scope);
    held.wanted_scope = wanted.text();
    co_await keep(std::move(held));
  }

  Task<Result<>> obtain(const Discovered& place, std::string scope, std::optional<OAuthCredentials> held) {
    if (settings_.grant == Grant::client_credentials) {
      const auto granted =
          co_await grants_.by_client_credentials(place.server, place.resource.resource, scope);
      co_return co_await take(granted);
    }
    if (!interaction_) co_return login_needed("the authorization has ended");
    const auto granted = co_await grants_.by_person(place, std::move(scope), held);
    // So that the next login registers anew.
    if (granted.client_is_gone && held && held->client.registered) co_await drop_tokens(*held, true);
    co_return co_await take(granted);
  }

  Task<Result<>> refresh(const ServerMetadata& server, OAuthCredentials held) {
    const auto granted = co_await grants_.by_refresh_token(server, held);
    if (granted.credentials || !(granted.grant_is_gone || granted.client_is_gone))
      co_return co_await take(granted);
    const auto now = usable();
    // Another process may have used that refresh token, and kept its successor.
    if (now && *now && (*now)->refresh_token != held.refresh_token) co_return Result<>();
    const auto why = granted.credentials.error();
    log::warn("the authorization for an MCP server has ended",
              {{"server", settings_.name}, {"why", why.message}});
    co_await drop_tokens(std::move(held), granted.client_is_gone);
    co_return why;
  }

  Task<Result<>> take(const Granted& granted) {
    if (!granted.credentials) co_return granted.credentials.error();
    log::info("a new token for an MCP server",
              {{"server", settings_.name}, {"issuer", granted.credentials->issuer}});
    kept_ = co_await keep(*granted.credentials);
    co_return Result<>();
  }

  // --- limits --------------------------------------------------------------------------------------

  bool may_renew() {
    const auto now = scheduler_->now();
    while (!renewals_.empty() && renewals_.front() + kRenewalWindow <= now) renewals_.pop_front();
    return renewals_.size() < kMaxRenewals;
  }
  void renewed() { renewals_.push_back(scheduler_->now()); }

  asio::any_io_executor executor_;
  std::shared_ptr<Scheduler> scheduler_;
  OAuthSettings settings_;
  std::string server_url_;
  std::shared_ptr<TokenStore> store_;
  std::shared_ptr<Interaction> interaction_;
  WallClock wall_clock_;
  Fetcher fetcher_;
  Grants grants_;
  Result<> kept_;  ///< whether the last tokens were written
  std::shared_ptr<Flight> flight_;
  std::deque<TimePoint> renewals_;  ///< after refusals
};

}  // namespace

std::shared_ptr<OAuth> make_oauth(const asio::any_io_executor& executor, std::shared_ptr<Scheduler> scheduler,
                                  OAuthSettings settings, std::string server_url,
                                  std::shared_ptr<TokenStore> store, std::shared_ptr<Interaction> interaction,
                                  WallClock wall_clock) {
  check_settings(settings, server_url);
  if (!wall_clock) {
    wall_clock = [] {
      const auto now = std::chrono::system_clock::now().time_since_epoch();
      return std::int64_t{std::chrono::duration_cast<std::chrono::seconds>(now).count()};
    };
  }
  return std::make_shared<OAuthAuthorization>(executor, std::move(scheduler), std::move(settings),
                                              std::move(server_url), std::move(store), std::move(interaction),
                                              std::move(wall_clock));
}

}  // namespace parley::mcp
