#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "fakes/live.hpp"
#include "fakes/speech.hpp"
#include "parley/audio/wav.hpp"
#include "parley/providers/command_asr.hpp"
#include "parley/providers/command_tts.hpp"

namespace parley::providers {
namespace {

using namespace std::chrono_literals;
using test::Live;

constexpr auto kForever = std::chrono::hours(1);

std::vector<std::string> shell(const std::string& script) {
  return {"/bin/sh", "-c", script};
}

/// A folder of the test's own.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "parley-test-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
};

Result<engine::AsrEvent> recognise(Live& live, CommandAsrSettings settings, audio::PcmView samples,
                                   const std::string& language = "en") {
  const auto asr = make_command_asr(std::move(settings));
  return live.run(test::recognise(*asr, {.language = language}, samples));
}

test::Drained<engine::TtsAudio> speak(Live& live, CommandTtsSettings settings, engine::TtsRequest request) {
  const auto tts = make_command_tts(std::move(settings));
  const auto work = [&]() -> Task<test::Drained<engine::TtsAudio>> {
    auto stream = co_await tts->speak(std::move(request));
    if (!stream) co_return test::Drained<engine::TtsAudio>{{}, stream.error()};
    co_return co_await test::drain(**stream);
  };
  return live.run(work());
}

std::vector<std::int16_t> samples_of(const test::Drained<engine::TtsAudio>& heard) {
  std::vector<std::int16_t> all;
  for (const auto& event : heard.events) {
    all.insert(all.end(), event.pcm.samples.begin(), event.pcm.samples.end());
  }
  return all;
}

TEST(CommandAsr, GivesAWavAndTakesOneLine) {
  Live live;
  const Folder folder;
  const auto file = (folder.path / "heard.wav").string();
  std::vector<std::int16_t> samples(16000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::int16_t>(i);
  const auto event =
      recognise(live,
                {.command = {"/bin/sh", "-c", "cat > \"$0\"; printf ' turn on\\n\\tthe %s \\n' \"$1\"", file,
                             "{language}"}},
                samples, "lamp");
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->kind, engine::AsrEvent::Kind::final);
  EXPECT_EQ(event->text, "turn on the lamp");
  const auto wav = audio::read_wav(file);
  ASSERT_TRUE(wav);
  EXPECT_EQ(wav->rate, 16000);
  EXPECT_EQ(wav->samples, samples);
}

TEST(CommandAsr, NothingSaidAndNothingHeard) {
  Live live;
  const auto event = recognise(live, {.command = shell("cat > /dev/null")}, {});
  ASSERT_TRUE(event);
  EXPECT_EQ(event->text, "");
}

TEST(CommandAsr, MendsBrokenText) {
  Live live;
  const auto event = recognise(live, {.command = shell("printf 'a\\377b'")}, {});
  ASSERT_TRUE(event);
  EXPECT_EQ(event->text,
            "a\xEF\xBF\xBD"
            "b");
}

TEST(CommandAsr, FailsAsItsProgramDoes) {
  Live live;
  const auto failed = recognise(live, {.command = shell("echo half; echo 'no model' >&2; exit 2")}, {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::unavailable);
  EXPECT_NE(failed.error().message.find("status 2: no model"), std::string::npos) << failed.error().message;
  EXPECT_FALSE(recognise(live, {.command = {"/no/such/program"}}, {}));
  const auto babbling = recognise(live, {.command = shell("yes")}, {});
  ASSERT_FALSE(babbling);
  EXPECT_EQ(babbling.error().code, Errc::limit);
}

TEST(CommandAsr, RefusesAnEndlessUtterance) {
  Live live;
  const std::vector<std::int16_t> samples(16001);
  const auto event = recognise(live, {.command = shell("cat"), .max_audio = 1000ms}, samples);
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().code, Errc::limit);
  EXPECT_TRUE(recognise(live, {.command = shell("cat > /dev/null"), .max_audio = 1000ms},
                        audio::PcmView(samples).first(16000)));
}

TEST(CommandAsr, StopsAProgramThatTakesTooLong) {
  Live live;
  CommandAsrSettings settings{.command = shell("cat > /dev/null; sleep 1000"), .timeout = 5000ms};
  settings.clock = live.clock();
  const auto asr = make_command_asr(settings);
  auto stream = *live.run(asr->open({}));
  const auto heard = live.start(stream->next());
  live.pass(kForever);
  EXPECT_FALSE(heard->done()) << "an utterance may be long";
  stream->finish();
  stream->finish();
  live.pass(4999ms);
  EXPECT_FALSE(heard->done());
  live.pass(1ms);
  ASSERT_TRUE(live.until([&] { return heard->done(); }));
  EXPECT_EQ(heard->result->error().code, Errc::timeout);
  EXPECT_TRUE(heard->result->error().retryable);
}

TEST(CommandAsr, EndsWithItsStream) {
  Live live;
  const Folder folder;
  const auto file = (folder.path / "pid").string();
  const auto asr = make_command_asr(
      {.command = {"/bin/sh", "-c", "echo $$ > \"$0.new\"; mv \"$0.new\" \"$0\"; cat", file}});
  auto stream = *live.run(asr->open({}));
  ASSERT_TRUE(live.until([&] { return std::filesystem::exists(file); }));
  int pid = 0;
  std::ifstream(file) >> pid;
  ASSERT_GT(pid, 0);
  stream.reset();
  EXPECT_TRUE(live.until([&] { return ::kill(pid, 0) != 0 && errno == ESRCH; }));
}

TEST(CommandTts, SpeaksAWav) {
  Live live;
  const Folder folder;
  const auto file = (folder.path / "voice.wav").string();
  const std::vector<std::int16_t> samples(40000, 7);
  ASSERT_TRUE(audio::write_wav(file, samples, 22050));
  const auto heard = speak(live, {.command = shell("cat > /dev/null; cat " + file)}, {.text = "hello"});
  ASSERT_FALSE(heard.error) << heard.error->message;
  EXPECT_EQ(samples_of(heard), samples);
  EXPECT_EQ(heard.events.at(0).pcm.rate, 22050);
}

TEST(CommandTts, SpeaksRawPcmAndSaysItsTextVoiceAndLanguage) {
  Live live;
  CommandTtsSettings settings{.command = {"/bin/sh", "-c", "cat; printf '%s|%s|%s' \"$0\" \"$1\" \"$2\"",
                                          "{voice}", "{language}", "{other}"},
                              .format = CommandTtsSettings::Format::pcm,
                              .sample_rate = 16000,
                              .voice = "amy"};
  const auto said = [&](engine::TtsRequest request) {
    const auto heard = speak(live, settings, std::move(request));
    EXPECT_FALSE(heard.error);
    std::string bytes;
    for (const auto sample : samples_of(heard)) {
      bytes += static_cast<char>(sample & 0xff);
      bytes += static_cast<char>((sample >> 8) & 0xff);
    }
    return bytes;
  };
  EXPECT_EQ(said({.text = "two\nlines", .language = "de"}), "two lines\namy|de|{other}");
  EXPECT_EQ(said({.text = "abcd", .voice = "--help", .language = "en"}), "abcd\n|en|{other}")
      << "no option is smuggled in";
}

TEST(CommandTts, IsHeardBeforeItsProgramEnds) {
  Live live;
  const auto tts = make_command_tts({.command = shell("printf abcdefgh; sleep 1000"),
                                     .format = CommandTtsSettings::Format::pcm,
                                     .clock = live.clock()});
  auto stream = *live.run(tts->speak({.text = "x"}));
  const auto first = live.run(stream->next());
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->pcm.samples.size(), 4U);
  live.pass(kForever);
  const auto second = live.start(stream->next());
  EXPECT_FALSE(second->done()) << "the time in which nobody asked does not count";
  live.pass(10000ms);
  ASSERT_TRUE(live.until([&] { return second->done(); }));
  EXPECT_EQ(second->result->error().code, Errc::timeout);
}

