#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "parley/core/clock.hpp"
#include "parley/mcp/oauth.hpp"

namespace parley::server {

/// Asks the person at the terminal to open a page, and takes the address to which the browser comes back: on
/// a port of this machine, or pasted, whichever is first. Answers that belong to another login are turned
/// away.
class BrowserLogin final : public mcp::Interaction {
 public:
  /// Listens from now on, where `redirect_uri` is this machine. `input`: a descriptor that lines are read
  /// from; -1: none. `out` outlives it. Throws Failure(configuration) where the port cannot be had.
  BrowserLogin(const asio::any_io_executor& executor, std::shared_ptr<Scheduler> scheduler,
               const std::string& redirect_uri, std::ostream& out, int input, Millis timeout);
  BrowserLogin(const BrowserLogin&) = delete;
  BrowserLogin& operator=(const BrowserLogin&) = delete;
  BrowserLogin(BrowserLogin&&) = delete;
  BrowserLogin& operator=(BrowserLogin&&) = delete;
  ~BrowserLogin() override;

  /// With the port that was had.
  const std::string& redirect_uri() const;

  Task<Result<std::string>> authorize(std::string authorization_url, std::string redirect_uri) override;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace parley::server
