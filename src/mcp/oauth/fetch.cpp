#include "mcp/oauth/fetch.hpp"

#include <algorithm>
#include <utility>

#include "parley/core/json_text.hpp"
#include "parley/net/url.hpp"

namespace parley::mcp::oauth {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxBody = std::size_t{256} * 1024;
constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxMessage = 200;

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

Fetcher::Fetcher(const asio::any_io_executor& executor, std::shared_ptr<Scheduler> scheduler, Reach reach,
                 Millis timeout)
    : client_(executor, std::move(scheduler)), reach_(reach), timeout_(timeout) {
}

Result<> Fetcher::check(const std::string& url, const std::string& what) const {
  const auto parsed = net::parse_url(url);
  if (!parsed || parsed->has_fragment)
    return Error(Errc::invalid_input, what + " is no usable address: " + one_line(url));
  if (parsed->scheme == "https" || reach_ == Reach::anywhere) return {};
  if (reach_ == Reach::this_machine && parsed->is_loopback()) return {};
  return Error(Errc::configuration, what + " is not encrypted (https): " + one_line(url));
}

Task<Result<Fetched>> Fetcher::get(std::string url) {
  net::HttpRequest request;
  request.url = std::move(url);
  co_return co_await ask(std::move(request));
}

Task<Result<Fetched>> Fetcher::post(std::string url, std::string content_type, std::string body,
                                    std::vector<net::HttpHeader> headers) {
  net::HttpRequest request;
  request.method = "POST";
  request.url = std::move(url);
  request.headers = std::move(headers);
  request.headers.push_back({"Content-Type", std::move(content_type)});
  request.body = std::move(body);
  co_return co_await ask(std::move(request));
}

Task<Result<Fetched>> Fetcher::ask(net::HttpRequest request) {
  if (auto good = check(request.url, "this"); !good) co_return good.error();
  const auto has_accept = std::ranges::any_of(
      request.headers, [](const net::HttpHeader& header) { return header.name == "Accept"; });
  if (!has_accept) request.headers.push_back({"Accept", "application/json"});
  request.deadlines = {timeout_, timeout_, timeout_, 2 * timeout_};
  request.max_response = kMaxBody;
  request.public_addresses_only = reach_ == Reach::public_only;
  auto response = co_await client_.send(std::move(request));
  if (!response) co_return response.error();
  Fetched answer;
  answer.status = (*response)->status();
  answer.challenge = (*response)->header("WWW-Authenticate");
  const auto body = co_await net::read_all(**response, kMaxBody);
  if (!body) co_return body.error();
  answer.body =
      nests_deeper(*body, kMaxDepth) ? json(json::value_t::discarded) : json::parse(*body, nullptr, false);
  co_return answer;
}

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  if (text.size() > kMaxMessage) {
    auto end = kMaxMessage;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text.resize(end);
  }
  return text;
}

std::string description_of(const Fetched& answer) {
  const auto error = string_of(answer.body, "error");
  const auto description = string_of(answer.body, "error_description");
  if (error.empty()) return "status " + std::to_string(answer.status);
  return one_line(error + (description.empty() ? "" : ": " + description));
}

std::string string_of(const json& object, const char* key) {
  const auto* found = member(object, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<std::string> strings_of(const json& object, const char* key) {
  std::vector<std::string> texts;
  const auto* found = member(object, key);
  if (found == nullptr || !found->is_array()) return texts;
  for (const auto& text : *found) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

}  // namespace parley::mcp::oauth
