#include "parley/engine/http_endpoint.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "parley/audio/pcm_reader.hpp"
#include "parley/core/async_event.hpp"

namespace parley::engine {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr std::size_t kMaxMessage = 200;
/// Of an answer that says what went wrong.
constexpr std::size_t kMaxErrorBody = std::size_t{16} * 1024;

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
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

/// The synchronisation of an MPEG audio frame.
bool begins_like_mpeg(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\xFF' && (static_cast<std::uint8_t>(bytes[1]) & 0xE0U) == 0xE0U;
}

/// Whether a body of "audio" begins as a page or an error message does: no sound stays in the printable
/// characters for so long.
bool begins_like_text(std::string_view bytes) {
  constexpr std::size_t kLeast = 6;
  constexpr std::size_t kLooked = 64;
  return bytes.size() >= kLeast && std::ranges::all_of(bytes.substr(0, kLooked), [](char c) {
           return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t';
         });
}

Error no_audio(const std::string& what, std::string_view body, const std::string& secret) {
  const auto said = without_secret(message_of(json::parse(body, nullptr, false)), secret);
  return {Errc::unavailable,
          "the voice service sends no audio but " + what + (said.empty() ? "" : ": " + said), true};
}

class BatchAsr final : public AsrStream {
 public:
  BatchAsr(const asio::any_io_executor& executor, Millis max_audio,
           std::function<Task<Result<std::string>>(audio::Pcm)> transcribe)
      : finished_(executor),
        max_samples_(audio::samples_in(max_audio, audio::kListeningRate)),
        transcribe_(std::move(transcribe)) {}

  void push(audio::PcmView samples) override {
    if (complete_) return;
    const auto room = max_samples_ - std::min(max_samples_, audio_.size());
    const auto taken = samples.first(std::min(room, samples.size()));
    audio_.insert(audio_.end(), taken.begin(), taken.end());
  }

  void finish() override {
    complete_ = true;
    finished_.notify();
  }

  Task<Result<std::optional<AsrEvent>>> next() override {
    if (std::exchange(delivered_, true)) co_return std::optional<AsrEvent>();
    while (!complete_) co_await finished_.wait();
    if (audio_.empty()) co_return std::optional(AsrEvent{AsrEvent::Kind::final, "", Clock::now()});
    auto text = co_await transcribe_(audio::Pcm{audio::kListeningRate, std::move(audio_)});
    if (!text) co_return text.error();
    co_return std::optional(AsrEvent{AsrEvent::Kind::final, std::move(*text), Clock::now()});
  }

 private:
  AsyncEvent finished_;
  std::size_t max_samples_;
  std::function<Task<Result<std::string>>(audio::Pcm)> transcribe_;
  std::vector<std::int16_t> audio_;
  bool complete_ = false;
  bool delivered_ = false;
};

class HttpSpeech final : public TtsStream {
 public:
  HttpSpeech(std::unique_ptr<net::HttpResponse> response, int rate, std::string secret)
      : response_(std::move(response)),
        secret_(std::move(secret)),
        says_mpeg_(response_->header("Content-Type").starts_with("audio/mpeg")),
        reader_(rate) {}

  Task<Result<std::optional<TtsAudio>>> next() override {
    while (true) {
      auto chunk = co_await response_->next();
      if (!chunk) co_return chunk.error();
      if (!*chunk) {
        if (heard_) co_return std::optional<TtsAudio>();
        co_return Error(Errc::unavailable, "the voice service sent no audio", true);
      }
      // Some servers call everything MPEG; only where the bytes look like it, too, it is.
      if (!heard_ && says_mpeg_ && begins_like_mpeg((*chunk)->bytes))
        co_return Error(Errc::unsupported, "this is MP3 audio; PCM was asked for");
      auto pcm = reader_.push((*chunk)->bytes);
      if (!pcm) co_return pcm.error();
      if (!std::exchange(begun_, true) && begins_like_text((*chunk)->bytes))
        co_return no_audio("text", (*chunk)->bytes, secret_);
      if (pcm->samples.empty()) continue;
      heard_ = true;
      co_return std::optional(TtsAudio{std::move(*pcm), (*chunk)->arrived});
    }
  }

