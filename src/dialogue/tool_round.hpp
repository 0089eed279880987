#pragma once

#include <vector>

#include "parley/dialogue/reply.hpp"

namespace parley::dialogue {

/// Of one round, so many calls run; the others are answered with an error.
constexpr std::size_t kMaxToolCalls = 16;

struct ToolOutcome {
  engine::ToolResult result;
  TimePoint ended{};
};

/// Runs the calls of one round side by side; the outcomes are in the order of the calls. Every failure is a
/// result that the model reads: an unknown tool, arguments that do not fit its schema, an error, an
/// exception, no answer in time, one call too many. Throws but for cancellation never; then every call is
/// abandoned.
Task<std::vector<ToolOutcome>> run_calls(const ReplyTools& with, const engine::ToolSet& tools,
                                         const std::vector<engine::ToolCall>& calls);

}  // namespace parley::dialogue