TEST(CommandTts, FailsAsItsProgramDoes) {
  Live live;
  const auto code = [&](CommandTtsSettings settings) {
    const auto heard = speak(live, std::move(settings), {.text = "x"});
    return heard.error ? to_string(heard.error->code) : "none";
  };
  constexpr auto pcm = CommandTtsSettings::Format::pcm;
  EXPECT_EQ(code({.command = shell("printf abcd; exit 1"), .format = pcm}), to_string(Errc::unavailable));
  EXPECT_EQ(code({.command = shell("echo no wav at all")}), to_string(Errc::invalid_input));
  EXPECT_EQ(code({.command = shell("true")}), to_string(Errc::invalid_input));
  EXPECT_EQ(code({.command = shell("true"), .format = pcm}), "none") << "there was nothing to say";
  EXPECT_EQ(code({.command = shell("yes"), .format = pcm, .max_audio = 1000ms}), to_string(Errc::limit));
}

TEST(Command, ReadTheirBlocks) {
  const auto asr = [](std::string_view yaml) {
    return command_asr_from_config(config::Node::parse(yaml, "p.yaml"), {});
  };
  const auto tts = [](std::string_view yaml) {
    return command_tts_from_config(config::Node::parse(yaml, "p.yaml"), {});
  };
  EXPECT_NE(asr("{command: [sh, -c, cat], timeout: 5s, max_audio: 30s}"), nullptr);
  EXPECT_NE(asr("command: cat"), nullptr);
  EXPECT_NE(tts("{command: [cat], format: pcm, sample_rate: 16000, voice: amy}"), nullptr);
  for (const char* bad : {"timeout: 5s", "command: []", "command: sh -c cat", "command: [no-such-program]",
                          "command: [./no-such-program]", "{command: [cat], timeout: 1ms}"}) {
    EXPECT_THROW(asr(bad), Failure) << bad;
    EXPECT_THROW(tts(bad), Failure) << bad;
  }
  for (const char* bad : {"{command: [cat], format: mp3}", "{command: [cat], format: pcm, sample_rate: 5}",
                          "{command: [cat], sample_rate: 16000}"}) {
    EXPECT_THROW(tts(bad), Failure) << bad;
  }
  try {
    asr("command: [no-such-program]");
  } catch (const Failure& failure) {
    const std::string said = failure.what();
    EXPECT_NE(said.find("p.yaml:1"), std::string::npos) << said;
    EXPECT_NE(said.find("no-such-program"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace parley::providers
