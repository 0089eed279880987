#include "parley/dialogue/emotion.hpp"

#include <gtest/gtest.h>

namespace parley::dialogue {
namespace {

TEST(EmotionTest, TheFirstEmojiIsTheFace) {
  EXPECT_EQ(emotion_of("😆 That was funny.").name, "laughing");
  EXPECT_EQ(emotion_of("  😔 Sorry.").name, "sad");
  EXPECT_EQ(emotion_of("😊 Hi").name, "happy");
  EXPECT_EQ(emotion_of("Hello 😆").name, "neutral");
  EXPECT_EQ(emotion_of("").name, "neutral");
  EXPECT_EQ(emotion_of("\xF0\x9F").name, "neutral");
}

TEST(EmotionTest, EmojiAreNotSpoken) {
  EXPECT_EQ(without_emoji("😆 That was funny."), "That was funny.");
  EXPECT_EQ(without_emoji("Good 👍🏽 job 👨‍👩‍👧!"), "Good job !");
  EXPECT_EQ(without_emoji("❤️"), "");
  EXPECT_EQ(without_emoji("plain  text"), "plain  text");
}

}  // namespace
}  // namespace parley::dialogue
