#include "parley/turn/speech_detector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "fakes/scripted_vad.hpp"

namespace parley::turn {
namespace {

using namespace std::chrono_literals;
using Samples = std::vector<std::int16_t>;
using Mode = SpeechDetector::Mode;

constexpr std::size_t kFrame = 320;

/// `v`: a frame of voice, `.`: one without. `5v` is five of them.
std::vector<bool> script(std::string_view text) {
  std::vector<bool> frames;
  std::size_t count = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      count = count * 10 + static_cast<std::size_t>(c - '0');
    } else if (c != ' ') {
      frames.insert(frames.end(), std::max<std::size_t>(count, 1), c == 'v');
      count = 0;
    }
  }
  return frames;
}

/// Samples that say where they are.
Samples counting(std::size_t count, std::size_t from = 0) {
  Samples out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::int16_t>((from + i) % 32000);
  return out;
}

/// A detector on a scripted VAD, and all that it told.
struct Rig {
  explicit Rig(std::string_view voice, config::DetectorSettings settings = plain(),
               Mode mode = Mode::endpointing)
      : frames(script(voice)) {
    SpeechDetector::Listener listener;
    listener.began = [this](const SpeechDetector::Began& began) {
      events += 'B';
      begins.push_back(pushed);
      utterances.emplace_back(began.audio.begin(), began.audio.end());
      if (on_began) on_began();
    };
    listener.audio = [this](const SpeechDetector::Audio& audio) {
      EXPECT_FALSE(audio.audio.empty());
      utterances.back().insert(utterances.back().end(), audio.audio.begin(), audio.audio.end());
      ++pieces;
    };
    listener.ended = [this](const SpeechDetector::Ended& ended) {
      events += 'E';
      ends.push_back(ended);
      if (on_ended) on_ended();
    };
    auto vad = std::make_unique<test::ScriptedVad>(
        [this](audio::PcmView frame) {
          EXPECT_EQ(frame.size(), kFrame);
          return record.frames <= frames.size() && frames[record.frames - 1];
        },
        &record);
    detector = std::make_unique<SpeechDetector>(settings, std::move(vad), mode, std::move(listener));
  }

  static config::DetectorSettings plain() {
    config::DetectorSettings settings;
    settings.speech_start = 60ms;
    settings.pre_roll = 100ms;
    settings.min_speech = 100ms;
    settings.end_silence = 200ms;
    settings.max_utterance = 2s;
    settings.adaptive = false;
    return settings;
  }

  void push(std::size_t samples) {
    const auto audio = counting(samples, pushed);
    pushed += samples;
    detector->push(audio);
  }
  /// The whole script, frame by frame.
  Rig& play() {
    for (std::size_t i = 0; i < frames.size(); ++i) push(kFrame);
    return *this;
  }

  std::vector<bool> frames;
  test::ScriptedVad::Record record;
  std::unique_ptr<SpeechDetector> detector;
  std::size_t pushed = 0;
  std::string events;
  std::vector<std::size_t> begins;  // what had been pushed before the call that began
  std::vector<Samples> utterances;
  std::vector<SpeechDetector::Ended> ends;
  std::size_t pieces = 0;
  std::function<void()> on_began;
  std::function<void()> on_ended;
};

TEST(SpeechDetector, GivesTheUtteranceWithItsPreRollAndItsSilence) {
  Rig rig("20. 10v 12.");
  rig.play();
  ASSERT_EQ(rig.events, "BE");
  EXPECT_EQ(rig.begins[0], 23 * kFrame) << "60 ms of voice begin it";
  // 100 ms before the first voice, to the frame that completed 200 ms of silence.
  EXPECT_EQ(rig.utterances[0], counting((5 + 10 + 10) * kFrame, 15 * kFrame));
  EXPECT_EQ(rig.ends[0].trailing_silence, 200ms);
  EXPECT_EQ(rig.ends[0].voiced, 200ms);
  EXPECT_FALSE(rig.ends[0].too_short);
  EXPECT_FALSE(rig.ends[0].truncated);
  EXPECT_FALSE(rig.detector->in_utterance());
}

