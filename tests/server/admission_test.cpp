#include "parley/server/admission.hpp"

#include <gtest/gtest.h>

namespace parley::server {
namespace {

using namespace std::chrono_literals;
const TimePoint kStart{100s};

std::shared_ptr<config::Settings> limits() {
  auto settings = std::make_shared<config::Settings>();
  settings->server.max_connections_per_address = 2;
  settings->server.connections_per_second = 1;
  settings->server.connection_burst = 3;
  settings->server.max_sessions = 1;
  return settings;
}

TEST(AdmissionTest, LimitsConnectionsOfAnAddress) {
  Admission admission(limits());
  auto first = admission.connection("a", kStart);
  auto second = admission.connection("a", kStart);
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(admission.connection("a", kStart));
  EXPECT_TRUE(admission.connection("b", kStart));
  first.reset();
  EXPECT_TRUE(admission.connection("a", kStart + 2s));
}

TEST(AdmissionTest, LimitsTheRateOfAnAddress) {
  Admission admission(limits());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(admission.connection("a", kStart)) << i;
  EXPECT_FALSE(admission.connection("a", kStart));
  EXPECT_FALSE(admission.connection("a", kStart + 500ms));
  EXPECT_TRUE(admission.connection("a", kStart + 2s));
}

TEST(AdmissionTest, LimitsSessions) {
  Admission admission(limits());
  auto seat = admission.session();
  EXPECT_TRUE(seat);
  EXPECT_FALSE(admission.session());
  seat.reset();
  EXPECT_EQ(admission.sessions(), 0U);
  EXPECT_TRUE(admission.session());
}

TEST(AdmissionTest, ManyAddressesAreForgotten) {
  Admission admission(limits());
  for (int i = 0; i < 5000; ++i) admission.connection(std::to_string(i), kStart + i * 1s);
  EXPECT_TRUE(admission.connection("0", kStart + 6000s));
}

TEST(AuthenticateTest, NamesTheTokenOrNothing) {
  const std::vector<config::Token> tokens = {{"kitchen", "s3cret"}, {"odd", "Basic abc"}, {"empty", ""}};
  EXPECT_EQ(authenticate("Bearer s3cret", tokens), "kitchen");
  EXPECT_EQ(authenticate("bearer s3cret", tokens), "kitchen");
  EXPECT_EQ(authenticate("s3cret", tokens), "kitchen");
  EXPECT_EQ(authenticate("Basic abc", tokens), "odd");
  EXPECT_EQ(authenticate("Bearer Basic abc", tokens), "odd");
  for (const auto* wrong : {"", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3cret ", "Bearer S3CRET"}) {
    EXPECT_EQ(authenticate(wrong, tokens), "") << wrong;
  }
}

TEST(AuthenticateTest, MadeUpTokensDiffer) {
  EXPECT_NE(make_token(), make_token());
}

}  // namespace
}  // namespace parley::server
