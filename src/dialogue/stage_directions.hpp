#pragma once

#include <string_view>

namespace parley::dialogue {

/// Whether what stands between brackets or asterisks is done rather than said: "laughs", "clears throat",
/// "улыбается", "笑". By lists of words in some languages; what is not in them is content.
bool is_stage_direction(std::u32string_view content);

/// Whether more characters could still make it one.
bool may_become_stage_direction(std::u32string_view begun);

}  // namespace parley::dialogue
