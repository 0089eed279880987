#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace parley::turn {

/// Which sentence lies where in the audio of a reply, so that an interrupted one can be remembered as far as
/// it was heard. Positions are samples of the downlink from the reply's first. Pure.
class Ledger {
 public:
  /// The sentence whose audio begins at `position`; positions never fall.
  void begin_sentence(std::string text, std::int64_t position);
  /// All audio so far ends at `position`.
  void extend_to(std::int64_t position) { end_ = position; }

  /// The text that was heard when `played` samples had been played: whole sentences, and of the running one
  /// the words in proportion to its audio, marked with an ellipsis.
  std::string heard(std::int64_t played) const { return heard(played, end_); }
  /// The same where the last sentence's audio goes on to `end`, beyond what was sent.
  std::string heard(std::int64_t played, std::int64_t end) const;
  /// Everything, played or not.
  std::string all() const;
  bool empty() const { return sentences_.empty(); }
  /// Of the last sentence: where it begins, and its bytes; 0 without one.
  std::int64_t last_begin() const { return empty() ? 0 : sentences_.back().begin; }
  std::size_t last_size() const { return empty() ? 0 : sentences_.back().text.size(); }

 private:
  struct Sentence {
    std::string text;
    std::int64_t begin;
  };
  std::vector<Sentence> sentences_;
  std::int64_t end_ = 0;
};

}  // namespace parley::turn
