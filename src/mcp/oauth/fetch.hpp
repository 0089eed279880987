#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/net/http_client.hpp"

namespace parley::mcp::oauth {

struct Fetched {
  int status = 0;
  nlohmann::json body;    ///< discarded where it is no JSON
  std::string challenge;  ///< `WWW-Authenticate`
};

/// Small JSON documents of servers that another server named. Redirects are not followed.
class Fetcher {
 public:
  enum class Reach {
    public_only,   ///< https, public addresses
    this_machine,  ///< also http to this machine: the MCP server runs there itself
    anywhere,      ///< also http
  };

  Fetcher(const asio::any_io_executor& executor, std::shared_ptr<Scheduler> scheduler, Reach reach,
          Millis timeout);

  /// Whether this address may be asked, or given to a browser; the error names it as `what`.
  Result<> check(const std::string& url, const std::string& what) const;

  /// The answer, whatever its status. Errors: those of net::HttpClient; configuration, where check() fails.
  Task<Result<Fetched>> get(std::string url);
  Task<Result<Fetched>> post(std::string url, std::string content_type, std::string body,
                             std::vector<net::HttpHeader> headers);

 private:
  Task<Result<Fetched>> ask(net::HttpRequest request);

  net::HttpClient client_;
  Reach reach_;
  Millis timeout_;
};

/// What an OAuth error answer says for a person (RFC 6749, 5.2), one line; else its status.
std::string description_of(const Fetched& answer);
/// One line of at most 200 bytes.
std::string one_line(std::string text);

/// The string of a member; empty where it is none.
std::string string_of(const nlohmann::json& object, const char* key);
/// The strings of a member that is a list; empty where it is none.
std::vector<std::string> strings_of(const nlohmann::json& object, const char* key);

}  // namespace parley::mcp::oauth
