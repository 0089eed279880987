#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/engine/llm.hpp"
#include "providers/intents/catalog.hpp"
#include "providers/intents/matcher.hpp"
#include "providers/intents/time_zone.hpp"
#include "providers/intents/views.hpp"

namespace parley::providers::intents {

/// What is said and done next.
struct Outcome {
  /// Whether an intent in force answers; false: `text` says that nothing was understood, or cannot be done.
  bool understood = false;
  std::string text;
  std::optional<engine::ToolCall> call;
  bool end = false;
  /// Another model has called tools, and what was said does not tell how to go on from there: no text.
  bool lost = false;
};

/// Decides from a conversation's messages alone what comes next; holds no state of any conversation.
/// Thread-safe.
///
/// The last user message is matched. An intent with tools first yields its call; asked again with the results
/// after that message, it yields the next call or the reply. An intent that wants to be confirmed yields its
/// question; when the next user message is a yes, and the message between is that question, it goes on as if
/// confirmed.
///
/// Where another model began to call tools and then failed, it goes on if an intent would have made the very
/// same calls, but does not say that it understands: that other model would.
class Dialogue {
 public:
  /// Throws Failure where the sentences have too many forms.
  Dialogue(Catalog catalog, TimeZone zone);

  Outcome respond(const engine::ChatRequest& request, WallTime now) const;

  const Catalog& catalog() const { return *catalog_; }
  const Matcher& matcher() const { return matcher_; }
  Views& views() const { return views_; }

 private:
  struct Turn;
  std::optional<Outcome> answer_to_question(const Turn& turn) const;
  Outcome not_understood(const Turn& turn) const;
  Outcome take_over(const Turn& turn) const;
  bool would_have_called(const Turn& turn, const Reading& reading, const std::string& said) const;
  Outcome perform(const Turn& turn, const Reading& reading, const std::string& said) const;
  Outcome next_call(const Turn& turn, const Action& action, std::size_t step,
                    const nlohmann::json& scope) const;
  std::string question(const Turn& turn, const Reading& reading, const std::string& said) const;
  nlohmann::json scope(const Turn& turn, const Reading& reading, const std::string& said) const;

  std::unique_ptr<const Catalog> catalog_;
  TimeZone zone_;
  Matcher matcher_;
  mutable Views views_;
};

}  // namespace parley::providers::intents
