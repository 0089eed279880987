#pragma once

#include <optional>
#include <string_view>

namespace parley::dialogue {

/// A face of the firmware (PROTOCOL.md, section 4) and the emoji that stands for it.
struct Emotion {
  std::string_view name = "neutral";
  std::string_view emoji = "😶";
};

/// The face that an emoji means; nullopt for a picture of something else.
std::optional<Emotion> emotion_of_emoji(char32_t emoji);

/// The face of that name, in any case; nullopt where the firmware has none.
std::optional<Emotion> emotion_named(std::string_view name);

/// The face that a tag asks for, without its brackets: `happy`, `emotion: happy`, `emotion=happy`,
/// `mood: happy`. A name that no face has is neutral where the key says that it is one; otherwise nullopt.
std::optional<Emotion> emotion_of_tag(std::string_view tag);

}  // namespace parley::dialogue
