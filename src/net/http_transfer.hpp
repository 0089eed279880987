#pragma once

#include <curl/curl.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/core/async_event.hpp"
#include "parley/net/http_client.hpp"

namespace parley::net {

/// The error for a request to an address that it may not go to, where its URL names one; a name is looked at
/// when it was resolved.
std::optional<Error> forbidden(const HttpRequest& request, const std::string& origin);

/// One request inside libcurl and what arrived of its response. Its callbacks run inside libcurl, so they
/// never call it and never wait.
class HttpTransfer {
 public:
  HttpTransfer(const asio::any_io_executor& executor, std::shared_ptr<Scheduler> scheduler,
               HttpRequest request, std::string origin);
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;
  HttpTransfer(HttpTransfer&&) = delete;
  HttpTransfer& operator=(HttpTransfer&&) = delete;
  ~HttpTransfer();

  /// Null where libcurl could not set it up.
  CURL* easy() const { return easy_; }
  bool set_up(CURLSH* share);

  /// libcurl is done with it.
  void complete(CURLcode code);
  /// It ends with `error`, unless it ended before.
  void fail(Error error);
  /// Which deadline comes next.
  TimePoint next_deadline() const;
  /// The error for the deadline that has passed.
  Error deadline_passed() const;

  bool ended() const { return ended_; }
  bool headers_complete() const { return headers_complete_; }
  bool paused() const { return paused_; }
  /// The reader took what there was; true: libcurl is to be told to go on.
  bool resume();
  void discard(TimePoint until);

  HttpRequest request;
  std::string origin;
  AsyncEvent changed;
  std::unique_ptr<Timer> deadline;
  /// Called when another deadline counts from now on, perhaps an earlier one.
  std::function<void()> deadline_changed;
  int status = 0;
  bool http2 = false;
  std::vector<HttpHeader> headers;
  std::string buffer;
  TimePoint buffer_arrived{};
  std::optional<Error> error;

 private:
  enum class Phase { connecting, waiting, receiving };

  static int on_ready(void* self, char* /*ip*/, char* /*local*/, int /*port*/, int /*local_port*/);
  static curl_socket_t on_open(void* self, curlsocktype purpose, curl_sockaddr* address);
  static std::size_t on_read(char* into, std::size_t size, std::size_t count, void* self);
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  bool take_header(std::string_view line);
  std::size_t take_body(std::string_view bytes);
  Error explain(CURLcode code) const;
  void enter(Phase phase);

  std::shared_ptr<Scheduler> scheduler_;
  CURL* easy_;
  curl_slist* header_list_ = nullptr;
  std::vector<char> detail_;
  Phase phase_ = Phase::connecting;
  TimePoint phase_began_;
  TimePoint total_until_;
  TimePoint paused_at_{};
  std::string forbidden_address_;  ///< where it would have gone
  std::size_t sent_ = 0;           ///< of the body, where it is sent only once
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  bool headers_complete_ = false;
  bool paused_ = false;
  bool discarding_ = false;
  bool ended_ = false;
};

}  // namespace parley::net
