#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "parley/config/settings.hpp"

namespace parley::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

Settings read(std::string_view text) {
  return load_text(text, "p.yaml");
}

std::string complaint(std::string_view text) {
  try {
    read(text);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, Errc::configuration);
    return failure.what();
  }
  return "no complaint";
}

std::vector<std::string> types(const Settings& settings) {
  std::vector<std::string> out;
  for (const auto& [name, block] : settings.engines) {
    EXPECT_EQ(name, block.name);
    out.push_back(name + "=" + block.type);
  }
  return out;
}

void expect_defaults(const Settings& settings) {
  const Settings expected;
  EXPECT_EQ(settings.log, expected.log);
  EXPECT_EQ(settings.server, expected.server);
  EXPECT_EQ(settings.auth, expected.auth);
  EXPECT_EQ(settings.log_private, expected.log_private);
  EXPECT_EQ(settings.turn_log, expected.turn_log);
  EXPECT_EQ(settings.history, expected.history);
  EXPECT_EQ(settings.profile, expected.profile);
  EXPECT_THAT(settings.devices, IsEmpty());
  EXPECT_THAT(types(settings),
              ElementsAre("commands=intents", "ears=webrtc_vad", "sphinx=pocketsphinx", "voice=flite"));
}

const std::filesystem::path kDefaultFile =
    std::filesystem::path(PARLEY_SOURCE_DIR) / "config" / "parley.yaml";

TEST(DefaultFile, SaysWhatTheDefaultsAre) {
  unsetenv("PARLEY_TOKEN");
  const auto settings = load(kDefaultFile);
  expect_defaults(settings);
  EXPECT_EQ(settings.file, kDefaultFile);
}

TEST(DefaultFile, HasEveryKeyThatIsRead) {
  unsetenv("PARLEY_TOKEN");
  const auto root = Node::load(kDefaultFile);
  load(root);
  EXPECT_THAT(root.absent_keys(), IsEmpty());
}

TEST(DefaultFile, TakesItsTokenFromTheEnvironment) {
  setenv("PARLEY_TOKEN", "two words", 1);
  const auto settings = load(kDefaultFile);
  unsetenv("PARLEY_TOKEN");
  EXPECT_THAT(settings.auth.tokens, ElementsAre(Token{.name = "default", .secret = "two words"}));
}

TEST(Load, NeedsNothing) {
  expect_defaults(read("{}"));
}

TEST(Load, TakesEmptySections) {
  expect_defaults(read("server:\nauth:\nlog:\naudio:\nengines:\nroles:\ndevices:\nturn_log:\n"));
}

TEST(Load, ReadsListen) {
  const std::tuple<const char*, const char*, int> table[] = {
      {"127.0.0.1:8001", "127.0.0.1", 8001},
      {"\"[::]:80\"", "::", 80},
      {"\"[::1]:0\"", "::1", 0},
      {"0.0.0.0:65535", "0.0.0.0", 65535},
  };
  for (const auto& [text, address, port] : table) {
    const auto settings = read("server: {listen: " + std::string(text) + "}");
    EXPECT_EQ(settings.server.address, address) << text;
    EXPECT_EQ(settings.server.port, port) << text;
  }
}

