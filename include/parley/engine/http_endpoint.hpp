#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "parley/audio/pcm.hpp"
#include "parley/config/node.hpp"
#include "parley/engine/asr.hpp"
#include "parley/engine/retry.hpp"
#include "parley/engine/tts.hpp"
#include "parley/net/http_client.hpp"

// What all engines behind HTTP have in common.
namespace parley::engine {

/// What every engine on the network is held to.
struct NetworkLimits {
  net::HttpDeadlines deadlines;
  RetryPolicy retry;
  std::size_t max_response = std::size_t{64} * 1024 * 1024;  ///< bytes of one answer
};

/// Reads `connect_timeout`, `first_byte_timeout`, `idle_timeout`, `total_timeout`, `retries`, `max_response`.
NetworkLimits network_limits_from_config(const config::Node& node, NetworkLimits defaults = {});

/// Where an engine is and how long it may take.
struct HttpEndpoint : NetworkLimits {
  std::string base_url;                  ///< without a slash at its end
  std::vector<net::HttpHeader> headers;  ///< with the credentials
  std::string secret;                    ///< never shown in an error; may be empty
};

/// Reads `base_url` (default: `base_url`; null demands one), `api_key`, `headers`, and the keys of
/// network_limits_from_config(). The key goes into `key_header`, after `key_prefix`.
HttpEndpoint http_endpoint_from_config(const config::Node& node, const char* base_url,
                                       const std::string& key_header, const std::string& key_prefix,
                                       HttpEndpoint defaults = {});

/// The parts of it that every engine on the network has. Reads `headers`; the key, unless it is empty, goes
/// into `key_header`, after `key_prefix`.
std::vector<net::HttpHeader> headers_from_config(const config::Node& node, const std::string& key,
                                                 const std::string& key_header,
                                                 const std::string& key_prefix);
/// Reads `connect_timeout`, `first_byte_timeout`, `idle_timeout`, `total_timeout`.
net::HttpDeadlines deadlines_from_config(const config::Node& node, net::HttpDeadlines defaults);

/// Reads `extra_body`, a map of what an engine's requests hold beyond what Parley knows.
nlohmann::json extra_body_from_config(const config::Node& node);
/// Adds it to a request; a null takes a key out.
void add_extra(nlohmann::json& body, const nlohmann::json& extra);

/// A request to `path` below the endpoint.
net::HttpRequest http_post(const HttpEndpoint& endpoint, const std::string& path,
                           const std::string& content_type, std::string body);

/// Sends it; an answer other than 2xx becomes an error that says what the server said (429: overloaded, 401
/// and 403: unauthorized, …), without the secret. The endpoint outlives the task.
Task<Result<std::unique_ptr<net::HttpResponse>>> ask(const HttpEndpoint& endpoint, net::HttpRequest request);

/// The error that such a status stands for.
Error error_of_status(int status, std::string_view body, const std::string& origin,
                      const std::string& secret);

/// What an error object of a JSON answer says (`error`, `error.message`, `message`, `detail`, …), for a
/// person: one line of at most 200 bytes; empty where it says nothing.
std::string message_of(const nlohmann::json& answer);
/// The same with the endpoint's secret taken out.
std::string without_secret(std::string text, const std::string& secret);

/// A recogniser that takes whole utterances, as a stream: gathers what is pushed, `max_audio` at most (what
/// comes after it is not heard), and asks when it is finished. Nothing was pushed: an empty result.
/// `transcribe` is called once, within next().
std::unique_ptr<AsrStream> batch_asr_stream(const asio::any_io_executor& executor, Millis max_audio,
                                            std::function<Task<Result<std::string>>(audio::Pcm)> transcribe);

/// Speech as the body of an HTTP answer, read while it arrives: raw 16-bit little-endian mono at `rate`, or a
/// WAV file of any rate. Fails where the answer is no audio, or another kind of audio. Tries again until the
/// first audio.
Task<Result<std::unique_ptr<TtsStream>>> http_speech(std::shared_ptr<const HttpEndpoint> endpoint,
                                                     net::HttpRequest request, int rate);

}  // namespace parley::engine
