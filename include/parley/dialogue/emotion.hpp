#pragma once

#include <string>
#include <string_view>

namespace parley::dialogue {

/// A face of the firmware (PROTOCOL.md, section 4) and the emoji that stands for it.
struct Emotion {
  std::string_view name = "neutral";
  std::string_view emoji = "😶";
};

/// The face for the emoji that `text` begins with; neutral where there is none.
Emotion emotion_of(std::string_view text);

/// `text` without emoji (and the joiners and selectors between them), blanks tidied: what can be spoken.
std::string without_emoji(std::string_view text);

}  // namespace parley::dialogue
