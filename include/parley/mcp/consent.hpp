#pragma once

#include <string_view>

namespace parley::mcp {

/// Whether these words say yes to a question and nothing else: a phrase of a few words in one of the
/// languages that are known here (English, German, French, Spanish, Italian, Portuguese, Dutch, Russian,
/// Vietnamese, Chinese, Japanese, Korean), without a no or a not in it. What is not known is no consent.
bool agrees(std::string_view words);

}  // namespace parley::mcp
