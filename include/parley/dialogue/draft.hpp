#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "parley/core/clock.hpp"
#include "parley/engine/llm.hpp"

namespace parley::dialogue {

/// An answer that is asked for before it is certain that it is wanted: the model is read ahead, nothing of it
/// is acted on until the draft is taken as the reply's stream. Destroying it gives the model up.
class Draft final : public engine::LlmStream {
 public:
  /// Asks at once.
  Draft(const asio::any_io_executor& executor, TimePoint now, std::shared_ptr<engine::LlmProvider> llm,
        engine::ChatRequest request);
  ~Draft() override;

  TimePoint asked_at() const { return asked_at_; }
  Task<Result<std::optional<engine::LlmEvent>>> next() override;

 private:
  struct State;
  static Task<> read(std::shared_ptr<State> state, std::shared_ptr<engine::LlmProvider> llm,
                     engine::ChatRequest request);
  TimePoint asked_at_;
  std::shared_ptr<State> state_;
};

/// Whether two texts are the same words: capitals (ASCII), blanks and punctuation (ASCII) do not matter.
bool same_words(std::string_view a, std::string_view b);

}  // namespace parley::dialogue
