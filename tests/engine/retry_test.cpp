#include "parley/engine/retry.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "parley/engine/http_endpoint.hpp"

namespace parley::engine {
namespace {

using namespace std::chrono_literals;

Error busy(Millis after = 0ms) {
  Error error(Errc::overloaded, "busy", true);
  error.retry_after = after;
  return error;
}

TEST(BackOff, DoublesUpToTheLongest) {
  const RetryPolicy policy{5, 200ms, 1s};
  const std::vector<Millis> waits{200ms, 400ms, 800ms, 1s, 1s};
  for (int retry = 0; retry < 5; ++retry)
    EXPECT_EQ(back_off(policy, retry, busy(), 0), waits[static_cast<std::size_t>(retry)]) << retry;
  EXPECT_FALSE(back_off(policy, 5, busy(), 0));
}

TEST(BackOff, JitterTakesOffUpToHalf) {
  const RetryPolicy policy{1, 200ms, 1s};
  EXPECT_EQ(back_off(policy, 0, busy(), 0.5), 150ms);
  for (int i = 0; i < 100; ++i) {
    const auto wait = back_off(policy, 0, busy(), random_jitter());
    ASSERT_TRUE(wait);
    EXPECT_GT(*wait, 99ms);
    EXPECT_LE(*wait, 200ms);
  }
}

TEST(BackOff, HonoursWhatTheOtherSideAsks) {
  const RetryPolicy policy{1, 200ms, 1s};
  EXPECT_EQ(back_off(policy, 0, busy(700ms), 0), 700ms);
  EXPECT_EQ(back_off(policy, 0, busy(10ms), 0), 200ms);
  EXPECT_EQ(back_off(policy, 0, busy(1s), 0), 1s);
  EXPECT_FALSE(back_off(policy, 0, busy(1001ms), 0));
}

TEST(BackOff, LeavesFinalErrorsAlone) {
  EXPECT_FALSE(back_off({3, 1ms, 1s}, 0, Error(Errc::unauthorized, "no"), 0));
  EXPECT_FALSE(back_off({0, 1ms, 1s}, 0, busy(), 0));
}

TEST(MessageOf, FindsWhatPeopleCanRead) {
  using nlohmann::json;
  const std::vector<std::pair<const char*, const char*>> cases{
      {R"({"error":{"message":"a"}})", "a"},
      {R"({"error":"a"})", "a"},
      {R"({"message":"a"})", "a"},
      {R"({"detail":"a"})", "a"},
      {R"({"detail":{"status":"x","message":"a"}})", "a"},
      {R"({"detail":[{"loc":["body"],"msg":"a"}]})", "a"},
      {R"([{"error":{"message":"a"}}])", ""},
      {R"({"error":null})", ""},
      {R"({"error":{"message":"a\u0000b\nc"}})", "a b c"},
      {"3", ""},
      {"nonsense", ""},
  };
  for (const auto& [text, message] : cases)
    EXPECT_EQ(message_of(json::parse(text, nullptr, false)), message) << text;
  std::string many = "a";
  for (int i = 0; i < 200; ++i) many += "\xC3\xA9";
  const auto cut = message_of({{"message", many}});
  EXPECT_LE(cut.size(), 200U);
  EXPECT_NO_THROW((void)nlohmann::json(cut).dump()) << "no half character";
}

TEST(ErrorOfStatus, SaysWhatToDoNext) {
  const auto code = [](int status) { return error_of_status(status, "", "http://x", "").code; };
  const auto again = [](int status) { return error_of_status(status, "", "http://x", "").retryable; };
  EXPECT_EQ(code(400), Errc::invalid_input);
  EXPECT_EQ(code(401), Errc::unauthorized);
  EXPECT_EQ(code(404), Errc::configuration);
  EXPECT_EQ(code(302), Errc::configuration);
  EXPECT_EQ(code(408), Errc::timeout);
  EXPECT_EQ(code(429), Errc::overloaded);
  EXPECT_EQ(code(500), Errc::unavailable);
  for (const int status : {408, 429, 500, 502, 503, 504, 529}) EXPECT_TRUE(again(status)) << status;
  for (const int status : {302, 400, 401, 403, 404, 413, 422}) EXPECT_FALSE(again(status)) << status;
}

}  // namespace
}  // namespace parley::engine