TEST(SpeechDetector, WhatBeginsAnUtterance) {
  const struct {
    const char* what;
    const char* script;
    std::string events;
  } cases[] = {
      {"silence", "100.", ""},
      {"one click", "20. v 20.", ""},
      {"two frames", "20. 2v 20.", ""},
      {"three frames", "20. 3v", "B"},
      {"three frames with gaps", "20. v.v.v", "B"},
      {"half the window", "20. v..v.v", "B"},
      {"clicks too far from each other", "20. v...v...v...v...v...v", ""},
      {"voice from the first sample", "3v", "B"},
  };
  for (const auto& each : cases) EXPECT_EQ(Rig(each.script).play().events, each.events) << each.what;
}

TEST(SpeechDetector, PausesShorterThanTheEndDoNotSplit) {
  Rig rig("10. 5v 9. v 9. 5v 9.");
  rig.play();
  EXPECT_EQ(rig.events, "B");
  EXPECT_TRUE(rig.detector->in_utterance());
  rig.push(kFrame);
  ASSERT_EQ(rig.events, "BE");
  EXPECT_EQ(rig.ends[0].voiced, 220ms);
}

TEST(SpeechDetector, LittleVoiceIsNoise) {
  Rig rig("10. 4v 10. 20. 5v 10.");
  rig.play();
  ASSERT_EQ(rig.events, "BEBE");
  EXPECT_TRUE(rig.ends[0].too_short);
  EXPECT_FALSE(rig.ends[1].too_short);
}

TEST(SpeechDetector, ThePreRollHoldsOnlyWhatThereIs) {
  Rig rig("2. 5v 10.");
  rig.play();
  ASSERT_EQ(rig.events, "BE");
  EXPECT_EQ(rig.utterances[0], counting(17 * kFrame));
}

TEST(SpeechDetector, TheSilenceOfOneUtteranceIsThePreRollOfTheNext) {
  Rig rig("10. 5v 10. 2. 5v 10.");
  rig.play();
  ASSERT_EQ(rig.events, "BEBE");
  EXPECT_EQ(rig.utterances[1], counting((5 + 15) * kFrame, (27 - 5) * kFrame));
}

TEST(SpeechDetector, TheLongestUtteranceGoesOnInTheNextWithoutRepeatingAWord) {
  Rig rig("5. 150v 10.");
  rig.play();
  ASSERT_EQ(rig.events, "BEBE");
  EXPECT_TRUE(rig.ends[0].truncated);
  EXPECT_EQ(rig.ends[0].trailing_silence, 0ms);
  EXPECT_EQ(rig.utterances[0].size(), audio::samples_in(2s, 16000));
  auto all = rig.utterances[0];
  all.insert(all.end(), rig.utterances[1].begin(), rig.utterances[1].end());
  EXPECT_EQ(all, counting(165 * kFrame));
  EXPECT_FALSE(rig.ends[1].truncated);
}

TEST(SpeechDetector, DoesNotDependOnTheSizeOfThePieces) {
  constexpr auto text = "20. 10v 15. 3v 20. 2v.v 30v 12. v. 5.";
  Rig expected(text);
  expected.play();
  ASSERT_EQ(expected.events, "BEBEBE");
  const auto total = expected.pushed;
  std::mt19937 random(1);
  for (const std::size_t largest : {1U, 7U, 319U, 321U, 960U, 1000U, 100000U}) {
    Rig rig(text);
    std::uniform_int_distribution<std::size_t> size(0, largest);
    while (rig.pushed < total) rig.push(std::min(size(random), total - rig.pushed));
    EXPECT_EQ(rig.events, expected.events) << largest;
    EXPECT_EQ(rig.utterances, expected.utterances) << largest;
    for (std::size_t i = 0; i < rig.ends.size(); ++i) EXPECT_EQ(rig.ends[i].voiced, expected.ends[i].voiced);
  }
}

