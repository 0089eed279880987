#pragma once

#include <string>
#include <string_view>

#include "parley/core/error.hpp"

// The events of a realtime transcription session, as text. No I/O.
namespace parley::providers::openai {

/// One utterance: what is transcribed before the audio is committed, and the item that the commit makes.
class RealtimeTranscript {
 public:
  /// `secret` is taken out of errors.
  explicit RealtimeTranscript(std::string secret) : secret_(std::move(secret)) {}

  struct Update {
    bool changed = false;   ///< text() is another one
    bool complete = false;  ///< it is the final one
  };
  /// Events of other kinds change nothing. Errors: what the service reports, or invalid_input.
  Result<Update> take(std::string_view message);
  /// The audio was committed.
  void commit() { committed_ = true; }
  std::string text() const;

 private:
  Error error_of(std::string_view message, const std::string& code, const std::string& type) const;

  std::string secret_;
  std::string completed_;
  std::string deltas_;
  std::string item_;  ///< that the commit made, where the service says so
  bool committed_ = false;
};

}  // namespace parley::providers::openai
