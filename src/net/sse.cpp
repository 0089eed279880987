#include "parley/net/sse.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace parley::net {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

Result<> SseParser::push(std::string_view bytes) {
  while (!bytes.empty()) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const auto end = bytes.find_first_of("\r\n");
    const auto part = bytes.substr(0, end);
    event_bytes_ += part.size() + 1;
    if (event_bytes_ > max_event_) {
      return Error(Errc::limit, "an event is longer than " + std::to_string(max_event_) + " bytes");
    }
    line_ += part;
    if (end == std::string_view::npos) break;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line();
  }
  return {};
}

void SseParser::finish() {
  if (!line_.empty()) end_line();
  dispatch();
}

std::optional<SseEvent> SseParser::next() {
  if (ready_.empty()) return std::nullopt;
  std::optional event(std::move(ready_.front()));
  ready_.pop_front();
  return event;
}

void SseParser::end_line() {
  auto line = std::exchange(line_, {});
  std::string_view text(line);
  if (std::exchange(first_line_, false) && text.starts_with(kByteOrderMark))
    text.remove_prefix(kByteOrderMark.size());
  if (text.empty()) {
    dispatch();
    return;
  }
  const auto colon = text.find(':');
  if (colon == 0) return;
  if (colon == std::string_view::npos) {
    take_field(text, {});
    return;
  }
  auto value = text.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  take_field(text.substr(0, colon), value);
}

void SseParser::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (std::exchange(has_data_, true)) current_.data += '\n';
    current_.data += value;
  } else if (name == "event") {
    current_.event = value;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    current_.id = value;
  } else if (name == "retry") {
    constexpr std::int64_t kMaxRetry = 3'600'000;  // ms; more would only make numbers overflow
    std::int64_t wait = 0;
    const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), wait);
    if (failed == std::errc() && end == value.data() + value.size() && wait >= 0)
      retry_ = Millis(std::min(wait, kMaxRetry));
  }
}

void SseParser::dispatch() {
  event_bytes_ = 0;
  auto id = current_.id;
  last_event_id_ = id;
  if (std::exchange(has_data_, false)) {
    if (current_.event.empty()) current_.event = "message";
    ready_.push_back(std::move(current_));
  }
  current_ = {};
  current_.id = std::move(id);
}

}  // namespace parley::net
