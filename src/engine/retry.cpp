#include "parley/engine/retry.hpp"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <random>

namespace parley::engine {

std::optional<Millis> back_off(const RetryPolicy& policy, int retry, const Error& error, double jitter) {
  if (!error.retryable || retry >= policy.retries || error.retry_after > policy.longest) return std::nullopt;
  auto wait = std::min(policy.first, policy.longest);
  for (int i = 0; i < retry && wait < policy.longest; ++i) wait = std::min(2 * wait, policy.longest);
  const auto less = static_cast<double>(wait.count()) * 0.5 * jitter;
  wait -= Millis(static_cast<Millis::rep>(less));
  return std::max(wait, error.retry_after);
}

double random_jitter() {
  thread_local std::minstd_rand random(std::random_device{}());
  return std::uniform_real_distribution<double>(0, 1)(random);
}

Task<> pause_for(Millis wait) {
  asio::steady_timer timer(co_await asio::this_coro::executor, wait);
  co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace parley::engine
