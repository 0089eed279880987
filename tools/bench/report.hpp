#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "floor.hpp"

namespace parley::tools {

/// Everything that was measured, as the `--json` file has it.
nlohmann::ordered_json report_json(const BenchOptions& options, const LoadResult& load,
                                   const std::optional<Floor>& floor);
/// The same as a table.
std::string report_text(const nlohmann::ordered_json& report);

}  // namespace parley::tools