TEST(Load, ReadsEverySection) {
  const auto settings = read(R"(
server: {io_threads: 3, connections_per_second: 0.5, max_message: 8KB, handshake_timeout: 2s}
auth: {type: none}
log: {level: debug, private: true, json: true}
log_private: true
turn_log: turns.jsonl
persona: Be brief.
language: zh-CN
voice: rms
audio: {downlink_rate: 16000, downlink_frame: 20ms, send_ahead: 790ms, complexity: 0}
detector: {end_silence: 1s, min_snr_db: 0, adaptive: false}
noise: {suppress: true, level: very_high}
session: {idle_timeout: 0s, greeting: "Yes?", max_history_turns: 3, max_history_tokens: 500}
timezone: Etc/UTC
history: {file: h/history.db, keep_days: 7, max_turns_per_device: 50, max_size: 2MB}
)");
  EXPECT_EQ(settings.server.io_threads, 3U);
  EXPECT_EQ(settings.server.connections_per_second, 0.5);
  EXPECT_EQ(settings.server.max_message, 8192U);
  EXPECT_EQ(settings.server.handshake_timeout, 2s);
  EXPECT_FALSE(settings.auth.required);
  EXPECT_EQ(settings.log, (LogSettings{.level = "debug", .show_private = true, .json = true}));
  EXPECT_TRUE(settings.log_private);
  EXPECT_EQ(settings.turn_log, "./turns.jsonl");
  EXPECT_EQ(settings.profile.persona, "Be brief.");
  EXPECT_EQ(settings.profile.language, "zh-CN");
  EXPECT_EQ(settings.profile.voice, "rms");
  EXPECT_EQ(settings.profile.audio.send_ahead, 790ms);
  EXPECT_EQ(settings.profile.audio.downlink_frame, 20ms);
  EXPECT_EQ(settings.profile.detector.end_silence, 1s);
  EXPECT_FALSE(settings.profile.detector.adaptive);
  EXPECT_EQ(settings.profile.noise, (NoiseSettings{.suppress = true, .level = "very_high"}));
  EXPECT_EQ(settings.profile.session.idle_timeout, 0s);
  EXPECT_EQ(settings.profile.session.max_history_turns, 3U);
  EXPECT_EQ(settings.profile.session.max_history_tokens, 500U);
  EXPECT_EQ(settings.profile.timezone, "Etc/UTC");
  EXPECT_EQ(settings.history, (HistorySettings{.enabled = true,
                                               .file = "./h/history.db",
                                               .keep = 7 * 24h,
                                               .max_turns_per_device = 50,
                                               .max_size = std::size_t{2} << 20U}));
}

TEST(Load, RefusesAWrongPersona) {
  EXPECT_THAT(complaint("language: en\npersona: It is {tiem}.\n"),
              AllOf(StartsWith("p.yaml:2: persona: "), HasSubstr("did you mean time?")));
  EXPECT_THAT(complaint("devices: {d: {persona: '{'}}"), HasSubstr("devices.d.persona: "));
  EXPECT_THAT(complaint("timezone: Europe/Atlantis"),
              AllOf(StartsWith("p.yaml:1: timezone: "), HasSubstr("Europe/Atlantis")));
}

TEST(Load, RefusesAWrongHistory) {
  EXPECT_THAT(complaint("history: {keep_days: 0}"), HasSubstr("history.keep_days: "));
  EXPECT_THAT(complaint("history: {max_turns_per_device: 0}"), HasSubstr("max_turns_per_device"));
  EXPECT_THAT(complaint("history: {max_size: 1KB}"), HasSubstr("max_size"));
  EXPECT_THAT(complaint("history: {flie: x}"), HasSubstr("file"));
  EXPECT_THAT(complaint("history: yes"), HasSubstr("history"));
  EXPECT_THAT(complaint("session: {max_history_tokens: -1}"), HasSubstr("max_history_tokens"));
}

TEST(Load, LooksForTheTurnLogBesideTheFile) {
  EXPECT_EQ(load_text("turn_log: t/turns.jsonl", "/etc/parley/p.yaml").turn_log, "/etc/parley/t/turns.jsonl");
  EXPECT_EQ(load_text("turn_log: /var/turns.jsonl", "/etc/parley/p.yaml").turn_log, "/var/turns.jsonl");
}

TEST(Load, LeavesTheEnginesToTheirFactories) {
  const auto settings = read(R"(
engines:
  gpt: {type: openai, model: x, unheard_of: 1}
  ears: {type: own_ears}
roles: {llm: [gpt, commands]}
)");
  EXPECT_THAT(types(settings), ElementsAre("commands=intents", "ears=own_ears", "gpt=openai",
                                           "sphinx=pocketsphinx", "voice=flite"));
  EXPECT_THAT(settings.profile.roles.llm, ElementsAre("gpt", "commands"));
  EXPECT_THAT(settings.profile.roles.asr, ElementsAre("sphinx"));
  const auto& node = settings.engines.at("gpt").node;
  EXPECT_EQ(node.get("model", ""), "x");
  EXPECT_THROW(node.finish(), Failure);
  node.has("unheard_of");
  EXPECT_NO_THROW(node.finish());
}

TEST(Load, LeavesOutDefaultEnginesThatNobodyUses) {
  const auto settings =
      read("engines: {gpt: {type: openai}}\nroles: {vad: gpt, asr: gpt, llm: gpt, tts: gpt}\n");
  EXPECT_THAT(types(settings), ElementsAre("gpt=openai"));
  const auto with_device = read(
      "engines: {gpt: {type: openai}}\nroles: {vad: gpt, asr: gpt, llm: gpt, tts: gpt}\n"
      "devices: {d: {roles: {tts: voice}}}\n");
  EXPECT_THAT(types(with_device), ElementsAre("gpt=openai", "voice=flite"));
}

