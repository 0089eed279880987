#include "parley/mcp/consent.hpp"

#include <gtest/gtest.h>

namespace parley::mcp {
namespace {

TEST(ConsentTest, YesInManyLanguages) {
  for (const char* words :
       {"Yes.", "yes please", "OK, do it!", "Sure, go ahead", "Please do.", "Ja, bitte.", "Oui", "Sí",
        "Да, конечно.", "Vâng.", "好的。", "是的，没问题", "可以", "はい、お願いします。", "네"})
    EXPECT_TRUE(agrees(words)) << words;
}

TEST(ConsentTest, EverythingElseIsNone) {
  for (const char* words : {"",
                            "No.",
                            "no, yes, I mean no",
                            "Yes, but not now",
                            "Don't do it",
                            "Please don't.",
                            "What?",
                            "Please turn off the lights",
                            "do you have other options",
                            "go to the next song",
                            "right now what time is it",
                            "bitte mach das Licht aus",
                            "Do.",
                            "ok computer",
                            "Nein",
                            "Нет",
                            "Не надо",
                            "不是",
                            "好像不对",
                            "いいえ",
                            "the yes album",
                            "yes I would like to know what the weather is like",
                            "可以帮我查一下明天北京的天气怎么样吗"})
    EXPECT_FALSE(agrees(words)) << words;
}

}  // namespace
}  // namespace parley::mcp
