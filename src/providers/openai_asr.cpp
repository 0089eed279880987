#include "parley/providers/openai_asr.hpp"

#include <random>
#include <utility>

#include "parley/audio/wav.hpp"

namespace parley::providers {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr std::size_t kMaxAnswer = std::size_t{1024} * 1024;

/// multipart/form-data (RFC 7578).
class Form {
 public:
  Form() {
    std::random_device random;
    boundary_ = "parley-";
    for (int i = 0; i < 4; ++i) boundary_ += std::to_string(random());
  }

  void add(std::string_view name, std::string_view value) {
    body_ += "--" + boundary_ + "\r\nContent-Disposition: form-data; name=\"";
    body_ += name;
    body_ += "\"\r\n\r\n";
    body_ += value;
    body_ += "\r\n";
  }

  void add_wav(const audio::Pcm& pcm) {
    const auto wav = audio::format_wav(pcm.samples, pcm.rate);
    body_ += "--" + boundary_ +
             "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"utterance.wav\"\r\n"
             "Content-Type: audio/wav\r\n\r\n";
    body_.append(wav.begin(), wav.end());
    body_ += "\r\n";
  }

  std::string type() const { return "multipart/form-data; boundary=" + boundary_; }
  std::string finish() { return std::move(body_) + "--" + boundary_ + "--\r\n"; }

 private:
  std::string boundary_;
  std::string body_;
};

Task<Result<std::string>> transcribe_once(std::shared_ptr<const OpenAiAsrSettings> settings, std::string type,
                                          std::string body) {
  auto response = co_await engine::ask(
      settings->endpoint,
      engine::http_post(settings->endpoint, "/audio/transcriptions", type, std::move(body)));
  if (!response) co_return response.error();
  const bool plain = (*response)->header("Content-Type").starts_with("text/plain");
  const auto read = co_await net::read_all(**response, kMaxAnswer);
  if (!read) co_return read.error();
  const auto answer = json::parse(*read, nullptr, false);
  if (plain && !answer.is_object()) co_return engine::trimmed(*read);
  const auto text = answer.is_object() ? answer.find("text") : answer.end();
  if (!answer.is_object() || text == answer.end() || !text->is_string()) {
    const auto said = engine::without_secret(engine::message_of(answer), settings->endpoint.secret);
    co_return Error(Errc::invalid_input,
                    "the recogniser's answer holds no text" + (said.empty() ? "" : ": " + said), true);
  }
  co_return engine::trimmed(text->get<std::string>());
}

Task<Result<std::string>> transcribe(std::shared_ptr<const OpenAiAsrSettings> settings, std::string language,
                                     audio::Pcm pcm) {
  Form form;
  form.add("model", settings->model);
  form.add("response_format", "json");
  if (!language.empty()) form.add("language", language);
  if (!settings->prompt.empty()) form.add("prompt", settings->prompt);
  for (const auto& [name, value] : settings->extra_body.items())
    form.add(name, value.is_string() ? value.get<std::string>() : value.dump());
  form.add_wav(pcm);
  const auto type = form.type();
  const auto body = form.finish();
  const std::function<Task<Result<std::string>>()> attempt = [&] {
    return transcribe_once(settings, type, body);
  };
  co_return co_await engine::retried<std::string>(settings->endpoint.retry, attempt);
}

class OpenAiAsr final : public engine::AsrProvider {
 public:
  explicit OpenAiAsr(OpenAiAsrSettings settings)
      : settings_(std::make_shared<const OpenAiAsrSettings>(std::move(settings))) {}

  Task<Result<std::unique_ptr<engine::AsrStream>>> open(engine::AsrRequest request) override {
    co_return engine::batch_asr_stream(
        co_await asio::this_coro::executor, settings_->max_audio,
        [settings = settings_,
         language = engine::language_for_service(settings_->language, request.language)](audio::Pcm pcm) {
          return transcribe(settings, language, std::move(pcm));
        });
  }

  void connect_ahead(const asio::any_io_executor& executor) override {
    const auto& endpoint = settings_->endpoint;
    net::http_client(executor).connect_ahead(endpoint.base_url, endpoint.deadlines.connect);
  }

 private:
  std::shared_ptr<const OpenAiAsrSettings> settings_;
};

}  // namespace

std::shared_ptr<engine::AsrProvider> make_openai_asr(OpenAiAsrSettings settings) {
  return std::make_shared<OpenAiAsr>(std::move(settings));
}

std::shared_ptr<engine::AsrProvider> openai_asr_from_config(const config::Node& node,
                                                            const engine::EngineContext& /*context*/) {
  OpenAiAsrSettings settings;
  settings.endpoint =
      engine::http_endpoint_from_config(node, "https://api.openai.com/v1", "Authorization", "Bearer ");
  settings.model = node.require("model");
  settings.language = node.get("language", "");
  settings.prompt = node.get("prompt", "");
  settings.max_audio = node.get("max_audio", settings.max_audio, 1s, 600s);
  settings.extra_body = engine::extra_body_from_config(node);
  for (const auto& [name, value] : settings.extra_body.items()) {
    if (value.is_structured() || value.is_null() || name.find_first_of("\"\r\n") != std::string::npos)
      node.fail("extra_body", "expected texts, numbers and booleans");
  }
  return make_openai_asr(std::move(settings));
}

}  // namespace parley::providers
