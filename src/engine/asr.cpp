#include "parley/engine/asr.hpp"

namespace parley::engine {

std::string language_for_service(const std::string& configured, const std::string& device) {
  if (configured == "auto") return {};
  const auto& tag = configured.empty() ? device : configured;
  return tag.substr(0, tag.find_first_of("-_"));
}

std::string trimmed(const std::string& transcript) {
  constexpr auto kBlanks = " \t\r\n";
  const auto first = transcript.find_first_not_of(kBlanks);
  if (first == std::string::npos) return {};
  return transcript.substr(first, transcript.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace parley::engine
