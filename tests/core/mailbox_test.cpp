#include "parley/core/mailbox.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "fakes/world.hpp"
#include "parley/core/deadline.hpp"
#include "parley/core/worker_pool.hpp"

namespace parley {
namespace {

using namespace std::chrono_literals;

TEST(MailboxTest, DeliversInOrderFromAnotherThreadThenEnds) {
  asio::io_context io;
  auto mailbox = Mailbox<int>::make(io.get_executor());
  std::vector<int> got;
  bool ended = false;
  asio::co_spawn(
      io,
      [&]() -> Task<> {
        while (true) {
          auto next = co_await mailbox->next();
          if (!next || !*next) break;
          got.push_back(**next);
        }
        ended = true;
      },
      asio::detached);
  const auto work = asio::make_work_guard(io);
  std::thread producer([&] {
    for (int i = 0; i < 1000; ++i) mailbox->send(i);
    mailbox->close();
    mailbox->send(1000);
  });
  while (!ended) io.run_one();
  producer.join();
  ASSERT_EQ(got.size(), 1000U);
  EXPECT_TRUE(std::ranges::is_sorted(got));
}

TEST(MailboxTest, AnErrorComesAfterWhatWasSentBefore) {
  test::World world;
  auto mailbox = Mailbox<int>::make(world.io.get_executor());
  mailbox->send(1);
  mailbox->fail(Error(Errc::unavailable, "gone"));
  EXPECT_EQ(***world.run(mailbox->next()), 1);
  EXPECT_EQ(world.run(mailbox->next())->error().message, "gone");
  EXPECT_EQ(world.run(mailbox->next())->error().message, "gone");
}

TEST(DeadlineTest, WhatComesInTimeIsDeliveredAndWhatDoesNotTimesOut) {
  test::World world;
  auto mailbox = Mailbox<int>::make(world.io.get_executor());
  auto late = world.run(with_deadline(*world.scheduler, world.now() + 2s, "too slow", mailbox->next()));
  ASSERT_TRUE(late);
  EXPECT_EQ(late->error().code, Errc::timeout);
  EXPECT_EQ(late->error().message, "too slow");
  mailbox->send(7);
  auto in_time = world.run(with_deadline(*world.scheduler, world.now() + 2s, "too slow", mailbox->next()));
  ASSERT_TRUE(in_time && *in_time && **in_time);
  EXPECT_EQ(***in_time, 7);
}

TEST(WorkerPoolTest, AFullPoolRefuses) {
  WorkerPool pool(1, 2);
  std::promise<void> release;
  auto released = release.get_future().share();
  ASSERT_TRUE(pool.submit([released] { released.wait(); }));
  ASSERT_TRUE(pool.submit([] {}));
  const auto refused = pool.submit([] {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::overloaded);
  EXPECT_TRUE(refused.error().retryable);
  release.set_value();
}

TEST(WorkerPoolTest, ASequenceKeepsItsOrderAndAThrowingJobHarmsNobody) {
  WorkerPool pool(4, 1000);
  WorkerPool::Sequence sequence(pool);
  std::vector<int> order;
  std::promise<void> done;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(sequence.submit([&order, i] {
      order.push_back(i);
      if (i == 50) throw std::runtime_error("a job failed");
    }));
  }
  ASSERT_TRUE(sequence.submit([&] { done.set_value(); }));
  done.get_future().wait();
  EXPECT_EQ(order.size(), 200U);
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

}  // namespace
}  // namespace parley
