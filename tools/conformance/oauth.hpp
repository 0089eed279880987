#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "parley/core/clock.hpp"
#include "parley/mcp/authorization.hpp"

namespace parley::conformance {

/// Whether the client has to give up in this scenario.
bool must_be_refused(const std::string& scenario);

/// The credentials for the server at `url` as the scenario's context has them, with a person who agrees to
/// everything.
std::shared_ptr<mcp::Authorization> make_authorization(const asio::any_io_executor& executor,
                                                       const std::string& url, const std::string& scenario,
                                                       const nlohmann::json& context);

}  // namespace parley::conformance
