#include "parley/net/sse.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace parley::net {
namespace {

using Shown = std::vector<std::string>;

void drain(SseParser& parser, Shown& shown) {
  while (const auto event = parser.next())
    shown.push_back(event->event + "|" + event->data + "|" + event->id);
}

Shown parse(const std::vector<std::string_view>& pieces) {
  SseParser parser;
  Shown shown;
  for (const auto piece : pieces) {
    EXPECT_TRUE(parser.push(piece));
    drain(parser, shown);
  }
  parser.finish();
  drain(parser, shown);
  return shown;
}

struct Case {
  const char* name;
  std::string stream;
  Shown events;
};

std::vector<Case> cases() {
  return {
      {"line feeds", "data: a\n\ndata: b\n\n", {"message|a|", "message|b|"}},
      {"carriage returns", "data: a\r\rdata: b\r\r", {"message|a|", "message|b|"}},
      {"both", "data: a\r\n\r\ndata: b\r\n\r\n", {"message|a|", "message|b|"}},
      {"mixed", "data: a\n\r\ndata: b\r\n\rdata: c\n\n", {"message|a|", "message|b|", "message|c|"}},
      {"several lines", "data: a\ndata:\ndata: c\n\n", {"message|a\n\nc|"}},
      {"one space at most goes", "data:a\ndata:  b\n\n", {"message|a\n b|"}},
      {"comments", ": keep alive\n\n:\ndata: a\n: b\n\n", {"message|a|"}},
      {"names, and ids that stay", "event: x\nid: 7\ndata: a\n\ndata: b\n\n", {"x|a|7", "message|b|7"}},
      {"an empty name", "event:\ndata: a\n\n", {"message|a|"}},
      {"no data, no event", "event: x\n\nid: 3\n\ndata: a\n\n", {"message|a|3"}},
      {"empty data", "data\n\ndata:\n\n", {"message||", "message||"}},
      {"unknown fields", "retry: 10\nfoo: bar\nbaz\ndata: a\n\n", {"message|a|"}},
      {"colons in values", "data: {\"a\": \"b:c\"}\n\n", {"message|{\"a\": \"b:c\"}|"}},
      {"a byte order mark",
       "\xEF\xBB\xBF"
       "data: a\n\ndata: \xEF\xBB\xBF\n\n",
       {"message|a|", "message|\xEF\xBB\xBF|"}},
      {"no blank line at the end", "data: a\n\ndata: [DONE]", {"message|a|", "message|[DONE]|"}},
      {"no blank line after a line", "data: a\n", {"message|a|"}},
      {"characters of several bytes",
       "data: \xE4\xBD\xA0\xF0\x9F\x98\x80\n\n",
       {"message|\xE4\xBD\xA0\xF0\x9F\x98\x80|"}},
      {"an id with a NUL", std::string("id: a\0b\ndata: x\n\n", 17), {"message|x|"}},
      {"nothing", "", {}},
      {"blank lines", "\n\r\n\r\r\n\n", {}},
  };
}

TEST(Sse, ReadsAWholeStream) {
  for (const auto& [name, stream, events] : cases()) EXPECT_EQ(parse({stream}), events) << name;
}

TEST(Sse, ReadsTheSameWhereverItIsCutInTwo) {
  for (const auto& [name, stream, events] : cases()) {
    const std::string_view whole(stream);
    for (std::size_t at = 0; at <= whole.size(); ++at)
      EXPECT_EQ(parse({whole.substr(0, at), whole.substr(at)}), events) << name << " cut at " << at;
  }
}

TEST(Sse, ReadsTheSameByteByByte) {
  for (const auto& [name, stream, events] : cases()) {
    std::vector<std::string_view> bytes;
    for (std::size_t at = 0; at < stream.size(); ++at)
      bytes.push_back(std::string_view(stream).substr(at, 1));
    EXPECT_EQ(parse(bytes), events) << name;
  }
}

TEST(Sse, GivesAnEventAsSoonAsItsBlankLineBegins) {
  SseParser parser;
  ASSERT_TRUE(parser.push("data: a\r\n\r"));
  EXPECT_TRUE(parser.next()) << "the line feed may never come";
  ASSERT_TRUE(parser.push("\ndata: b\n"));
  EXPECT_FALSE(parser.next());
}

TEST(Sse, RefusesAnEventThatIsTooLong) {
  const std::string piece(100, 'x');
  for (const std::string start : {"data: ", ": ", "foo", "data: a\ndata: "}) {
    SseParser parser(1000);
    Result<> pushed = parser.push(start);
    for (int i = 0; i < 20 && pushed; ++i) pushed = parser.push(piece);
    ASSERT_FALSE(pushed) << start;
    EXPECT_EQ(pushed.error().code, Errc::limit);
  }
  SseParser lines(1000);
  Result<> pushed;
  for (int i = 0; i < 400 && pushed; ++i) pushed = lines.push("id: 1\n");
  EXPECT_FALSE(pushed) << "many short lines are one event";
}

TEST(Sse, CountsEachEventAnew) {
  SseParser parser(100);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(parser.push("data: " + std::string(50, 'x') + "\n\n"));
}

TEST(Sse, RemembersTheLastIdOfACompleteEvent) {
  SseParser parser;
  EXPECT_EQ(parser.last_event_id(), "");
  ASSERT_TRUE(parser.push("id: a\ndata: 1\n\nid: b\n"));
  EXPECT_EQ(parser.last_event_id(), "a") << "its event may never be complete";
  ASSERT_TRUE(parser.push("\n"));
  EXPECT_EQ(parser.last_event_id(), "b") << "also of an event without data";
  ASSERT_TRUE(parser.push(std::string("id: x\0y\n\n", 9)));
  EXPECT_EQ(parser.last_event_id(), "b");
  ASSERT_TRUE(parser.push("data: 2\n\n"));
  EXPECT_EQ(parser.last_event_id(), "b");
  ASSERT_TRUE(parser.push("id\n\n"));
  EXPECT_EQ(parser.last_event_id(), "");
}

TEST(Sse, ReadsHowLongToWait) {
  SseParser parser;
  EXPECT_FALSE(parser.retry());
  for (const char* nonsense : {"retry: soon\n", "retry: -5\n", "retry: 1.5\n", "retry:\n", "retry: 5 s\n",
                               "retry: +5\n", "retry: 99999999999999999999\n"}) {
    ASSERT_TRUE(parser.push(nonsense));
    EXPECT_FALSE(parser.retry()) << nonsense;
  }
  ASSERT_TRUE(parser.push("retry: 0\n"));
  EXPECT_EQ(parser.retry(), Millis(0));
  ASSERT_TRUE(parser.push("retry: 1500\n"));
  EXPECT_EQ(parser.retry(), Millis(1500));
  ASSERT_TRUE(parser.push("retry: 99999999999\n"));
  EXPECT_EQ(parser.retry(), Millis(3'600'000));
}

}  // namespace
}  // namespace parley::net
