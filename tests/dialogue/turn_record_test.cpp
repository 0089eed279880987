#include "parley/dialogue/turn_record.hpp"

#include <gtest/gtest.h>

namespace parley::dialogue {
namespace {

using namespace std::chrono_literals;
const TimePoint kZero{100s};

TEST(TurnRecordTest, WhatParleyAddsIsTheRest) {
  TurnRecord record;
  record.speech_ended = kZero;
  record.endpoint_decided = kZero + 700ms;
  record.waited(kZero + 701ms, kZero + 720ms);  // asr
  record.waited(kZero + 722ms, kZero + 800ms);  // llm
  record.waited(kZero + 790ms, kZero + 850ms);  // tts, overlapping
  record.first_frame = kZero + 853ms;
  EXPECT_DOUBLE_EQ(*record.added_ms(), 1 + 2 + 3);
}

TEST(TurnRecordTest, WaitsAfterTheFirstFrameAndBeforeTheEndpointDoNotCount) {
  TurnRecord record;
  record.endpoint_decided = kZero;
  record.waited(kZero - 1s, kZero + 10ms);
  record.waited(kZero + 15ms, kZero + 9s);
  record.first_frame = kZero + 20ms;
  EXPECT_DOUBLE_EQ(*record.added_ms(), 5);
}

TEST(TurnRecordTest, WithoutAFirstFrameThereIsNothingToSay) {
  TurnRecord record;
  record.endpoint_decided = kZero;
  EXPECT_FALSE(record.added_ms());
  EXPECT_TRUE(record.times().empty());
}

}  // namespace
}  // namespace parley::dialogue
