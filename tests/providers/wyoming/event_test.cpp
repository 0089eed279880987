#include "providers/wyoming/event.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace parley::providers::wyoming {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr EventLimits kSmall{64, 32, 16};

struct Read {
  std::vector<Event> events;
  Result<> result;
  bool in_event = false;
};

Read read(std::string_view bytes, std::size_t piece, EventLimits limits = {}) {
  EventParser parser(limits);
  Read read;
  for (std::size_t at = 0; at < bytes.size() && read.result; at += piece)
    read.result = parser.push(bytes.substr(at, piece));
  while (auto event = parser.next()) read.events.push_back(std::move(*event));
  read.in_event = parser.in_event();
  return read;
}

TEST(WyomingEvent, IsWrittenAsALineWithLengthsThenDataThenPayload) {
  EXPECT_EQ(write_event({"audio-stop", json::object(), {}}),
            "{\"type\":\"audio-stop\",\"version\":\"1.10.0\"}\n");
  const auto chunk = write_event({"audio-chunk", {{"rate", 16000}}, std::string("\0\n\xff", 3)});
  EXPECT_EQ(chunk,
            "{\"data_length\":14,\"payload_length\":3,\"type\":\"audio-chunk\",\"version\":\"1.10.0\"}\n"
            "{\"rate\":16000}" +
                std::string("\0\n\xff", 3));
  EXPECT_THAT(write_event({"synthesize", {{"text", "caf\xE9 \xC3\xA9"}}, {}}),
              HasSubstr("caf\xEF\xBF\xBD \xC3\xA9"));
}

TEST(WyomingEvent, IsReadBackWhereverItWasCut) {
  const std::vector<Event> sent = {{"audio-start", {{"rate", 22050}, {"timestamp", nullptr}}, {}},
                                   {"audio-chunk", json::object(), std::string("{\n\0}", 4)},
                                   {"transcript", {{"text", "line\nline"}}, "payload"},
                                   {"audio-stop", json::object(), {}}};
  std::string bytes;
  for (const auto& event : sent) bytes += write_event(event);
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    const auto got = read(bytes, piece);
    ASSERT_TRUE(got.result) << piece;
    ASSERT_EQ(got.events.size(), sent.size()) << piece;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      EXPECT_EQ(got.events[i].type, sent[i].type);
      EXPECT_EQ(got.events[i].data, sent[i].data);
      EXPECT_EQ(got.events[i].payload, sent[i].payload);
    }
    EXPECT_FALSE(got.in_event);
  }
}

TEST(WyomingEvent, OfOtherWritersIsUnderstood) {
  // Data in the line, and more of it behind, which counts.
  const auto merged =
      read("{\"type\": \"x\", \"data\": {\"a\": 1, \"b\": 2}, \"data_length\": 8}\r\n{\"b\": 3}", 7);
  ASSERT_EQ(merged.events.size(), 1U);
  EXPECT_EQ(merged.events[0].data, json({{"a", 1}, {"b", 3}}));
  const auto empty = read(
      "{\"type\": \"x\", \"data\": null, \"data_length\": null, \"payload_length\": 0, \"version\": 7, "
      "\"more\": []}\n",
      7);
  ASSERT_EQ(empty.events.size(), 1U);
  EXPECT_EQ(empty.events[0].data, json::object());
}

TEST(WyomingEvent, ThatIsBrokenEndsTheStream) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"garbage\n", "no Wyoming event"},
      {"\n", "no Wyoming event"},
      {"[]\n", "no Wyoming event"},
      {"{\"type\": \"x\"\n", "no Wyoming event"},
      {"HTTP/1.1 400 Bad Request\r\n", "no Wyoming event"},
      {"{\"type\": \"\xFF\"}\n", "no Wyoming event"},
      {"{}\n", "without a type"},
      {"{\"type\": null}\n", "without a type"},
      {"{\"type\": 7}\n", "without a type"},
      {"{\"type\": \"\"}\n", "without a type"},
      {"{\"type\": \"x\", \"data\": []}\n", "data is no object"},
      {"{\"type\": \"x\", \"data\": \"text\"}\n", "data is no object"},
      {"{\"type\": \"x\", \"data_length\": -1}\n", "data_length is no length"},
      {"{\"type\": \"x\", \"data_length\": 1.5}\n", "data_length is no length"},
      {"{\"type\": \"x\", \"data_length\": \"2\"}\n", "data_length is no length"},
      {"{\"type\": \"x\", \"data_length\": true}\n", "data_length is no length"},
      {"{\"type\": \"x\", \"payload_length\": -5}\n", "payload_length is no length"},
      {"{\"type\": \"x\", \"payload_length\": {}}\n", "payload_length is no length"},
      {"{\"type\": \"x\", \"data_length\": 2}\n[]", "data is no object"},
      {"{\"type\": \"x\", \"data_length\": 3}\n{\"a", "data is no object"},
  };
  const auto good = write_event({"good", json::object(), {}});
  for (const auto& [bytes, why] : wrong) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}}) {
      const auto got = read(good + bytes + good, piece);
      ASSERT_FALSE(got.result) << bytes;
      EXPECT_EQ(got.result.error().code, Errc::invalid_input) << bytes;
      EXPECT_THAT(got.result.error().message, HasSubstr(why)) << bytes;
      EXPECT_EQ(got.events.size(), 1U) << "what was complete before counts: " << bytes;
    }
  }
}

TEST(WyomingEvent, HasItsLimits) {
  const std::vector<std::string> fitting = {
      "{\"type\": \"" + std::string(52, 'x') + "\"}\n",
      "{\"type\": \"x\", \"data_length\": 32}\n{\"a\": \"" + std::string(23, 'y') + "\"}",
      "{\"type\": \"x\", \"payload_length\": 16}\n" + std::string(16, 'z'),
  };
  const std::vector<std::string> longer = {
      std::string(65, 'x'),
      "{\"type\": \"" + std::string(53, 'x') + "\"}\n",
      "{\"type\": \"x\", \"data_length\": 33}\n",
      "{\"type\": \"x\", \"payload_length\": 17}\n",
      "{\"type\": \"x\", \"payload_length\": 18446744073709551615}\n",
  };
  for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}}) {
    for (const auto& bytes : fitting) {
      const auto got = read(bytes, piece, kSmall);
      EXPECT_TRUE(got.result) << bytes;
      EXPECT_EQ(got.events.size(), 1U) << bytes;
    }
    for (const auto& bytes : longer) {
      const auto got = read(bytes, piece, kSmall);
      ASSERT_FALSE(got.result) << bytes;
      EXPECT_EQ(got.result.error().code, Errc::limit) << bytes;
    }
  }
}

TEST(WyomingEvent, ThatIsCutOffIsNoEvent) {
  const auto whole = write_event({"x", {{"a", 1}}, "payload"});
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const auto got = read(whole.substr(0, size), 5);
    EXPECT_TRUE(got.result);
    EXPECT_TRUE(got.events.empty());
    EXPECT_TRUE(got.in_event) << size;
  }
}

}  // namespace
}  // namespace parley::providers::wyoming