 private:
  std::unique_ptr<net::HttpResponse> response_;
  std::string secret_;
  bool says_mpeg_;
  audio::PcmReader reader_;
  bool begun_ = false;
  bool heard_ = false;
};

}  // namespace

NetworkLimits network_limits_from_config(const config::Node& node, NetworkLimits defaults) {
  auto limits = defaults;
  limits.deadlines = deadlines_from_config(node, limits.deadlines);
  limits.retry.retries = node.get("retries", limits.retry.retries, 0, 10);
  limits.max_response = node.get_bytes("max_response", limits.max_response, 1024, std::size_t{1} << 30U);
  return limits;
}

HttpEndpoint http_endpoint_from_config(const config::Node& node, const char* base_url,
                                       const std::string& key_header, const std::string& key_prefix,
                                       HttpEndpoint defaults) {
  auto endpoint = std::move(defaults);
  endpoint.base_url = base_url == nullptr ? node.require("base_url") : node.get("base_url", base_url);
  while (endpoint.base_url.ends_with('/')) endpoint.base_url.pop_back();
  if (!net::origin_of(endpoint.base_url) || endpoint.base_url.find_first_of("?#") != std::string::npos) {
    node.fail("base_url",
              "expected an address such as https://host/v1, without a name, a password or a query");
  }
  endpoint.secret = node.get("api_key", "");
  endpoint.headers = headers_from_config(node, endpoint.secret, key_header, key_prefix);
  static_cast<NetworkLimits&>(endpoint) = network_limits_from_config(node, endpoint);
  return endpoint;
}

std::vector<net::HttpHeader> headers_from_config(const config::Node& node, const std::string& key,
                                                 const std::string& key_header,
                                                 const std::string& key_prefix) {
  std::vector<net::HttpHeader> headers;
  if (!key.empty()) headers.push_back({key_header, key_prefix + key});
  if (const auto block = node.child("headers")) {
    for (const auto& [name, value] : block->entries()) {
      if (!value.is_scalar()) value.fail("expected a text");
      headers.push_back({name, value.text()});
      if (!net::is_valid_header(headers.back())) value.fail("this cannot be sent as a header");
    }
  }
  if (!std::ranges::all_of(headers, net::is_valid_header))
    node.fail("api_key", "this cannot be sent in a header");
  return headers;
}

net::HttpDeadlines deadlines_from_config(const config::Node& node, net::HttpDeadlines defaults) {
  auto deadlines = defaults;
  deadlines.connect = node.get("connect_timeout", deadlines.connect, 1ms, 1min);
  deadlines.first_byte = node.get("first_byte_timeout", deadlines.first_byte, 1ms, 10min);
  deadlines.idle = node.get("idle_timeout", deadlines.idle, 1ms, 10min);
  deadlines.total = node.get("total_timeout", deadlines.total, 1ms, 60min);
  return deadlines;
}

json extra_body_from_config(const config::Node& node) {
  auto extra = json::object();
  if (const auto block = node.child("extra_body")) extra = block->json();
  if (!extra.is_object()) node.fail("extra_body", "expected a map");
  return extra;
}

void add_extra(json& body, const json& extra) {
  for (const auto& [key, value] : extra.items()) {
    if (value.is_null()) {
      body.erase(key);
    } else {
      body[key] = value;
    }
  }
}

net::HttpRequest http_post(const HttpEndpoint& endpoint, const std::string& path,
                           const std::string& content_type, std::string body) {
  net::HttpRequest request;
  request.method = "POST";
  request.url = endpoint.base_url + path;
  request.headers = endpoint.headers;
  request.headers.push_back({"Content-Type", content_type});
  request.body = std::move(body);
  request.deadlines = endpoint.deadlines;
  request.max_response = endpoint.max_response;
  return request;
}

