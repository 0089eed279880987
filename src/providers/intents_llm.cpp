#include "parley/providers/intents_llm.hpp"

#include <chrono>
#include <deque>
#include <utility>

#include "providers/intents/dialogue.hpp"
#include "providers/intents/grammar.hpp"
#include "providers/intents/loader.hpp"

namespace parley::providers {
namespace {

using engine::LlmEvent;

/// Events that are there already.
class ReadyStream final : public engine::LlmStream {
 public:
  explicit ReadyStream(std::deque<LlmEvent> events) : events_(std::move(events)) {}

  Task<Result<std::optional<LlmEvent>>> next() override {
    if (events_.empty()) co_return std::nullopt;
    std::optional<LlmEvent> event = std::move(events_.front());
    events_.pop_front();
    co_return event;
  }

 private:
  std::deque<LlmEvent> events_;
};

class Intents final : public IntentsLlm {
 public:
  Intents(intents::Catalog catalog, TimeZone zone) : dialogue_(std::move(catalog), std::move(zone)) {
    const intents::Catalog& all = dialogue_.catalog();
    summary_.intents = all.intents.size();
    for (const intents::Intent& intent : all.intents) summary_.sentences += intent.sentences.size();
    whole_grammar_ = std::make_shared<const engine::SpeechGrammar>(
        intents::make_grammar(all, std::vector<bool>(all.intents.size(), true)));
    summary_.words = whole_grammar_->words;
    summary_.pronunciations = whole_grammar_->pronunciations;
    summary_.tools = intents::tools_named(all);
  }

  Task<Result<std::unique_ptr<engine::LlmStream>>> chat(engine::ChatRequest request) override {
    intents::Outcome outcome = dialogue_.respond(request, std::chrono::system_clock::now());
    if (outcome.lost)
      co_return Error(Errc::unsupported, "the intents cannot go on where another model stopped");
    std::deque<LlmEvent> events;
    const TimePoint now = Clock::now();
    if (!outcome.text.empty()) {
      events.push_back({.ready_at = now, .what = engine::TextDelta{.text = std::move(outcome.text)}});
    }
    if (outcome.call) events.push_back({.ready_at = now, .what = *std::move(outcome.call)});
    if (outcome.end) events.push_back({.ready_at = now, .what = engine::EndConversation{}});
    std::unique_ptr<engine::LlmStream> stream = std::make_unique<ReadyStream>(std::move(events));
    co_return stream;
  }

  std::shared_ptr<const engine::SpeechGrammar> grammar(const engine::ToolSet& tools) override {
    return dialogue_.views().get(tools)->grammar();
  }

  std::shared_ptr<const engine::SpeechGrammar> whole_grammar() override { return whole_grammar_; }

  std::optional<IntentMatch> match(std::string_view text, const engine::ToolSet& tools) const override {
    const auto view = dialogue_.views().get(tools);
    auto reading = dialogue_.matcher().read(text, view->in_force());
    if (!reading || reading->out_of_range) return std::nullopt;
    return IntentMatch{.intent = dialogue_.catalog().intents[reading->intent].name,
                       .slots = std::move(reading->slots),
                       .exact = reading->guessed == 0};
  }

  bool understands(const engine::ChatRequest& request) const override {
    return dialogue_.respond(request, std::chrono::system_clock::now()).understood;
  }

  const IntentsSummary& summary() const override { return summary_; }

 private:
  intents::Dialogue dialogue_;
  IntentsSummary summary_;
  std::shared_ptr<const engine::SpeechGrammar> whole_grammar_;
};

}  // namespace

std::shared_ptr<IntentsLlm> intents_from_config(const config::Node& node,
                                                const engine::EngineContext& /*context*/) {
  const std::vector<std::string> files = node.get_strings("files", {});
  const bool builtin = node.get("builtin", files.empty());
  const std::string timezone = node.get("timezone", "");

  std::vector<config::Node> documents{node};
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    documents.push_back(config::Node::load(node.directory() / *file));
  }
  if (builtin) documents.push_back(intents::builtin_document());
  intents::Catalog catalog = intents::load_catalog(documents);
  for (std::size_t i = 1; i < documents.size(); ++i) documents[i].finish();

  if (catalog.intents.empty()) node.fail("expected `files`, `intents` or `builtin: true`");
  try {
    return std::make_shared<Intents>(std::move(catalog), TimeZone(timezone));
  } catch (const Failure& failure) {
    node.fail(failure.error().message);
  }
}

}  // namespace parley::providers
