#include "parley/core/deadline.hpp"

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <stdexcept>

#include "fakes/world.hpp"
#include "parley/core/async_event.hpp"

namespace parley {
namespace {

using namespace std::chrono_literals;

struct TimeLimitTest : testing::Test {
  test::World world;
  AsyncEvent never{world.io.get_executor()};

  Task<Result<int>> wait_for_ever() {
    while (true) co_await never.wait();
  }
};

TEST_F(TimeLimitTest, WhatIsLateIsATimeout) {
  const auto began = world.now();
  const auto result = world.run(with_deadline(*world.scheduler, began + 2s, "too late", wait_for_ever()));
  ASSERT_TRUE(result && !*result);
  EXPECT_EQ(result->error().code, Errc::timeout);
  EXPECT_EQ(result->error().message, "too late");
  EXPECT_EQ(world.now() - began, 2s);
}

TEST_F(TimeLimitTest, AnExceptionIsAnError) {
  const auto broken = []() -> Task<Result<int>> {
    throw std::runtime_error("broken");
    co_return 1;
  };
  const auto result = world.run(with_deadline(*world.scheduler, world.now() + 2s, "too late", broken()));
  ASSERT_TRUE(result && !*result);
  EXPECT_EQ(result->error().message, "broken");
}

TEST_F(TimeLimitTest, CancellationPassesThroughTwoOfThem) {
  auto inner = with_deadline(*world.scheduler, world.now() + 1min, "inner", wait_for_ever());
  auto outer = with_deadline(*world.scheduler, world.now() + 2min, "outer", std::move(inner));
  asio::cancellation_signal stop;
  std::exception_ptr thrown;
  bool ended = false;
  asio::co_spawn(world.io, std::move(outer),
                 asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr failed, Result<int>) {
                   thrown = std::move(failed);
                   ended = true;
                 }));
  world.settle();
  stop.emit(asio::cancellation_type::terminal);
  world.settle();
  ASSERT_TRUE(ended);
  ASSERT_TRUE(thrown) << "a cancelled task has no result";
  EXPECT_TRUE(is_cancellation(thrown));
  EXPECT_FALSE(is_cancellation(std::make_exception_ptr(std::runtime_error("broken"))));
}

}  // namespace
}  // namespace parley
