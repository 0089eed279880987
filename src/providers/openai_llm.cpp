#include "parley/providers/openai_llm.hpp"

#include <utility>

#include "parley/net/sse.hpp"
#include "providers/openai/chat_answer.hpp"
#include "providers/openai/chat_request.hpp"

namespace parley::providers {
namespace {

using namespace std::chrono_literals;
using engine::LlmEvent;
using nlohmann::json;

constexpr std::size_t kMaxResponse = std::size_t{8} * 1024 * 1024;

class ChatStream final : public engine::LlmStream {
 public:
  ChatStream(std::unique_ptr<net::HttpResponse> response, std::string call_prefix, std::string secret)
      : response_(std::move(response)),
        answer_(std::move(call_prefix)),
        secret_(std::move(secret)),
        framed_(response_->is_framed()) {}

  Task<Result<std::optional<LlmEvent>>> next() override {
    while (true) {
      if (auto event = answer_.next()) co_return std::optional(LlmEvent{arrived_, *std::move(event)});
      // What came before the error is delivered first.
      if (error_) co_return *error_;
      if (ended_) co_return std::optional<LlmEvent>();
      auto chunk = co_await response_->next();
      if (!chunk) co_return chunk.error();
      if (*chunk) arrived_ = (*chunk)->arrived;
      auto taken = *chunk ? take((*chunk)->bytes) : end();
      if (taken) continue;
      error_ = taken.error();
      error_->message = engine::without_secret(error_->message, secret_);
    }
  }

 private:
  enum class Form { unknown, events, whole };

  Result<> take(std::string_view bytes) {
    if (form_ == Form::unknown) {
      const auto first = bytes.find_first_not_of(" \t\r\n");
      if (first == std::string_view::npos) return {};
      // Asked for a stream, some servers answer in one piece all the same.
      form_ = bytes[first] == '{' ? Form::whole : Form::events;
    }
    if (form_ == Form::whole) {
      whole_ += bytes;
      return {};
    }
    if (auto pushed = events_.push(bytes); !pushed) return pushed;
    return take_events();
  }

  Result<> take_events() {
    while (const auto event = events_.next()) {
      if (ended_) continue;
      if (event->data == "[DONE]") {
        // The event is ours before the connection's end is: it is kept for the next request.
        response_->discard_rest();
        ended_ = true;
        if (auto finished = answer_.finish(); !finished) return finished;
      } else if (auto taken = answer_.take(event->data); !taken) {
        return taken;
      }
    }
    return {};
  }

  Result<> end() {
    if (form_ == Form::whole) {
      if (auto taken = answer_.take(whole_); !taken) return taken;
    } else {
      events_.finish();
      if (auto taken = take_events(); !taken || ended_) return taken;
      if (!framed_ && answer_.unfinished())
        return Error(Errc::closed, "the connection to the model service broke in the middle of an answer",
                     true);
    }
    ended_ = true;
    return answer_.finish();
  }

  std::unique_ptr<net::HttpResponse> response_;
  openai::ChatAnswer answer_;
  std::string secret_;
  net::SseParser events_;
  /// Whether HTTP tells a complete body from one that was cut off; else only the answer itself does.
  bool framed_;
  Form form_ = Form::unknown;
  std::string whole_;
  TimePoint arrived_{};
  std::optional<Error> error_;
  bool ended_ = false;
};

class OpenAiLlm final : public engine::LlmProvider {
 public:
  explicit OpenAiLlm(OpenAiLlmSettings settings)
      : settings_(std::make_shared<const OpenAiLlmSettings>(std::move(settings))) {}

  Task<Result<std::unique_ptr<engine::LlmStream>>> chat(engine::ChatRequest request) override {
    const auto settings = settings_;
    const auto body =
        openai::chat_body(*settings, request).dump(-1, ' ', false, json::error_handler_t::replace);
    const auto prefix = "call_" + std::to_string(request.messages.size()) + "_";
    const std::function<Task<Result<std::unique_ptr<engine::LlmStream>>>()> open =
        [&]() -> Task<Result<std::unique_ptr<engine::LlmStream>>> {
      auto asked = engine::http_post(settings->endpoint, "/chat/completions", "application/json", body);
      asked.headers.push_back({"Accept", "text/event-stream, application/json"});
      auto response = co_await engine::ask(settings->endpoint, std::move(asked));
      if (!response) co_return response.error();
      co_return std::make_unique<ChatStream>(std::move(*response), prefix, settings->endpoint.secret);
    };
    co_return co_await engine::begun<LlmEvent>(settings->endpoint.retry, open);
  }

  void connect_ahead(const asio::any_io_executor& executor) override {
    const auto& endpoint = settings_->endpoint;
    net::http_client(executor).connect_ahead(endpoint.base_url, endpoint.deadlines.connect);
  }

 private:
  std::shared_ptr<const OpenAiLlmSettings> settings_;
};

}  // namespace

std::shared_ptr<engine::LlmProvider> make_openai_llm(OpenAiLlmSettings settings) {
  return std::make_shared<OpenAiLlm>(std::move(settings));
}

std::shared_ptr<engine::LlmProvider> openai_llm_from_config(const config::Node& node,
                                                            const engine::EngineContext& /*context*/) {
  OpenAiLlmSettings settings;
  engine::HttpEndpoint defaults;
  defaults.max_response = kMaxResponse;
  settings.endpoint = engine::http_endpoint_from_config(node, "https://api.openai.com/v1", "Authorization",
                                                        "Bearer ", std::move(defaults));
  settings.model = node.require("model");
  if (const auto value = node.get("temperature", 1.0, 0.0, 2.0); node.has("temperature"))
    settings.temperature = value;
  if (const auto value = node.get("max_tokens", 1, 1, 1'000'000); node.has("max_tokens"))
    settings.max_tokens = value;
  if (const auto value = node.get("parallel_tool_calls", true); node.has("parallel_tool_calls"))
    settings.parallel_tool_calls = value;
  settings.tools = node.get("tools", settings.tools);
  settings.usage = node.get("usage", settings.usage);
  settings.extra_body = engine::extra_body_from_config(node);
  return make_openai_llm(std::move(settings));
}

}  // namespace parley::providers