TEST(Load, MergesDevicesOverTheDefaults) {
  const auto settings = read(R"(
persona: The default.
voice: slt
audio: {bitrate: 24000, send_ahead: 700ms}
session: {greeting: Hello}
devices:
  AA:BB:CC:DD:EE:FF:
    persona: Another.
    audio: {downlink_frame: 20ms}
    roles: {tts: [voice]}
  desk: {}
)");
  const auto& device = settings.profile_for("aa:bb:cc:dd:EE:ff");
  EXPECT_EQ(device.persona, "Another.");
  EXPECT_EQ(device.voice, "slt");
  EXPECT_EQ(device.audio.downlink_frame, 20ms);
  EXPECT_EQ(device.audio.bitrate, 24000);
  EXPECT_EQ(device.audio.send_ahead, 700ms);
  EXPECT_EQ(device.session.greeting, "Hello");
  EXPECT_EQ(settings.profile.audio.downlink_frame, 60ms);
  EXPECT_EQ(settings.profile_for("DESK"), settings.profile);
  EXPECT_EQ(&settings.profile_for("unknown"), &settings.profile);
  EXPECT_EQ(&settings.profile_for(""), &settings.profile);
}

TEST(Load, DropsTokensOfUnsetVariables) {
  unsetenv("PARLEY_TEST_A");
  setenv("PARLEY_TEST_B", "bb", 1);
  const auto settings = read(R"(
auth:
  tokens:
    - {name: a, secret: "${PARLEY_TEST_A:-}"}
    - {name: b, secret: "${PARLEY_TEST_B:-}"}
    - {name: c, secret: cc}
)");
  unsetenv("PARLEY_TEST_B");
  EXPECT_TRUE(settings.auth.required);
  EXPECT_THAT(settings.auth.tokens,
              ElementsAre(Token{.name = "b", .secret = "bb"}, Token{.name = "c", .secret = "cc"}));
}

struct Mistake {
  const char* yaml;
  const char* start;
  const char* end;
};

