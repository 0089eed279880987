#include "parley/server/probe.hpp"

#include <utility>

#include "parley/core/deadline.hpp"

namespace parley::server {
namespace {

constexpr std::string_view kPrompt = "Say hello in one word.";
constexpr std::string_view kSentence = "Hello.";

struct Answer {
  std::string said;
  Duration took{};
};

Task<Result<Answer>> ask(engine::AsrProvider& engine, engine::AsrRequest request, const audio::Pcm& speech,
                         Scheduler& clock) {
  auto stream = co_await engine.open(std::move(request));
  if (!stream) co_return stream.error();
  (*stream)->push(speech.samples);
  (*stream)->finish();
  const auto finished = clock.now();
  while (true) {
    auto event = co_await (*stream)->next();
    if (!event) co_return event.error();
    if (!*event) co_return Error(Errc::closed, "it ended without a result");
    if ((*event)->kind == engine::AsrEvent::Kind::partial) continue;
    const bool refused = (*event)->kind == engine::AsrEvent::Kind::rejected;
    co_return Answer{"heard \"" + (*event)->text + "\"" + (refused ? " (refused)" : ""),
                     clock.now() - finished};
  }
}

Task<Result<Answer>> ask(engine::LlmProvider& engine, Scheduler& clock) {
  engine::ChatRequest request;
  request.messages.emplace_back().text = kPrompt;
  const auto asked = clock.now();
  auto stream = co_await engine.chat(std::move(request));
  if (!stream) co_return stream.error();
  Answer answer;
  while (true) {
    auto event = co_await (*stream)->next();
    if (!event) co_return event.error();
    if (!*event) break;
    const auto* text = std::get_if<engine::TextDelta>(&(*event)->what);
    if (text == nullptr) continue;
    if (answer.said.empty()) answer.took = clock.now() - asked;
    answer.said += text->text;
  }
  if (answer.said.empty()) co_return Error(Errc::closed, "it answered nothing");
  answer.said = "says \"" + answer.said + "\"";
  co_return answer;
}

Task<Result<Answer>> ask(engine::TtsProvider& engine, const config::Profile& profile, Scheduler& clock) {
  const auto asked = clock.now();
  auto stream = co_await engine.speak({std::string(kSentence), profile.voice, profile.language});
  if (!stream) co_return stream.error();
  Answer answer;
  std::size_t samples = 0;
  int rate = 0;
  while (true) {
    auto sound = co_await (*stream)->next();
    if (!sound) co_return sound.error();
    if (!*sound) break;
    if (samples == 0) answer.took = clock.now() - asked;
    samples += (*sound)->pcm.samples.size();
    rate = (*sound)->pcm.rate;
  }
  if (samples == 0) co_return Error(Errc::closed, "it made no sound");
  const auto length = std::chrono::duration_cast<Millis>(audio::duration_of(samples, rate));
  answer.said = std::to_string(length.count()) + " ms of sound at " + std::to_string(rate) + " Hz";
  co_return answer;
}

}  // namespace

Task<std::vector<Probe>> probe_engines(const Deployment& deployment, const audio::Pcm& speech, Millis limit) {
  const auto clock = make_asio_scheduler(co_await asio::this_coro::executor);
  const auto& everybody = *deployment.runtime_for("");
  std::vector<Probe> probes;
  const auto add = [&](std::string role, const std::string& name, Task<Result<Answer>> asking) -> Task<> {
    auto answer =
        co_await with_deadline(*clock, clock->now() + limit, "it did not answer in time", std::move(asking));
    Probe probe{std::move(role), name, deployment.settings()->engines.at(name).type,
                answer ? Result<std::string>(std::move(answer->said)) : answer.error(),
                answer ? answer->took : Duration{}};
    probes.push_back(std::move(probe));
  };
  const auto& roster = deployment.roster();
  for (const auto& [name, engine] : roster.asr) {
    engine::AsrRequest request;
    request.language = everybody.profile->language;
    request.grammar = everybody.engines.llm->whole_grammar();
    co_await add("asr", name, ask(*engine, std::move(request), speech, *clock));
  }
  for (const auto& [name, engine] : roster.llm) co_await add("llm", name, ask(*engine, *clock));
  for (const auto& [name, engine] : roster.tts)
    co_await add("tts", name, ask(*engine, *everybody.profile, *clock));
  co_return probes;
}

}  // namespace parley::server