TEST(SpeechDetector, GivesAPacketInOnePiece) {
  Rig rig("10. 30v");
  rig.push(10 * kFrame);
  for (int i = 0; i < 10; ++i) rig.push(3 * kFrame);
  EXPECT_EQ(rig.events, "B");
  EXPECT_EQ(rig.pieces, 9U);
}

TEST(SpeechDetector, GivesTheCleanedAudioButJudgesTheOther) {
  Rig rig("10. 5v 10.");
  const auto cleaned = counting(25 * kFrame, 5000);
  for (std::size_t at = 0; at < cleaned.size();) {
    const auto size = std::min<std::size_t>(501, cleaned.size() - at);
    const Samples heard(size, 77);
    rig.detector->push(heard, audio::PcmView(cleaned).subspan(at, size));
    at += size;
  }
  ASSERT_EQ(rig.events, "BE");
  EXPECT_EQ(rig.utterances[0], counting(20 * kFrame, 5000 + 5 * kFrame));
  rig.detector->push(Samples(kFrame), {});  // No longer than the shorter of them.
}

TEST(SpeechDetector, HeldIsOneUtteranceFromStartToStop) {
  Rig rig("3. 5v 30. 5v 20.", Rig::plain(), Mode::held);
  rig.play();
  rig.push(100);
  EXPECT_EQ(rig.events, "B");
  rig.detector->stop();
  ASSERT_EQ(rig.events, "BE");
  EXPECT_EQ(rig.utterances[0], counting(63 * kFrame + 100));
  EXPECT_EQ(rig.ends[0].voiced, 200ms);
  EXPECT_EQ(rig.ends[0].trailing_silence, 0ms);
  EXPECT_FALSE(rig.ends[0].too_short);
}

TEST(SpeechDetector, HeldWithoutVoiceIsTooShort) {
  Rig rig("20.", Rig::plain(), Mode::held);
  rig.play();
  rig.detector->stop();
  ASSERT_EQ(rig.events, "BE");
  EXPECT_TRUE(rig.ends[0].too_short);
}

TEST(SpeechDetector, HeldForTooLongEndsOnce) {
  Rig rig("300v", Rig::plain(), Mode::held);
  rig.play();
  rig.detector->stop();
  ASSERT_EQ(rig.events, "BE");
  EXPECT_TRUE(rig.ends[0].truncated);
  EXPECT_EQ(rig.utterances[0], counting(100 * kFrame));
}

TEST(SpeechDetector, StopWithoutAnUtteranceSaysSo) {
  for (const auto mode : {Mode::endpointing, Mode::held}) {
    for (const std::size_t samples : {0U, 100U}) {
      Rig rig("", Rig::plain(), mode);
      rig.push(samples);
      rig.detector->stop();
      ASSERT_EQ(rig.events, "E");
      EXPECT_TRUE(rig.ends[0].too_short);
      EXPECT_EQ(rig.ends[0].voiced, 0ms);
    }
  }
}

TEST(SpeechDetector, StopEndsARunningUtteranceAtOnce) {
  Rig rig("5. 10v 3.");
  rig.play();
  rig.push(5);
  rig.detector->stop();
  ASSERT_EQ(rig.events, "BE");
  EXPECT_EQ(rig.ends[0].trailing_silence, 60ms);
  EXPECT_EQ(rig.utterances[0], counting(18 * kFrame + 5));
}

TEST(SpeechDetector, IgnoresWhatComesAfterStopUntilReset) {
  for (const auto mode : {Mode::endpointing, Mode::held}) {
    Rig rig("200v", Rig::plain(), mode);
    rig.push(10 * kFrame + 7);
    rig.detector->stop();
    rig.detector->stop();
    rig.detector->idle(5s);
    rig.push(kFrame * 20 + 3);
    rig.detector->stop();
    EXPECT_EQ(rig.events, "BE");
    rig.detector->reset();
    const auto again = rig.pushed;
    rig.push(kFrame * 10);
    rig.detector->stop();
    ASSERT_EQ(rig.events, "BEBE");
    EXPECT_EQ(rig.utterances[1], counting(10 * kFrame, again));
  }
}

