#include "providers/openai/transcription.hpp"

namespace parley::providers::openai {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string language_of(const std::string& configured, const std::string& asked) {
  if (configured == "auto") return {};
  const auto& tag = configured.empty() ? asked : configured;
  return tag.substr(0, tag.find_first_of("-_"));
}

}  // namespace parley::providers::openai
