#include "parley/turn/ledger.hpp"

#include <utility>

namespace parley::turn {
namespace {

void append(std::string& text, std::string_view piece) {
  if (piece.empty()) return;
  if (!text.empty() && text.back() != ' ') text += ' ';
  text += piece;
}

/// At most `bytes` of `text`, cut at the last space; scripts without spaces are cut between characters.
std::string_view cut_at_word(std::string_view text, std::size_t bytes) {
  if (bytes >= text.size()) return text;
  auto cut = text.substr(0, bytes + 1).rfind(' ');
  if (cut == std::string_view::npos) {
    if (text.find(' ') != std::string_view::npos) return {};
    cut = bytes;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;
  }
  return text.substr(0, cut);
}

}  // namespace

void Ledger::begin_sentence(std::string text, std::int64_t position) {
  sentences_.push_back({std::move(text), position});
  end_ = std::max(end_, position);
}

std::string Ledger::heard(std::int64_t played, std::int64_t last_end) const {
  std::string text;
  for (std::size_t i = 0; i < sentences_.size(); ++i) {
    const auto& [sentence, begin] = sentences_[i];
    const auto end = i + 1 < sentences_.size() ? sentences_[i + 1].begin : last_end;
    if (played <= begin) break;
    if (played >= end) {
      append(text, sentence);
      continue;
    }
    const auto share = static_cast<double>(played - begin) / static_cast<double>(end - begin);
    const auto part =
        cut_at_word(sentence, static_cast<std::size_t>(share * static_cast<double>(sentence.size())));
    append(text, part);
    text += part.empty() ? "" : "…";
  }
  return text;
}

std::string Ledger::all() const {
  std::string text;
  for (const auto& sentence : sentences_) append(text, sentence.text);
  return text;
}

}  // namespace parley::turn
