#include "parley/dialogue/emotion.hpp"

#include <gtest/gtest.h>

namespace parley::dialogue {
namespace {

TEST(EmotionTest, AnEmojiMeansAFace) {
  EXPECT_EQ(emotion_of_emoji(U'😆')->name, "laughing");
  EXPECT_EQ(emotion_of_emoji(U'😊')->name, "happy");
  EXPECT_EQ(emotion_of_emoji(U'😊')->emoji, "🙂") << "the one that the firmware knows";
  EXPECT_FALSE(emotion_of_emoji(U'🎉'));
  EXPECT_FALSE(emotion_of_emoji(U'x'));
}

TEST(EmotionTest, ATagNamesAFace) {
  EXPECT_EQ(emotion_of_tag("happy")->name, "happy");
  EXPECT_EQ(emotion_of_tag("Happy")->name, "happy");
  EXPECT_EQ(emotion_of_tag("emotion: sad")->name, "sad");
  EXPECT_EQ(emotion_of_tag("EMOTION:Thinking")->name, "thinking");
  EXPECT_EQ(emotion_of_tag("emotion=\"angry\"")->name, "angry");
  EXPECT_EQ(emotion_of_tag("mood cool")->name, "cool");
  EXPECT_EQ(emotion_of_tag("emotion: grumpy")->name, "neutral") << "a tag all the same";
  EXPECT_FALSE(emotion_of_tag("emotion:"));
  EXPECT_FALSE(emotion_of_tag("grumpy"));
  EXPECT_FALSE(emotion_of_tag("note: happy"));
  EXPECT_FALSE(emotion_of_tag(""));
}

}  // namespace
}  // namespace parley::dialogue
