#include "providers/funasr/transcript.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace parley::providers::funasr {
namespace {

std::string result(const char* mode, const char* text, bool is_final) {
  return std::string("{\"mode\":\"") + mode + "\",\"text\":\"" + text +
         "\",\"wav_name\":\"parley\",\"is_final\":" + (is_final ? "true" : "false") + "}";
}

TEST(FunAsrTranscript, IncrementsAddUpAndSegmentsReplaceThem) {
  Transcript transcript(Mode::two_pass, FinalFlag::unknown);
  EXPECT_TRUE(transcript.take(result("2pass-online", "打开", false))->changed);
  EXPECT_EQ(transcript.text(), "打开");
  transcript.take(result("2pass-online", "灯", false)).value();
  EXPECT_EQ(transcript.text(), "打开灯");
  transcript.take(result("2pass-offline", "打开台灯。", false)).value();
  EXPECT_EQ(transcript.text(), "打开台灯。");
  transcript.take(result("2pass-online", "谢谢", false)).value();
  EXPECT_EQ(transcript.text(), "打开台灯。谢谢");
  EXPECT_FALSE(transcript.take(result("2pass-online", "", false))->changed);
  transcript.take(result("2pass-offline", "谢谢！", false)).value();
  EXPECT_EQ(transcript.text(), "打开台灯。谢谢！");
}

TEST(FunAsrTranscript, WordsOfLatinLettersStayApart) {
  Transcript transcript(Mode::online, FinalFlag::unknown);
  for (const auto* piece : {"turn on", "the lamp,", "please", " now"})
    transcript.take(result("online", piece, false)).value();
  EXPECT_EQ(transcript.text(), "turn on the lamp, please now");
}

TEST(FunAsrTranscript, TheRuntimeInCppMarksTheLastResult) {
  Transcript transcript(Mode::two_pass, FinalFlag::unknown);
  transcript.take(result("2pass-online", "a", false)).value();
  EXPECT_EQ(transcript.flag(), FinalFlag::last);
  transcript.finish();
  EXPECT_FALSE(transcript.may_be_complete());
  EXPECT_FALSE(transcript.take(result("2pass-offline", "A.", false))->complete);
  EXPECT_FALSE(transcript.may_be_complete()) << "its mark is waited for";
  EXPECT_TRUE(transcript.take(R"({"text":"","wav_name":"x","is_final":true})")->complete);
  EXPECT_EQ(transcript.text(), "A.");
}

TEST(FunAsrTranscript, TheServerInPythonSaysWhetherSomebodySpeaks) {
  Transcript transcript(Mode::two_pass, FinalFlag::unknown);
  EXPECT_FALSE(transcript.take(result("2pass-online", "a", true))->complete);
  EXPECT_EQ(transcript.flag(), FinalFlag::speaking);
  transcript.finish();
  EXPECT_FALSE(transcript.may_be_complete()) << "an increment waits for its segment";
  EXPECT_FALSE(transcript.take(result("2pass-online", "b", true))->complete) << "it was on its way";
  EXPECT_TRUE(transcript.take(result("2pass-offline", "AB.", false))->complete);
}

TEST(FunAsrTranscript, AServerThatHasShownNothingIsGivenAMoment) {
  for (const bool mark : {false, true}) {
    Transcript transcript(Mode::offline, FinalFlag::unknown);
    transcript.finish();
    EXPECT_FALSE(transcript.may_be_complete());
    EXPECT_FALSE(transcript.take(result("offline", "A.", mark))->complete);
    EXPECT_TRUE(transcript.may_be_complete());
    transcript.settle();
    EXPECT_EQ(transcript.flag(), mark ? FinalFlag::last : FinalFlag::speaking);
  }
}

TEST(FunAsrTranscript, WhatASegmentEndedEarlyHasSaidIsEnough) {
  Transcript transcript(Mode::two_pass, FinalFlag::unknown);
  transcript.take(result("2pass-online", "a", true)).value();
  transcript.take(result("2pass-offline", "A.", true)).value();
  EXPECT_FALSE(transcript.may_be_complete()) << "somebody still speaks";
  transcript.finish();
  EXPECT_TRUE(transcript.may_be_complete());
}

TEST(FunAsrTranscript, OnlineEndsWithoutAWord) {
  Transcript transcript(Mode::online, FinalFlag::unknown);
  transcript.take(result("online", "a", true)).value();
  EXPECT_FALSE(transcript.may_be_complete());
  transcript.finish();
  EXPECT_TRUE(transcript.may_be_complete());
}

TEST(FunAsrTranscript, AServerMayBeAnotherOneTheNextTime) {
  Transcript transcript(Mode::two_pass, FinalFlag::last);
  transcript.take(result("2pass-online", "a", true)).value();
  EXPECT_EQ(transcript.flag(), FinalFlag::speaking);
}

TEST(FunAsrTranscript, RefusesWhatIsNoResult) {
  Transcript transcript(Mode::two_pass, FinalFlag::unknown);
  for (const auto* bad :
       {"", "{", "[]", "\"text\"", "{}", R"({"text":5})", R"({"text":null,"mode":"2pass-online"})",
        R"({"text":"ERROR","is_final":true})", R"({"text":"x","mode":"3pass"})", R"({"text":"x","mode":7})",
        "{\"mode\":\"2pass-online\",\"text\":\"\xFF\"}"}) {
    const auto update = transcript.take(bad);
    ASSERT_FALSE(update) << bad;
    EXPECT_EQ(update.error().code, Errc::invalid_input);
  }
  EXPECT_TRUE(transcript.take(R"({"text":"x","mode":"2pass-online","is_final":"yes","more":[1]})"));
  EXPECT_EQ(transcript.flag(), FinalFlag::unknown) << "a mark of another type is none";
}

}  // namespace
}  // namespace parley::providers::funasr
