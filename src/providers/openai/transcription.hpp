#pragma once

#include <string>

// What the recognisers behind OpenAI's two ways of transcription have in common.
namespace parley::providers::openai {

/// Without the blanks around it.
std::string trimmed(const std::string& text);

/// The language to be told: the service wants `de` where a device may say `de-AT`. `configured`: empty stands
/// for the `asked` one, `auto` for none.
std::string language_of(const std::string& configured, const std::string& asked);

}  // namespace parley::providers::openai