Task<Result<std::unique_ptr<net::HttpResponse>>> ask(const HttpEndpoint& endpoint, net::HttpRequest request) {
  auto& client = net::http_client(co_await asio::this_coro::executor);
  const auto origin = net::origin_of(request.url).value_or("the server");
  auto response = co_await client.send(std::move(request));
  if (!response) co_return response.error();
  const auto status = (*response)->status();
  if (status >= 200 && status < 300) co_return response;
  std::string body;
  while (body.size() < kMaxErrorBody) {
    auto chunk = co_await (*response)->next();
    if (!chunk || !*chunk) break;
    body += (*chunk)->bytes;
  }
  auto error = error_of_status(status, body, origin, endpoint.secret);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  error.retry_after = net::retry_after((*response)->header("Retry-After"),
                                       std::chrono::duration_cast<std::chrono::seconds>(now).count());
  co_return error;
}

Error error_of_status(int status, std::string_view body, const std::string& origin,
                      const std::string& secret) {
  const auto said = without_secret(message_of(json::parse(body, nullptr, false)), secret);
  const auto text = origin + " answers " + std::to_string(status) + (said.empty() ? "" : ": " + said);
  switch (status) {
    case 401:
    case 403:
      return {Errc::unauthorized, text};
    case 408:
    case 504:
      return {Errc::timeout, text, true};
    case 413:
      return {Errc::limit, text};
    case 429:
      return {Errc::overloaded, text, true};
    case 503:
    case 529:
      return {Errc::overloaded, text, true};
    default:
      break;
  }
  if (status >= 500) return {Errc::unavailable, text, true};
  if (status >= 300 && status < 400)
    return {Errc::configuration,
            text + " (it wants to be asked at another address: correct the engine's address)"};
  if (status == 404 || status == 405) return {Errc::configuration, text};
  return {Errc::invalid_input, text};
}

std::string message_of(const json& answer) {
  const auto* at = &answer;
  for (const auto* key : {"error", "detail"}) {
    if (const auto* inner = member(*at, key)) at = inner;
  }
  if (at->is_array() && !at->empty()) at = &at->front();
  for (const auto* key : {"message", "msg", "detail"}) {
    if (const auto* inner = member(*at, key); inner != nullptr && inner->is_string()) at = inner;
  }
  return at->is_string() ? one_line(at->get<std::string>()) : std::string();
}

std::string without_secret(std::string text, const std::string& secret) {
  if (secret.empty()) return text;
  for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at))
    text.replace(at, secret.size(), "…");
  return text;
}

std::unique_ptr<AsrStream> batch_asr_stream(const asio::any_io_executor& executor, Millis max_audio,
                                            std::function<Task<Result<std::string>>(audio::Pcm)> transcribe) {
  return std::make_unique<BatchAsr>(executor, max_audio, std::move(transcribe));
}

Task<Result<std::unique_ptr<TtsStream>>> http_speech(std::shared_ptr<const HttpEndpoint> endpoint,
                                                     net::HttpRequest request, int rate) {
  const std::function<Task<Result<std::unique_ptr<TtsStream>>>()> open =
      [&]() -> Task<Result<std::unique_ptr<TtsStream>>> {
    auto response = co_await ask(*endpoint, request);
    if (!response) co_return response.error();
    const auto type = (*response)->header("Content-Type");
    if (type.starts_with("application/json") || type.starts_with("text/")) {
      const auto body = co_await net::read_all(**response, kMaxErrorBody);
      co_return no_audio(one_line(std::string(type)), body ? std::string_view(*body) : "", endpoint->secret);
    }
    co_return std::make_unique<HttpSpeech>(std::move(*response), rate, endpoint->secret);
  };
  co_return co_await begun<TtsAudio>(endpoint->retry, open);
}

}  // namespace parley::engine
