#include "server/browser_login.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <sstream>

#include "fakes/http_server.hpp"
#include "fakes/live.hpp"
#include "parley/net/http_client.hpp"
#include "parley/net/url.hpp"

namespace parley::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct BrowserLoginTest : testing::Test {
  BrowserLoginTest() { EXPECT_EQ(::pipe(typed.data()), 0); }
  BrowserLoginTest(const BrowserLoginTest&) = delete;
  BrowserLoginTest& operator=(const BrowserLoginTest&) = delete;
  BrowserLoginTest(BrowserLoginTest&&) = delete;
  BrowserLoginTest& operator=(BrowserLoginTest&&) = delete;
  ~BrowserLoginTest() override {
    for (const auto descriptor : typed) {
      if (descriptor >= 0) ::close(descriptor);
    }
  }

  test::Live live;
  std::array<int, 2> typed{-1, -1};
  std::ostringstream out;

  std::unique_ptr<BrowserLogin> make(const std::string& redirect_uri = "http://127.0.0.1/callback") {
    ::setenv("no_proxy", "127.0.0.1", 1);
    return std::make_unique<BrowserLogin>(live.io.get_executor(), live.scheduler, redirect_uri, out, typed[0],
                                          60s);
  }
  std::shared_ptr<test::Outcome<Result<std::string>>> ask(BrowserLogin& login) {
    const auto outcome =
        live.start(login.authorize("https://a.test/authorize?x=1&state=mine", login.redirect_uri()));
    live.io.restart();
    live.io.poll();
    return outcome;
  }
  void type(const std::string& line) {
    EXPECT_EQ(::write(typed[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  /// What the browser gets there.
  std::pair<int, std::string> open(const std::string& url, const std::string& method = "GET") {
    net::HttpClient client(live.io.get_executor(), live.scheduler);
    net::HttpRequest request;
    request.url = url;
    request.method = method;
    const auto work = [](net::HttpClient& asking,
                         net::HttpRequest wanted) -> Task<std::pair<int, std::string>> {
      auto response = co_await asking.send(std::move(wanted));
      if (!response) co_return std::pair(0, response.error().message);
      auto body = co_await net::read_all(**response, 65536);
      co_return std::pair((*response)->status(), body ? *body : body.error().message);
    };
    return live.run(work(client, request));
  }
};

TEST_F(BrowserLoginTest, TakesTheBrowsersAnswer) {
  const auto login = make();
  const auto redirect = net::parse_url(login->redirect_uri());
  ASSERT_TRUE(redirect);
  EXPECT_TRUE(redirect->has_port);
  const auto outcome = ask(*login);
  EXPECT_THAT(out.str(), HasSubstr("https://a.test/authorize?x=1&state=mine"));
  EXPECT_THAT(out.str(), HasSubstr(login->redirect_uri()));
  const auto [status, body] = open(login->redirect_uri() + "?code=c&state=mine&iss=https%3A%2F%2Fa.test");
  EXPECT_EQ(status, 200);
  EXPECT_THAT(body, HasSubstr("received"));
  ASSERT_TRUE(live.until([&] { return outcome->done(); }));
  EXPECT_EQ(outcome->result->value(), login->redirect_uri() + "?code=c&state=mine&iss=https%3A%2F%2Fa.test");
  EXPECT_EQ(open(login->redirect_uri() + "?code=d&state=mine").first, 400) << "once is enough";
}

TEST_F(BrowserLoginTest, TurnsAwayWhatBelongsToAnotherLogin) {
  const auto login = make();
  EXPECT_EQ(open(login->redirect_uri() + "?code=c&state=").first, 400) << "nothing is waited for";
  const auto outcome = ask(*login);
  EXPECT_EQ(open(login->redirect_uri() + "?code=c&state=theirs").first, 400);
  EXPECT_EQ(open(login->redirect_uri() + "?code=c").first, 400);
  EXPECT_EQ(open(login->redirect_uri() + "?state=mine&state=mine").first, 400);
  EXPECT_EQ(open(login->redirect_uri() + "/else?code=c&state=mine").first, 404);
  EXPECT_EQ(open(login->redirect_uri() + "?code=c&state=mine", "POST").first, 404);
  EXPECT_FALSE(outcome->done());
  EXPECT_EQ(open(login->redirect_uri() + "?error=access_denied&state=mine").first, 200);
  ASSERT_TRUE(live.until([&] { return outcome->done(); }));
  EXPECT_THAT(outcome->result->value(), HasSubstr("error=access_denied"));
}

TEST_F(BrowserLoginTest, TakesAPastedAddress) {
  const auto login = make();
  const auto outcome = ask(*login);
  type("\nnonsense\nhttp://127.0.0.1/callback?code=c&state=theirs\n");
  ASSERT_TRUE(live.until([&] { return out.str().find("Try again") != std::string::npos; }));
  EXPECT_FALSE(outcome->done());
  type("  \"http://127.0.0.1/callback?code=");
  type("c&state=mine\"\r\n");
  ASSERT_TRUE(live.until([&] { return outcome->done(); }));
  EXPECT_EQ(outcome->result->value(), "http://127.0.0.1/callback?code=c&state=mine");
}

TEST_F(BrowserLoginTest, WaitsForThePasteAloneWhereTheBrowserGoesElsewhere) {
  const auto login = make("https://parley.test/callback");
  EXPECT_EQ(login->redirect_uri(), "https://parley.test/callback");
  const auto outcome = ask(*login);
  type("https://parley.test/callback?code=c&state=mine\n");
  ASSERT_TRUE(live.until([&] { return outcome->done(); }));
  EXPECT_TRUE(*outcome->result);
}

TEST_F(BrowserLoginTest, SurvivesAnEndOfInputAndEndsInTime) {
  const auto login = make();
  ::close(std::exchange(typed[1], -1));
  const auto outcome = ask(*login);
  live.pass(59s);
  EXPECT_FALSE(outcome->done());
  live.pass(2s);
  ASSERT_TRUE(live.until([&] { return outcome->done(); }));
  EXPECT_EQ(outcome->result->error().code, Errc::timeout);
}

TEST_F(BrowserLoginTest, IsNotHeldUpByASlowBrowser) {
  const auto login = make();
  const auto outcome = ask(*login);
  asio::ip::tcp::socket slow(live.io);
  slow.connect({asio::ip::address_v4::loopback(), net::parse_url(login->redirect_uri())->port});
  asio::write(slow, asio::buffer(std::string("GET /callback?co")));
  EXPECT_EQ(open(login->redirect_uri() + "?code=c&state=mine").first, 200);
  ASSERT_TRUE(live.until([&] { return outcome->done(); }));
}

TEST_F(BrowserLoginTest, SaysWhenItCannotListen) {
  const auto first = make();
  try {
    make(first->redirect_uri());
    FAIL() << "the port is taken";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.error().message, HasSubstr("cannot listen on port"));
  }
  EXPECT_THROW(make("nowhere"), Failure);
}

}  // namespace
}  // namespace parley::server
