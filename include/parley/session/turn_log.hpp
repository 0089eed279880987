#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "parley/core/error.hpp"

namespace parley::session {

/// One JSON object a line, one line a turn. Thread-safe.
class TurnLog {
 public:
  virtual ~TurnLog() = default;
  virtual void write(const nlohmann::ordered_json& line) = 0;
};

/// Appends to `file`; an empty path gives a log that keeps nothing.
Result<std::shared_ptr<TurnLog>> open_turn_log(const std::filesystem::path& file);

}  // namespace parley::session
