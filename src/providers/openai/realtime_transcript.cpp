#include "providers/openai/realtime_transcript.hpp"

#include <nlohmann/json.hpp>

#include "parley/engine/http_endpoint.hpp"

namespace parley::providers::openai {
namespace {

using nlohmann::json;

/// A member that is a text; empty: there is none.
std::string text_of(const json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Error malformed(std::string_view what) {
  return {Errc::invalid_input, "the recogniser sent " + std::string(what), true};
}

}  // namespace

Result<RealtimeTranscript::Update> RealtimeTranscript::take(std::string_view message) {
  constexpr std::string_view kTranscription = "conversation.item.input_audio_transcription.";
  const auto event = json::parse(message, nullptr, false);
  if (!event.is_object()) return malformed("what is no JSON object");
  const auto type = text_of(event, "type");
  if (type.empty()) return malformed("an event without a type");
  if (type == "input_audio_buffer.committed") {
    if (committed_) item_ = text_of(event, "item_id");
    return Update{};
  }
  if (type == "error" || type == std::string(kTranscription) + "failed") {
    const auto error = event.value("error", json::object());
    const auto code = text_of(error, "code");
    // Too little sound to be anything.
    if (code == "input_audio_buffer_commit_empty") return Update{false, true};
    return error_of(engine::message_of(event), code, text_of(error, "type"));
  }
  if (!type.starts_with(kTranscription)) return Update{};
  if (type.ends_with(".delta")) {
    const auto delta = text_of(event, "delta");
    deltas_ += delta;
    return Update{!delta.empty(), false};
  }
  if (!type.ends_with(".completed")) return Update{};
  if (!event.contains("transcript") || !event["transcript"].is_string())
    return malformed("a transcription without a text");
  const auto before = text();
  const auto transcript = engine::trimmed(text_of(event, "transcript"));
  if (!completed_.empty() && !transcript.empty()) completed_ += ' ';
  completed_ += transcript;
  deltas_.clear();
  const auto item = text_of(event, "item_id");
  // A service that finds ends of its own completes earlier items first.
  const bool is_ours = item_.empty() || item.empty() || item == item_;
  return Update{text() != before, committed_ && is_ours};
}

std::string RealtimeTranscript::text() const {
  const auto open = engine::trimmed(deltas_);
  if (completed_.empty() || open.empty()) return completed_ + open;
  return completed_ + ' ' + open;
}

Error RealtimeTranscript::error_of(std::string_view message, const std::string& code,
                                   const std::string& type) const {
  const auto has = [&](std::string_view word) {
    return code.find(word) != std::string::npos || type.find(word) != std::string::npos;
  };
  auto said = engine::without_secret(std::string(message), secret_);
  if (said.empty()) said = code.empty() ? type : code;
  auto text = "the recogniser reports: " + (said.empty() ? std::string("an error") : said);
  if (has("api_key") || has("authentication") || has("permission")) return {Errc::unauthorized, text};
  if (has("rate_limit") || has("quota")) return {Errc::overloaded, text, true};
  if (has("server_error")) return {Errc::unavailable, text, true};
  return {Errc::invalid_input, text};
}

}  // namespace parley::providers::openai
