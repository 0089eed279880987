#include "providers/wyoming/event.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace parley::providers::wyoming {
namespace {

using nlohmann::json;

/// Of the protocol's reference implementation whose events are spoken here.
constexpr auto kVersion = "1.10.0";

std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

const json* member(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// A length that a header says, 0 where it says none.
Result<std::size_t> length(const json& header, const char* key, std::size_t limit) {
  const auto* value = member(header, key);
  if (value == nullptr) return std::size_t{0};
  if (!value->is_number_unsigned()) {
    return Error(Errc::invalid_input, std::string("a Wyoming event whose ") + key + " is no length");
  }
  if (value->get<std::uint64_t>() > limit) {
    return Error(Errc::limit, std::string("a Wyoming event whose ") + key + " is more than " +
                                  std::to_string(limit) + " bytes");
  }
  return value->get<std::size_t>();
}

}  // namespace

std::string write_event(const Event& event) {
  json header = {{"type", event.type}, {"version", kVersion}};
  std::string data;
  if (!event.data.empty()) {
    data = text_of(event.data);
    header["data_length"] = data.size();
  }
  if (!event.payload.empty()) header["payload_length"] = event.payload.size();
  return text_of(header) + "\n" + data + event.payload;
}

Result<> EventParser::push(std::string_view bytes) {
  pending_ += bytes;
  std::size_t taken = 0;
  const auto rest = [&] { return std::string_view(pending_).substr(taken); };
  Result<> result;
  while (result) {
    if (stage_ == Stage::line) {
      const auto end = rest().find('\n', searched_);
      searched_ = end == std::string_view::npos ? rest().size() : 0;
      if (std::min(end, rest().size()) > limits_.line) {
        result = Error(Errc::limit, "a Wyoming event whose line is longer than " +
                                        std::to_string(limits_.line) + " bytes");
        break;
      }
      if (end == std::string_view::npos) break;
      result = read_line(rest().substr(0, end));
      taken += end + 1;
      stage_ = Stage::data;
    } else if (stage_ == Stage::data) {
      if (rest().size() < data_length_) break;
      if (data_length_ > 0) result = read_data(rest().substr(0, data_length_));
      taken += data_length_;
      stage_ = Stage::payload;
    } else {
      if (rest().size() < payload_length_) break;
      current_.payload = rest().substr(0, payload_length_);
      taken += payload_length_;
      ready_.push_back(std::exchange(current_, {}));
      stage_ = Stage::line;
    }
  }
  pending_.erase(0, taken);
  return result;
}

std::optional<Event> EventParser::next() {
  if (ready_.empty()) return std::nullopt;
  auto event = std::move(ready_.front());
  ready_.pop_front();
  return event;
}

Result<> EventParser::read_line(std::string_view line) {
  const auto header = json::parse(line, nullptr, false);
  if (!header.is_object()) return Error(Errc::invalid_input, "bytes that are no Wyoming event");
  const auto* type = member(header, "type");
  if (type == nullptr || !type->is_string() || type->get_ref<const std::string&>().empty())
    return Error(Errc::invalid_input, "a Wyoming event without a type");
  current_.type = type->get<std::string>();
  if (const auto* data = member(header, "data")) {
    if (!data->is_object()) return Error(Errc::invalid_input, "a Wyoming event whose data is no object");
    current_.data = *data;
  }
  const auto data_length = length(header, "data_length", limits_.data);
  if (!data_length) return data_length.error();
  const auto payload_length = length(header, "payload_length", limits_.payload);
  if (!payload_length) return payload_length.error();
  data_length_ = *data_length;
  payload_length_ = *payload_length;
  return {};
}

Result<> EventParser::read_data(std::string_view text) {
  const auto data = json::parse(text, nullptr, false);
  if (!data.is_object()) return Error(Errc::invalid_input, "a Wyoming event whose data is no object");
  current_.data.update(data);
  return {};
}

}  // namespace parley::providers::wyoming
