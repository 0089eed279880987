// Every message in proto-fixtures, and random damage to the good ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "parley/protocol/binary_frame.hpp"
#include "parley/protocol/messages.hpp"

namespace parley::protocol {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const fs::path kRoot = fs::path(PARLEY_SOURCE_DIR) / "proto-fixtures";

std::string read_bytes(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  EXPECT_TRUE(stream) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct Fixture {
  std::string file;
  std::string direction;
  json expect;
  json entry;
  std::string bytes;
};

std::string content_of(const fs::path& file) {
  const auto text = read_bytes(file);
  if (file.extension() != ".hex") return text;
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits),
                       [](unsigned char c) { return std::isxdigit(c) != 0; });
  std::string out;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    out += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return out;
}

const std::vector<Fixture>& fixtures() {
  static const auto all = [] {
    std::vector<Fixture> out;
    for (const auto& entry : json::parse(read_bytes(kRoot / "index.json"))) {
      Fixture fixture;
      fixture.file = entry.at("file").get<std::string>();
      fixture.direction = entry.at("direction").get<std::string>();
      fixture.expect = entry.at("expect");
      fixture.entry = entry;
      fixture.bytes = content_of(kRoot / fixture.file);
      out.push_back(std::move(fixture));
    }
    return out;
  }();
  return all;
}

Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

json describe(const AudioParams& audio, json out) {
  out["sample_rate"] = audio.sample_rate;
  out["frame_duration"] = audio.frame_duration;
  out["channels"] = audio.channels;
  return out;
}

struct DescribeDevice {
  json operator()(const DeviceHello& m) const {
    return describe(m.audio, {{"kind", "hello"},
                              {"version", m.version ? json(*m.version) : json()},
                              {"mcp", m.mcp},
                              {"aec", m.aec},
                              {"transport", m.transport}});
  }
  json operator()(const ListenStart& m) const {
    return {{"kind", "listen_start"}, {"mode", to_string(m.mode)}};
  }
  json operator()(const ListenStop&) const { return {{"kind", "listen_stop"}}; }
  json operator()(const ListenDetect& m) const { return {{"kind", "listen_detect"}, {"text", m.text}}; }
  json operator()(const Abort& m) const { return {{"kind", "abort"}, {"reason", m.reason}}; }
  json operator()(const McpMessage&) const { return {{"kind", "mcp"}}; }
  json operator()(const Goodbye&) const { return {{"kind", "goodbye"}}; }
  json operator()(const IgnoredMessage& m) const { return {{"kind", "ignored"}, {"type", m.type}}; }
};

struct DescribeServer {
  json operator()(const ServerHello& m) const { return describe(m.audio, {{"kind", "hello"}}); }
  json operator()(const Stt& m) const { return {{"kind", "stt"}, {"text", m.text}}; }
  json operator()(const LlmEmotion& m) const {
    return {{"kind", "llm"}, {"emotion", m.emotion}, {"text", m.text}};
  }
  json operator()(const TtsStart&) const { return {{"kind", "tts_start"}}; }
  json operator()(const SentenceStart& m) const { return {{"kind", "sentence_start"}, {"text", m.text}}; }
  json operator()(const TtsStop&) const { return {{"kind", "tts_stop"}}; }
  json operator()(const McpMessage&) const { return {{"kind", "mcp"}}; }
  json operator()(const SystemCommand& m) const { return {{"kind", "system"}, {"command", m.command}}; }
  json operator()(const Alert& m) const {
    return {{"kind", "alert"}, {"status", m.status}, {"message", m.message}, {"emotion", m.emotion}};
  }
  json operator()(const Custom& m) const { return {{"kind", "custom"}, {"payload", m.payload}}; }
  json operator()(const IgnoredMessage& m) const { return {{"kind", "ignored"}, {"type", m.type}}; }
};

json describe(const Error& error) {
  EXPECT_FALSE(error.message.empty());
  return {{"error", to_string(error.code)}};
}

json describe_frame(Framing framing, std::string_view bytes) {
  const auto frame = parse_frame(framing, as_bytes(bytes));
  if (!frame) return describe(frame.error());
  return {{"kind", frame->type == FrameType::opus ? "opus" : "json"},
          {"timestamp", frame->timestamp},
          {"payload_size", frame->payload.size()}};
}

json describe_text(const std::string& direction, std::string_view text) {
  if (direction == "device-to-server") {
    const auto message = parse_device_message(text);
    return message ? std::visit(DescribeDevice(), *message) : describe(message.error());
  }
  std::string session_id = "from before";
  const auto message = parse_server_message(text, &session_id);
  if (!message) return describe(message.error());
  auto out = std::visit(DescribeServer(), *message);
  out["session_id"] = session_id;
  return out;
}

json payload_of(const Fixture& fixture) {
  if (fixture.direction == "device-to-server") {
    return std::get<McpMessage>(*parse_device_message(fixture.bytes)).payload;
  }
  return std::get<McpMessage>(*parse_server_message(fixture.bytes)).payload;
}

TEST(Fixtures, AreThoseOfTheIndex) {
  std::set<std::string> listed;
  std::size_t bad = 0;
  for (const auto& fixture : fixtures()) {
    EXPECT_TRUE(listed.insert(fixture.file).second) << fixture.file << " is listed twice";
    EXPECT_FALSE(fixture.entry.at("source").get<std::string>().empty());
    EXPECT_TRUE(fixture.file.starts_with(fixture.direction + "/")) << fixture.file;
    const bool is_bad = fixture.file.find("/bad/") != std::string::npos;
    EXPECT_EQ(is_bad, fixture.expect.contains("error")) << fixture.file;
    bad += is_bad ? 1 : 0;
  }
  EXPECT_GE(bad, 60U);
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot)) {
    const auto name = fs::relative(entry.path(), kRoot).generic_string();
    if (entry.is_regular_file() && name != "index.json" && name != "README.md") found.insert(name);
  }
  EXPECT_EQ(found, listed);
}

