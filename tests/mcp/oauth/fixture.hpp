#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fakes/http_server.hpp"
#include "fakes/live.hpp"
#include "parley/core/hex.hpp"
#include "parley/mcp/oauth.hpp"
#include "parley/net/url.hpp"

namespace parley::mcp {

using nlohmann::json;
using Fields = std::map<std::string, std::string>;

/// A folder that goes with the test.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("parley-oauth-" + random_hex(6));
  Folder() { std::filesystem::create_directory(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
};

inline Fields query_of(const std::string& url) {
  const auto mark = url.find('?');
  return mark == std::string::npos ? Fields{} : net::form_decoded(url.substr(mark + 1)).value();
}

/// An MCP server and its authorization server in one, and a person who agrees.
struct OAuthTest : testing::Test {
  // What is still being written is told to the I/O context, which has to be there.
  void TearDown() override { store->stop(); }

  struct Said {
    int status = 200;
    std::string body;
    std::string extra = {};
  };
  struct Person final : Interaction {
    explicit Person(OAuthTest& test) : test_(&test) {}
    Task<Result<std::string>> authorize(std::string page, std::string redirect_uri) override {
      EXPECT_EQ(page.substr(0, page.find('?')), test_->url + "/authorize");
      questions.push_back(query_of(page));
      const auto& asked = questions.back();
      EXPECT_EQ(asked.at("redirect_uri"), redirect_uri);
      EXPECT_EQ(asked.at("code_challenge_method"), "S256");
      EXPECT_EQ(asked.at("code_challenge").size(), 43U);
      EXPECT_EQ(asked.at("resource"), test_->resource.at("resource").get<std::string>());
      if (fails) co_return *fails;
      co_return redirect_uri + "?" + answer + "&state=" + asked.at("state");
    }
    std::vector<Fields> questions;
    std::string answer = "code=the-code";
    std::optional<Error> fails;

   private:
    OAuthTest* test_;
  };

  test::Live live;
  Folder folder;
  std::int64_t now = 1'000'000;
  std::map<std::string, Said> pages;  ///< by path, before everything else
  std::deque<Said> token_answers;     ///< before the usual one
  int tokens_given = 0;
  test::HttpServer server{live.io, [this](test::HttpExchange& exchange) { return serve(exchange); }};
  std::string url = server.url();
  std::string mcp = url + "/mcp";
  json resource{{"resource", mcp}, {"authorization_servers", {url}}};
  json metadata{{"issuer", url},
                {"authorization_endpoint", url + "/authorize"},
                {"token_endpoint", url + "/token"},
                {"registration_endpoint", url + "/register"},
                {"code_challenge_methods_supported", {"S256"}}};
  json registration{{"client_id", "registered"}};
  OAuthSettings settings = [] {
    OAuthSettings with;
    with.name = "tools";
    with.redirect_uri = "http://127.0.0.1:9/callback";
    return with;
  }();
  std::shared_ptr<TokenStore> store = std::make_shared<TokenStore>(folder.path / "tokens.json");
  std::shared_ptr<Person> person = std::make_shared<Person>(*this);

  Task<> serve(test::HttpExchange& exchange) {
    const auto path = exchange.asked.target.substr(0, exchange.asked.target.find('?'));
    Said said{404, "not here"};
    if (const auto page = pages.find(path); page != pages.end()) {
      said = page->second;
    } else if (path == "/.well-known/oauth-protected-resource/mcp") {
      said = {200, resource.dump()};
    } else if (path == "/.well-known/oauth-authorization-server") {
      said = {200, metadata.dump()};
    } else if (path == "/register") {
      said = {201, registration.dump()};
    } else if (path == "/mcp") {
      said = {401, "who?", "WWW-Authenticate: Bearer scope=\"from-probe\"\r\n"};
    } else if (path == "/token" && !token_answers.empty()) {
      said = token_answers.front();
      token_answers.pop_front();
    } else if (path == "/token") {
      const auto number = std::to_string(++tokens_given);
      said = {200, json{{"access_token", "token-" + number},
                        {"token_type", "Bearer"},
                        {"expires_in", 3600},
                        {"refresh_token", "refresh-" + number}}
                       .dump()};
    }
    co_await exchange.respond(said.status, "application/json", said.body, said.extra);
  }

  std::shared_ptr<OAuth> make(bool with_person = true) {
    return make_oauth(live.io.get_executor(), live.scheduler, settings, mcp, store,
                      with_person ? person : nullptr, [this] { return now; });
  }
  /// The same as a program that starts anew.
  std::shared_ptr<OAuth> make_anew(bool with_person = false) {
    store = std::make_shared<TokenStore>(folder.path / "tokens.json");
    return make(with_person);
  }
  Result<> refused(OAuth& oauth, int status = 401, const std::string& challenge = "Bearer",
                   const std::string& used = "") {
    return live.run(oauth.refused(status, challenge, used));
  }
  std::string header(OAuth& oauth) {
    const auto header = live.run(oauth.header());
    return header ? header->value_or("none") : "error: " + header.error().message;
  }
  std::vector<test::HttpAsked> asked(const std::string& path) const {
    std::vector<test::HttpAsked> found;
    for (const auto& one : server.asked()) {
      if (one.target.substr(0, one.target.find('?')) == path) found.push_back(one);
    }
    return found;
  }
  Fields token_request(std::size_t index) const {
    return net::form_decoded(asked("/token").at(index).body).value();
  }
  OAuthCredentials held() { return store->find(mcp).value().value(); }
  void hold(const std::function<void(OAuthCredentials&)>& change = {}) {
    OAuthCredentials credentials;
    credentials.issuer = url;
    credentials.resource = mcp;
    credentials.client.id = "registered";
    credentials.client.registered = true;
    credentials.client.redirect_uri = settings.redirect_uri;
    credentials.access_token = "old";
    credentials.refresh_token = "old-refresh";
    credentials.scope = "read";
    credentials.expires_at = now + 3600;
    if (change) change(credentials);
    EXPECT_TRUE(live.run(store->save(mcp, credentials)));
  }
};

}  // namespace parley::mcp
