#pragma once

#include <string>
#include <string_view>

#include "parley/core/error.hpp"

// What a FunASR server says, as text. No I/O.
namespace parley::providers::funasr {

enum class Mode { two_pass, online, offline };

/// What `is_final` means: the runtime in C++ marks the last result with true; the server in Python says
/// whether somebody still speaks, so there the last one is marked with false.
enum class FinalFlag { unknown, last, speaking };

/// The results of one utterance: increments (`online`, `2pass-online`), and segments (`offline`,
/// `2pass-offline`) that replace the increments before them.
class Transcript {
 public:
  Transcript(Mode mode, FinalFlag known) : mode_(mode), flag_(known) {}

  struct Update {
    bool changed = false;   ///< text() is another one
    bool complete = false;  ///< nothing more will come
  };
  /// Errors: invalid_input, where this is no result.
  Result<Update> take(std::string_view message);
  /// The server is told that the utterance is over.
  void finish() { finished_ = true; }
  /// No more has come for a while, and that is taken for the end.
  void settle();

  /// Whether the server may have said everything already: it does not always say that it has.
  bool may_be_complete() const;
  std::string text() const;
  FinalFlag flag() const { return flag_; }

 private:
  void learn(bool is_final, bool is_increment, bool is_empty);

  Mode mode_;
  FinalFlag flag_;
  std::string segments_;
  std::string increments_;
  bool finished_ = false;
  bool segment_since_finish_ = false;
  bool marked_since_finish_ = false;
};

}  // namespace parley::providers::funasr