TEST(SpeechDetector, ResetInAnUtteranceForgetsIt) {
  Rig rig("10v 30.");
  rig.push(10 * kFrame + 50);
  EXPECT_TRUE(rig.detector->in_utterance());
  EXPECT_GT(rig.detector->recent_voice(), 0ms);
  rig.detector->reset();
  EXPECT_FALSE(rig.detector->in_utterance());
  EXPECT_EQ(rig.detector->recent_voice(), 0ms);
  EXPECT_EQ(rig.record.resets, 1U);
  rig.push(30 * kFrame);
  EXPECT_EQ(rig.events, "B");
}

TEST(SpeechDetector, AListenerMayResetOrStopFromWithin) {
  const struct {
    const char* what;
    bool at_begin;
    bool reset;
    std::string events;
  } cases[] = {
      {"reset at the beginning", true, true, "BBBBBBBBBBBBBBBB"},  // of 50 frames, every three
      {"reset at the end", false, true, "BE"},
      {"stop at the beginning", true, false, "BE"},
      {"stop at the end: nothing runs any more", false, false, "BEE"},
  };
  for (const auto& each : cases) {
    Rig rig("50v 11.");
    (each.at_begin ? rig.on_began : rig.on_ended) = [&] {
      each.reset ? rig.detector->reset() : rig.detector->stop();
    };
    rig.push(61 * kFrame + 10);
    EXPECT_EQ(rig.events, each.events) << each.what;
    EXPECT_FALSE(rig.detector->in_utterance());
  }
}

TEST(SpeechDetector, MissingAudioIsSilence) {
  Rig rig("10. 10v 100.");
  rig.push(20 * kFrame);
  rig.detector->idle(150ms);
  EXPECT_EQ(rig.events, "B");
  rig.detector->idle(0ms);
  rig.detector->idle(-1s);
  EXPECT_EQ(rig.events, "B");
  rig.detector->idle(50ms);
  ASSERT_EQ(rig.events, "BE");
  EXPECT_EQ(rig.ends[0].trailing_silence, 200ms);
  rig.detector->idle(10s);
  EXPECT_EQ(rig.events, "BE");
}

TEST(SpeechDetector, MissingAudioEndsAHeldUtteranceInTheEnd) {
  Rig rig("10v", Rig::plain(), Mode::held);
  rig.play();
  rig.detector->idle(1s);
  EXPECT_EQ(rig.events, "B");
  rig.detector->idle(Duration::max());
  ASSERT_EQ(rig.events, "BE");
  EXPECT_TRUE(rig.ends[0].truncated);
}

TEST(SpeechDetector, KnowsRecentVoice) {
  Rig rig("10v 30. v");
  rig.push(10 * kFrame);
  EXPECT_EQ(rig.detector->recent_voice(), 200ms);
  rig.push(20 * kFrame);
  EXPECT_EQ(rig.detector->recent_voice(), 100ms);
  rig.push(11 * kFrame);
  EXPECT_EQ(rig.detector->recent_voice(), 20ms);
}

TEST(SpeechDetector, ExtremeSettingsAreHarmless) {
  auto settings = Rig::plain();
  settings.speech_start = 0ms;
  settings.pre_roll = 0ms;
  settings.min_speech = 0ms;
  settings.end_silence = 0ms;
  Rig none("5. 3v 5.", settings);
  none.play();
  EXPECT_EQ(none.events.substr(0, 2), "BE");
  settings = Rig::plain();
  settings.speech_start = 10s;  // More than is remembered: as much as is.
  settings.max_utterance = 1h;
  Rig much("300v", settings);
  much.play();
  EXPECT_EQ(much.events, "B");
}

TEST(SpeechDetector, NeedsNoListener) {
  test::ScriptedVad::Record record;
  SpeechDetector detector(Rig::plain(),
                          std::make_unique<test::ScriptedVad>([](auto) { return true; }, &record),
                          Mode::endpointing, {});
  detector.push(counting(100 * kFrame));
  detector.stop();
  EXPECT_EQ(record.frames, 100U);
}

}  // namespace
}  // namespace parley::turn
