#pragma once

#include <boost/asio/cancellation_signal.hpp>
#include <deque>
#include <memory>
#include <string>

#include "parley/core/async_event.hpp"
#include "parley/dialogue/reply.hpp"

namespace parley::dialogue {

/// Synthesises the sentences of one reply, in order, in a coroutine beside the model's: while one plays, the
/// next is asked for. The handle stops the coroutine when it is destroyed.
class Speaker {
 public:
  /// So many sentences may wait for the voice.
  static constexpr std::size_t kMaxWaiting = 16;

  Speaker(const asio::any_io_executor& executor, ReplyTools tools, std::shared_ptr<ReplyInProgress> reply);
  ~Speaker();
  Speaker(const Speaker&) = delete;
  Speaker& operator=(const Speaker&) = delete;
  Speaker(Speaker&&) = delete;
  Speaker& operator=(Speaker&&) = delete;

  /// After a failure of the voice the sentence is dropped: nothing would ever take it.
  void say(std::string sentence);
  /// Whether say() was called.
  bool spoke() const;
  /// Nothing waits and nothing is being synthesised; what was may still be playing.
  bool idle() const;
  /// Whether fewer sentences wait than may.
  bool has_room() const;
  /// Suspends until then.
  Task<> room();
  /// Suspends until every sentence was handed to the voice. The error is the voice's, if it failed; what it
  /// could not say was replaced by the apology clip.
  Task<Result<>> finish();

 private:
  struct State;
  static Task<> run(std::shared_ptr<State> state);
  static Task<Result<>> speak(State& state, std::string sentence);
  std::shared_ptr<State> state_;
};

}  // namespace parley::dialogue