TEST(Fixtures, MeanWhatTheIndexSays) {
  for (const auto& fixture : fixtures()) {
    if (fixture.direction == "binary") {
      const auto framing = static_cast<Framing>(fixture.entry.at("framing").get<int>());
      EXPECT_EQ(describe_frame(framing, fixture.bytes), fixture.expect) << fixture.file;
    } else {
      EXPECT_EQ(describe_text(fixture.direction, fixture.bytes), fixture.expect) << fixture.file;
    }
  }
}

TEST(Fixtures, KeepTheirMeaningWhenTheyAreWritten) {
  for (const auto& fixture : fixtures()) {
    if (fixture.expect.contains("error")) continue;
    if (fixture.direction == "binary") {
      const auto framing = static_cast<Framing>(fixture.entry.at("framing").get<int>());
      const auto frame = parse_frame(framing, as_bytes(fixture.bytes));
      const auto written = write_frame(framing, frame->type, frame->payload, frame->timestamp);
      ASSERT_TRUE(written) << fixture.file;
      const auto again = parse_frame(framing, *written);
      ASSERT_TRUE(again) << fixture.file;
      EXPECT_EQ(again->type, frame->type);
      EXPECT_EQ(again->timestamp, frame->timestamp);
      EXPECT_TRUE(std::ranges::equal(again->payload, frame->payload)) << fixture.file;
    } else if (fixture.direction == "device-to-server") {
      const auto message = parse_device_message(fixture.bytes);
      const auto text = write_device_message(*message, "s");
      EXPECT_EQ(describe_text(fixture.direction, text), fixture.expect) << fixture.file;
      EXPECT_EQ(text.find('\n'), std::string::npos);
    } else {
      std::string session_id;
      const auto message = parse_server_message(fixture.bytes, &session_id);
      const auto text = write_server_message(*message, session_id);
      EXPECT_EQ(describe_text(fixture.direction, text), fixture.expect) << fixture.file;
      EXPECT_EQ(text.find('\n'), std::string::npos);
    }
  }
}

TEST(Fixtures, HoldTheMcpPayloadsThatTheIndexNames) {
  for (const auto& fixture : fixtures()) {
    if (fixture.expect.value("kind", "") != "mcp") continue;
    const auto payload = payload_of(fixture);
    ASSERT_TRUE(payload.is_object()) << fixture.file;
    const auto kind = fixture.entry.value("mcp", "");
    EXPECT_EQ(kind == "request", payload.contains("method") && payload.contains("id")) << fixture.file;
    EXPECT_EQ(kind == "notification", payload.contains("method") && !payload.contains("id")) << fixture.file;
    EXPECT_EQ(kind == "error", payload.contains("error")) << fixture.file;
    if (kind == "response") EXPECT_TRUE(payload.contains("result")) << fixture.file;
    if (fixture.entry.contains("id")) EXPECT_EQ(payload.at("id"), fixture.entry.at("id")) << fixture.file;
    if (fixture.entry.contains("tools")) {
      auto names = json::array();
      for (const auto& tool : payload.at("result").at("tools")) names.push_back(tool.at("name"));
      EXPECT_EQ(names, fixture.entry.at("tools")) << fixture.file;
    }
  }
}

TEST(Fixtures, NeitherCrashNorThrowWhenTheyAreDamaged) {
  std::mt19937 random(20250101);
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(n, 1));
  };
  std::vector<const Fixture*> good;
  for (const auto& fixture : fixtures()) {
    if (!fixture.expect.contains("error")) good.push_back(&fixture);
  }
  constexpr int kCases = 20'000;
  int parsed = 0;
  for (int i = 0; i < kCases; ++i) {
    const auto& fixture = *good[below(good.size())];
    auto bytes = fixture.bytes;
    for (auto changes = below(4) + 1; changes > 0; --changes) {
      const auto at = below(bytes.size());
      const auto length = below(24);
      switch (below(5)) {
        case 0:
          if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
          break;
        case 1:
          bytes.resize(at);
          break;
        case 2:
          bytes.insert(at, bytes.substr(at, length));
          break;
        case 3:
          bytes.erase(at, length);
          break;
        default:
          if (!bytes.empty()) bytes[at] = static_cast<char>(random());
      }
    }
    ASSERT_NO_THROW({
      if (fixture.direction == "binary") {
        for (const auto framing : {Framing::raw, Framing::timestamped, Framing::compact}) {
          parsed += describe_frame(framing, bytes).contains("kind") ? 1 : 0;
        }
      } else if (fixture.direction == "device-to-server") {
        const auto message = parse_device_message(bytes);
        if (message) EXPECT_TRUE(parse_device_message(write_device_message(*message, bytes)));
        parsed += message ? 1 : 0;
      } else {
        const auto message = parse_server_message(bytes);
        if (message) EXPECT_TRUE(parse_server_message(write_server_message(*message, bytes)));
        parsed += message ? 1 : 0;
      }
    }) << fixture.file;
  }
  // Damage that is always refused, or never, would test nothing.
  EXPECT_GT(parsed, kCases / 50);
  EXPECT_LT(parsed, kCases);
}

}  // namespace
}  // namespace parley::protocol
