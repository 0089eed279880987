#include "parley/providers/pocketsphinx_asr.hpp"

#include <boost/asio/this_coro.hpp>
#include <mutex>
#include <set>
#include <utility>

#include "parley/core/log.hpp"
#include "parley/core/mailbox.hpp"
#include "providers/pocketsphinx/utterance.hpp"

namespace parley::providers {
namespace {

namespace ps = pocketsphinx;

class PocketsphinxStream final : public engine::AsrStream {
 public:
  PocketsphinxStream(std::shared_ptr<ps::Utterance> utterance,
                     std::shared_ptr<Mailbox<engine::AsrEvent>> mailbox)
      : utterance_(std::move(utterance)), mailbox_(std::move(mailbox)) {}
  PocketsphinxStream(const PocketsphinxStream&) = delete;
  PocketsphinxStream& operator=(const PocketsphinxStream&) = delete;
  PocketsphinxStream(PocketsphinxStream&&) = delete;
  PocketsphinxStream& operator=(PocketsphinxStream&&) = delete;
  ~PocketsphinxStream() override { utterance_->abandon(); }

  void push(audio::PcmView samples) override { utterance_->push(samples); }
  void finish() override { utterance_->finish(); }
  Task<Result<std::optional<engine::AsrEvent>>> next() override { return mailbox_->next(); }

 private:
  const std::shared_ptr<ps::Utterance> utterance_;
  const std::shared_ptr<Mailbox<engine::AsrEvent>> mailbox_;
};

/// Grammars that a job makes a decoder for right now.
struct Warming {
  std::mutex mutex;
  std::set<std::string> grammar_ids;
};

class PocketsphinxAsr final : public engine::AsrProvider {
 public:
  PocketsphinxAsr(PocketsphinxSettings settings, std::shared_ptr<WorkerPool> workers)
      : workers_(std::move(workers)), engine_(std::make_shared<ps::Engine>(std::move(settings), *workers_)) {}

  Task<Result<std::unique_ptr<engine::AsrStream>>> open(engine::AsrRequest request) override {
    if (!request.grammar) {
      co_return Error(
          Errc::unsupported,
          "pocketsphinx recognises what a grammar allows, and there is none; let the intents engine answer, "
          "or choose another recogniser");
    }
    if (request.grammar->words.empty()) {
      co_return Error(Errc::unsupported, "the speech grammar is empty: no intent can be said");
    }
    auto mailbox = Mailbox<engine::AsrEvent>::make(co_await asio::this_coro::executor);
    auto utterance = std::make_shared<ps::Utterance>(engine_, std::move(request.grammar), mailbox);
    std::unique_ptr<engine::AsrStream> stream =
        std::make_unique<PocketsphinxStream>(std::move(utterance), std::move(mailbox));
    co_return stream;
  }

  void warm_up(const engine::AsrRequest& request) override {
    const auto& grammar = request.grammar;
    if (!grammar || grammar->words.empty() || engine_->decoders.has_idle(grammar->id)) return;
    const std::scoped_lock lock(warming_->mutex);
    if (!warming_->grammar_ids.insert(grammar->id).second) return;
    auto submitted = workers_->submit([engine = engine_, warming = warming_, grammar] {
      if (auto place = engine->decoders.acquire(grammar->id, {})) {
        if (auto ready = engine->prepare(*place, *grammar); ready.has_error()) {
          log::warn("no decoder could be made ready", {{"why", ready.error().message}});
        }
        engine->decoders.release(std::move(*place));
      }
      const std::scoped_lock done(warming->mutex);
      warming->grammar_ids.erase(grammar->id);
    });
    if (submitted.has_error()) warming_->grammar_ids.erase(grammar->id);
  }

  Result<> validate(const engine::SpeechGrammar& grammar) override {
    if (grammar.words.empty()) return {};
    auto place = engine_->decoders.acquire(grammar.id, {});
    std::unique_ptr<ps::Decoder> extra;
    auto ready = engine_->prepare(place ? *place : extra, grammar);
    if (place) engine_->decoders.release(std::move(*place));
    return ready;
  }

 private:
  const std::shared_ptr<WorkerPool> workers_;
  const std::shared_ptr<ps::Engine> engine_;
  const std::shared_ptr<Warming> warming_ = std::make_shared<Warming>();
};

}  // namespace

std::shared_ptr<engine::AsrProvider> make_pocketsphinx(PocketsphinxSettings settings,
                                                       std::shared_ptr<WorkerPool> workers) {
  return std::make_shared<PocketsphinxAsr>(std::move(settings), std::move(workers));
}

PocketsphinxSettings pocketsphinx_settings(const config::Node& node) {
  PocketsphinxSettings settings;
  const auto path = [&node](std::string_view key, const std::filesystem::path& fallback) {
    return node.directory() / node.get(key, fallback.string());
  };
  settings.model = path("model", settings.model);
  settings.dictionary = path("dictionary", settings.dictionary);
  const auto decoders = static_cast<std::int64_t>(settings.max_decoders);
  settings.max_decoders = static_cast<std::size_t>(node.get("max_decoders", decoders, 1, 1024));
  settings.beam = static_cast<int>(node.get("beam", std::int64_t{settings.beam}, 20, 200));
  settings.remove_noise = node.get("remove_noise", settings.remove_noise);
  settings.reject = node.get("reject", settings.reject);
  settings.min_score = node.get("min_score", settings.min_score, -1000.0, 1000.0);
  settings.max_unexplained = node.get("max_unexplained", settings.max_unexplained, 0.0, 1000.0);
  settings.max_frames_per_word = node.get("max_frames_per_word", settings.max_frames_per_word, 0.0, 1000.0);
  if (!std::filesystem::is_directory(settings.model)) {
    node.fail("model", "there is no acoustic model in " + settings.model.string() +
                           "; expected a directory, such as the one of the package pocketsphinx-en-us");
  }
  if (!std::filesystem::is_regular_file(settings.dictionary)) {
    node.fail("dictionary", "there is no file " + settings.dictionary.string() +
                                "; expected a pronunciation dictionary, such as the one of the package "
                                "pocketsphinx-en-us");
  }
  return settings;
}

std::shared_ptr<engine::AsrProvider> pocketsphinx_from_config(const config::Node& node,
                                                              const engine::EngineContext& context) {
  return make_pocketsphinx(pocketsphinx_settings(node), context.workers);
}

Result<std::vector<std::string>> words_without_pronunciation(const engine::SpeechGrammar& grammar,
                                                             const std::filesystem::path& dictionary) {
  auto found = ps::find_pronunciations(grammar, dictionary);
  if (found.has_error()) return found.error();
  return ps::missing_words(grammar, *found);
}

std::string missing_pronunciations_message(const std::vector<std::string>& words) {
  constexpr std::size_t shown = 20;
  std::string message = words.size() == 1 ? "no pronunciation is known for the word"
                                          : "no pronunciation is known for the words";
  for (std::size_t i = 0; i < words.size() && i < shown; ++i) message += (i == 0 ? " " : ", ") + words[i];
  if (words.size() > shown) message += " and " + std::to_string(words.size() - shown) + " more";
  return message +
         "; give it in the intents file under `pronunciations:`, one line a word, like `latte: L AA T EY` "
         "(ARPAbet phones)";
}

}  // namespace parley::providers