TEST(Load, SaysWhatIsWrong) {
  const Mistake table[] = {
      {"sever: {}", "p.yaml:1: sever: ", "did you mean server?"},
      {"\n\nserver:\n  io_thread: 2", "p.yaml:4: server.io_thread: ", "did you mean io_threads?"},
      {"server: 5", "p.yaml:1: server: ", "expected a map of settings"},
      {"server: {listen: 8000}", "p.yaml:1: server.listen: there is no port",
       "expected an address and a port such as 0.0.0.0:8000, 127.0.0.1:8000 or \"[::]:8000\""},
      {"server: {listen: ':8000'}", "p.yaml:1: server.listen: \"\" is not an IP address", "\"[::]:8000\""},
      {"server: {listen: 'localhost:8000'}", "p.yaml:1: server.listen: \"localhost\" is not",
       "\"[::]:8000\""},
      {"server: {listen: '::1:8000'}", "p.yaml:1: server.listen: \"::1\" is not an IP address",
       "\"[::]:8000\""},
      {"server: {listen: '[127.0.0.1]:80'}", "p.yaml:1: server.listen: ", "\"[::]:8000\""},
      {"server: {listen: '1.2.3.4:'}", "p.yaml:1: server.listen: \"\" is not a port", "\"[::]:8000\""},
      {"server: {listen: '1.2.3.4:65536'}", "p.yaml:1: server.listen: \"65536\" is not a port",
       "\"[::]:8000\""},
      {"server: {listen: '1.2.3.4:-1'}", "p.yaml:1: server.listen: \"-1\" is not a port", "\"[::]:8000\""},
      {"server: {listen: '1.2.3.4:0x50'}", "p.yaml:1: server.listen: ", "\"[::]:8000\""},
      {"server: {listen: ''}", "p.yaml:1: server.listen: ", "expected text that is not empty"},
      {"server: {io_threads: -1}", "p.yaml:1: server.io_threads: ", "expected a whole number, 0 to 256"},
      {"server: {max_sessions: 0}",
       "p.yaml:1: server.max_sessions: ", "expected a whole number, 1 to 1000000"},
      {"server: {max_message: 17MB}", "p.yaml:1: server.max_message: ", "1KB to 16MB"},
      {"server: {idle_timeout: 120}", "p.yaml:1: server.idle_timeout: ", "100ms to 1d"},
      {"server: {connections_per_second: 0}", "p.yaml:1: server.connections_per_second: ", "0.01 to 1e+06"},
      {"auth: {type: tokens}", "p.yaml:1: auth.type: ", "expected token or none"},
      {"auth: {tokens: abc}", "p.yaml:1: auth.tokens: ", "expected a list"},
      {"auth: {tokens: [abc]}", "p.yaml:1: auth.tokens[0]: ", "expected a map of settings"},
      {"auth:\n  tokens:\n    - {secret: a}", "p.yaml:3: auth.tokens[0].name: this key is missing",
       "expected text"},
      {"auth:\n  tokens:\n    - {name: a}", "p.yaml:3: auth.tokens[0].secret: this key is missing",
       "expected the token that a device sends"},
      {"auth: {tokens: [{name: a, secret: ''}]}", "p.yaml:1: auth.tokens[0].secret: this secret is empty",
       "expected text, or ${NAME:-}"},
      {"auth: {tokens: [{name: a, secret: [b]}]}", "p.yaml:1: auth.tokens[0].secret: this is a list",
       "expected text"},
      {"auth: {tokens: [{name: a, secret: 'b '}]}",
       "p.yaml:1: auth.tokens[0].secret: ", "expected one line of text that an HTTP header can hold"},
      {"auth: {tokens: [{name: a, secret: \"b\\r\\nX: y\"}]}",
       "p.yaml:1: auth.tokens[0].secret: ", "that an HTTP header can hold"},
      {"auth:\n  tokens:\n    - {name: a, secret: b}\n    - {name: a, secret: c}",
       "p.yaml:4: auth.tokens[1].name: ", "expected each name once"},
      {"auth: {tokens: [{name: a, secret: '${PARLEY_UNSET:-}'}, {name: a, secret: c}]}",
       "p.yaml:1: auth.tokens[1].name: ", "expected each name once"},
      {"auth: {tokens: [{name: a, secret: c}, {name: b, secret: c}]}",
       "p.yaml:1: auth.tokens[1].secret: ", "expected each token to have its own"},
      {"auth: {tokens: [{name: a, secret: '${PARLEY_UNSET}'}]}",
       "p.yaml:1: auth.tokens[0].secret: ", "${PARLEY_UNSET:-default}"},
      {"auth: {tokens: [{name: a, secrt: c, secret: d}]}",
       "p.yaml:1: auth.tokens[0].secrt: ", "did you mean secret?"},
      {"log: {level: verbose}", "p.yaml:1: log.level: ", "expected trace, debug, info, warn, error or off"},
      {"log: {json: 1}", "p.yaml:1: log.json: ", "expected true or false"},
      {"turn_log: [a]", "p.yaml:1: turn_log: ", "expected text"},
      {"language: ''", "p.yaml:1: language: ", "expected a language tag such as en, en-US or zh-CN"},
      {"language: english", "p.yaml:1: language: this is \"english\"", "or zh-CN"},
      {"language: en_US", "p.yaml:1: language: ", "or zh-CN"},
      {"language: en-", "p.yaml:1: language: ", "or zh-CN"},
      {"language: e", "p.yaml:1: language: ", "or zh-CN"},
      {"audio: {downlink_rate: 22050}", "p.yaml:1: audio.downlink_rate: ", "expected 16000 or 24000"},
      {"audio: {downlink_rate: 48000}",
       "p.yaml:1: audio.downlink_rate: ", "expected a whole number, 16000 to 24000"},
      {"audio: {downlink_frame: 30ms}", "p.yaml:1: audio.downlink_frame: ", "expected 20ms, 40ms or 60ms"},
      {"audio: {downlink_frame: 60}", "p.yaml:1: audio.downlink_frame: ", "20ms to 60ms"},
      {"audio: {send_ahead: 2400ms}",
       "p.yaml:1: audio.send_ahead: ", "expected less than 2400ms with a downlink_frame of 60ms"},
      {"audio:\n  downlink_frame: 20ms\n  send_ahead: 0.8s",
       "p.yaml:3: audio.send_ahead: ", "expected less than 800ms with a downlink_frame of 20ms"},
      {"audio: {complexity: 11}", "p.yaml:1: audio.complexity: ", "0 to 10"},
      {"audio: {bit_rate: 11000}", "p.yaml:1: audio.bit_rate: ", "did you mean bitrate?"},
      {"detector: {end_silence: 50ms}", "p.yaml:1: detector.end_silence: ", "100ms to 10s"},
      {"detector: {min_snr_db: -1}", "p.yaml:1: detector.min_snr_db: ", "expected a number, 0 to 40"},
      {"detector: {max_utterance: 2s, end_silence: 3s}",
       "p.yaml:1: detector.max_utterance: ", "more than 3s"},
      {"noise: {level: max}", "p.yaml:1: noise.level: ", "expected low, moderate, high or very_high"},
      {"session: {max_tool_rounds: 65}", "p.yaml:1: session.max_tool_rounds: ", "0 to 64"},
      {"session: {farewel: x}", "p.yaml:1: session.farewel: ", "did you mean farewell?"},
      {"engines: [a]", "p.yaml:1: engines: ", "expected a map"},
      {"engines:\n  gpt: {model: x}", "p.yaml:2: engines.gpt.type: this key is missing", "expected text"},
      {"engines: {gpt: openai}", "p.yaml:1: engines.gpt: this is \"openai\"", "expected a map of settings"},
      {"engines: {gpt: }", "p.yaml:1: engines.gpt: this is nothing", "expected a map of settings"},
      {"engines: {'a b': {type: x}}", "p.yaml:1: engines.a b: ", "expected a word"},
      {"roles: {llm: gpt}", "p.yaml:1: roles.llm: there is no engine \"gpt\"",
       "expected commands, ears, sphinx or voice"},
      {"roles: {asr: sphnix}", "p.yaml:1: roles.asr: ", "did you mean sphinx?"},
      {"engines: {whisper: {type: x}}\nroles:\n  asr:\n    - sphinx\n    - wisper",
       "p.yaml:5: roles.asr[1]: ", "did you mean whisper?"},
      {"roles: {asr: []}", "p.yaml:1: roles.asr: ", "expected at least one engine"},
      {"roles: {asr: [sphinx, sphinx]}", "p.yaml:1: roles.asr[1]: ", "expected each engine once"},
      {"roles: {asr: {a: b}}", "p.yaml:1: roles.asr: ", "expected the name of an engine, or a list of names"},
      {"roles: {sst: sphinx}", "p.yaml:1: roles.sst: ", "expected asr, llm, tts or vad"},
      {"devices: [a]", "p.yaml:1: devices: ", "expected a map"},
      {"devices: {a: b}", "p.yaml:1: devices.a: ", "expected a map of settings"},
      {"devices: {'': {}}", "p.yaml:1: devices.: ", "such as AA:BB:CC:DD:EE:FF"},
      {"devices:\n  aa: {}\n  AA: {}", "p.yaml:3: devices.AA: ", "expected each device once"},
      {"devices: {a: {server: {}}}", "p.yaml:1: devices.a.server: ", ""},
      {"devices:\n  a:\n    audio:\n      send_ahed: 1s",
       "p.yaml:4: devices.a.audio.send_ahed: ", "did you mean send_ahead?"},
      {"audio: {send_ahead: 1s}\ndevices:\n  a:\n    audio: {downlink_frame: 20ms}",
       "p.yaml:4: devices.a.audio.send_ahead: ", "expected less than 800ms with a downlink_frame of 20ms"},
      {"devices: {a: {roles: {tts: nobody}}}",
       "p.yaml:1: devices.a.roles.tts: ", "expected commands, ears, sphinx or voice"},
  };
  for (const auto& mistake : table) {
    EXPECT_THAT(complaint(mistake.yaml), AllOf(StartsWith(mistake.start), EndsWith(mistake.end)))
        << mistake.yaml;
  }
}

TEST(Load, DoesNotShowSecrets) {
  for (const char* yaml : {"auth: {tokens: [{name: a, secret: 'hush '}]}",
                           "auth: {tokens: [{name: a, secret: hush}, {name: b, secret: hush}]}"}) {
    EXPECT_THAT(complaint(yaml), testing::Not(HasSubstr("hush")));
  }
}

}  // namespace
}  // namespace parley::config
