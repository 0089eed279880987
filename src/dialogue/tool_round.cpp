#include "dialogue/tool_round.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <string>
#include <utility>

#include "parley/core/deadline.hpp"
#include "parley/core/log.hpp"
#include "parley/engine/tool_arguments.hpp"

namespace parley::dialogue {
namespace {

using engine::ToolCall;
using engine::ToolResult;

/// Tools have the first word about their own deadline.
constexpr Millis kGrace{500};

/// Why the call is not made at all.
Result<> check(const engine::ToolSet& tools, const ToolCall& call, std::size_t index) {
  if (index >= kMaxToolCalls) {
    return Error(Errc::limit, "Not called: at most " + std::to_string(kMaxToolCalls) + " tools at a time.");
  }
  const auto* tool = tools.find(call.name);
  if (tool == nullptr) return Error(Errc::invalid_input, "There is no tool named " + call.name + ".");
  return engine::check_arguments(*tool, call.arguments);
}

std::unique_ptr<mcp::CallStream> start(const ReplyTools& with, const ToolCall& call, ToolResult& result) {
  try {
    return with.call(call);
  } catch (const std::exception& failure) {
    result = {failure.what(), true};
    return nullptr;
  }
}

Task<> finish(Scheduler& scheduler, TimePoint deadline, std::unique_ptr<mcp::CallStream> stream,
              ToolOutcome& outcome) {
  auto came = co_await with_deadline(scheduler, deadline, "The tool did not answer in time.", stream->next());
  if (!came) {
    outcome.result = {came.error().message, true};
  } else if (*came) {
    outcome.result = std::move(**came);
  }
  outcome.ended = scheduler.now();
}

}  // namespace

Task<std::vector<ToolOutcome>> run_calls(const ReplyTools& with, const engine::ToolSet& tools,
                                         const std::vector<ToolCall>& calls) {
  auto& scheduler = *with.scheduler;
  const auto executor = co_await asio::this_coro::executor;
  const auto deadline = scheduler.now() + with.profile->session.tool_timeout + kGrace;
  std::vector<ToolOutcome> outcomes(calls.size(), {{"The tool gave no result.", true}, scheduler.now()});
  using Operation = decltype(asio::co_spawn(executor, std::declval<Task<>>(), asio::deferred));
  std::vector<Operation> running;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    auto& outcome = outcomes[i];
    if (const auto allowed = check(tools, calls[i], i); !allowed) {
      log::info("tool call refused",
                {{"tool", calls[i].name}, log::private_field("why", allowed.error().message)});
      outcome.result = {allowed.error().message, true};
      continue;
    }
    auto stream = start(with, calls[i], outcome.result);
    if (!stream) continue;
    running.push_back(
        asio::co_spawn(executor, finish(scheduler, deadline, std::move(stream), outcome), asio::deferred));
  }
  if (running.empty()) co_return outcomes;
  const auto [order, thrown] = co_await asio::experimental::make_parallel_group(std::move(running))
                                   .async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
  for (const auto& one : thrown) {
    if (one) std::rethrow_exception(one);
  }
  co_return outcomes;
}

}  // namespace parley::dialogue
