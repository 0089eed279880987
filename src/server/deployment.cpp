#include "parley/server/deployment.hpp"

#include <utility>

#include "parley/engine/decorators.hpp"

namespace parley::server {
namespace {

/// Makes the engines of one role, each block once, whichever profiles name it.
template <class Provider>
class Shop {
 public:
  Shop(std::string role, const std::map<std::string, engine::Factory<Provider>>& factories,
       const config::Settings& settings, const engine::EngineContext& context)
      : role_(std::move(role)), factories_(factories), settings_(settings), context_(context) {}

  std::vector<engine::Named<Provider>> make(const config::Role& names) {
    std::vector<engine::Named<Provider>> engines;
    for (const auto& name : names) engines.push_back({name, get(name)});
    return engines;
  }
  std::map<std::string, std::shared_ptr<Provider>> take() { return std::move(made_); }

 private:
  std::shared_ptr<Provider> get(const std::string& name) {
    auto& slot = made_[name];
    if (slot) return slot;
    const auto& block = settings_.engines.at(name);
    const auto factory = factories_.find(block.type);
    if (factory == factories_.end()) {
      std::vector<std::string> types;
      std::string list;
      for (const auto& [type, make] : factories_) {
        types.push_back(type);
        list += (list.empty() ? "" : ", ") + type;
      }
      const auto near = config::nearest(block.type, types);
      block.node.fail("type", "\"" + block.type + "\" is not a type of " + role_ +
                                  " engine; expected one of: " + list +
                                  (near.empty() ? "" : " (did you mean " + near + "?)"));
    }
    slot = factory->second(block.node, context_);
    block.node.finish();
    return slot;
  }

  std::string role_;
  const std::map<std::string, engine::Factory<Provider>>& factories_;
  const config::Settings& settings_;
  const engine::EngineContext& context_;
  std::map<std::string, std::shared_ptr<Provider>> made_;
};

}  // namespace

Deployment::Deployment(std::shared_ptr<const config::Settings> settings, const engine::Registry& registry,
                       Shared shared)
    : settings_(std::move(settings)) {
  const engine::EngineContext context{shared.workers};
  Shop<engine::VadProvider> vad("vad", registry.vad, *settings_, context);
  Shop<engine::AsrProvider> asr("asr", registry.asr, *settings_, context);
  Shop<engine::LlmProvider> llm("llm", registry.llm, *settings_, context);
  Shop<engine::TtsProvider> tts("tts", registry.tts, *settings_, context);
  std::map<std::string, std::shared_ptr<const audio::Pcm>> clips;
  const auto add = [&](const std::string& device, const config::Profile& profile) {
    auto runtime = std::make_shared<session::Runtime>();
    runtime->settings = settings_;
    runtime->profile = &profile;
    runtime->persona = std::make_shared<const dialogue::Persona>(profile.persona, profile.timezone);
    // Voice detection is arithmetic: it has nothing to fall back from.
    runtime->engines.vad = vad.make(profile.roles.vad).front().provider;
    runtime->engines.asr = engine::with_fallback(asr.make(profile.roles.asr), shared.metrics,
                                                 engine::Patience{profile.session.asr_timeout});
    runtime->engines.llm = engine::with_fallback(llm.make(profile.roles.llm), shared.metrics,
                                                 engine::Patience{profile.session.llm_timeout});
    runtime->engines.tts = engine::with_fallback(tts.make(profile.roles.tts), shared.metrics,
                                                 engine::Patience{profile.session.tts_timeout});
    if (const auto grammar = runtime->engines.llm->whole_grammar()) {
      if (const auto valid = runtime->engines.asr->validate(*grammar); !valid) {
        throw Failure(Error(Errc::configuration, settings_->file.string() + ": " + valid.error().message));
      }
    }
    auto& clip = clips[profile.session.apology];
    if (!clip && shared.synthesize) clip = shared.synthesize(profile.session.apology);
    runtime->apology_clip = clip;
    runtime->metrics = shared.metrics;
    runtime->turn_log = shared.turn_log;
    runtime->conversations = shared.conversations;
    runtime->mcp_servers = shared.mcp_servers;
    runtime->reminders = shared.reminders;
    runtime->own_tools = std::make_shared<const mcp::OwnToolbox>(*settings_, profile);
    for (const auto& [name, choice] : settings_->personas) {
      if (choice.persona.empty()) continue;
      runtime->personas[name] = std::make_shared<const dialogue::Persona>(choice.persona, profile.timezone);
    }
    runtimes_[device] = std::move(runtime);
  };
  add("", settings_->profile);
  for (const auto& [device, profile] : settings_->devices) add(device, profile);
  roster_ = {asr.take(), llm.take(), tts.take()};
}

std::shared_ptr<const session::Runtime> Deployment::runtime_for(const std::string& device_id) const {
  const auto found = runtimes_.find(device_id);
  return found == runtimes_.end() ? runtimes_.at("") : found->second;
}

}  // namespace parley::server
