#include "parley/server/mcp_login.hpp"

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <iostream>
#include <optional>

#include "parley/core/log.hpp"
#include "server/browser_login.hpp"

namespace parley::server {

int mcp_login(const McpLogin& login) {
  log::configure(log::Level::error, false, false);
  try {
    asio::io_context io;
    const auto scheduler = make_asio_scheduler(io.get_executor());
    const auto store = std::make_shared<mcp::TokenStore>(login.credentials);
    auto settings = login.oauth;
    std::shared_ptr<BrowserLogin> browser;
    if (settings.grant == mcp::Grant::authorization_code) {
      browser = std::make_shared<BrowserLogin>(io.get_executor(), scheduler, settings.redirect_uri, std::cout,
                                               STDIN_FILENO, login.timeout);
      settings.redirect_uri = browser->redirect_uri();
    }
    const auto oauth = mcp::make_oauth(io.get_executor(), scheduler, settings, login.url, store, browser);
    std::optional<Result<>> result;
    asio::co_spawn(io, oauth->log_in(), [&](const std::exception_ptr& thrown, Result<> done) {
      io.stop();
      if (thrown) std::rethrow_exception(thrown);
      result = std::move(done);
    });
    io.run();
    if (!*result) throw Failure(result->error());
    std::cout << "Logged in to " << settings.name << "; the tokens are kept in " << store->file().string()
              << "\n";
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << "parley: " << failure.what() << "\n";
    return 2;
  }
}

}  // namespace parley::server
