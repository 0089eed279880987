#include "parley/engine/decorators.hpp"

#include <algorithm>
#include <utility>

#include "parley/core/async_event.hpp"
#include "parley/core/deadline.hpp"
#include "parley/core/log.hpp"

namespace parley::engine {
namespace {

/// 30 s of audio for a successor.
constexpr std::size_t kMaxKept = 30 * audio::kListeningRate;

template <class Provider>
struct Engines {
  std::vector<Named<Provider>> list;
  std::shared_ptr<Metrics> metrics;
  Patience patience;
  std::string role;

  void count(std::size_t index, const Error& error) const {
    metrics->engine_error(role, list[index].name, to_string(error.code));
    log::warn("an engine failed",
              {{"role", role},
               {"engine", list[index].name},
               {"code", to_string(error.code)},
               {"why", error.message},
               {"next", index + 1 < list.size() ? list[index + 1].name : std::string("none")}});
  }

  std::string late(std::size_t index) const {
    return "engine " + list[index].name + " did not answer within " + std::to_string(patience.limit.count()) +
           " ms";
  }
};

/// Opens the first engine from `index` on that lets itself be opened in time; moves `index` there.
template <class Provider, class Open>
auto open_from(const Engines<Provider>& engines, Scheduler& clock, std::size_t& index, Open open)
    -> decltype(open(*engines.list[0].provider)) {
  while (true) {
    auto stream = co_await with_deadline(clock, clock.now() + engines.patience.limit, engines.late(index),
                                         open(*engines.list[index].provider));
    if (stream) co_return stream;
    engines.count(index, stream.error());
    if (index + 1 == engines.list.size()) co_return stream.error();
    ++index;
  }
}

/// A stream that is replaced by the next engine's as long as nothing was delivered.
template <class Provider, class Event, class Open>
class FallbackStream final : public EventStream<Event> {
 public:
  FallbackStream(std::shared_ptr<const Engines<Provider>> engines, std::shared_ptr<Scheduler> clock,
                 std::size_t index, std::unique_ptr<EventStream<Event>> stream, Open open)
      : engines_(std::move(engines)),
        clock_(std::move(clock)),
        index_(index),
        stream_(std::move(stream)),
        open_(std::move(open)) {}

  Task<Result<std::optional<Event>>> next() override {
    while (true) {
      auto event = co_await with_deadline(*clock_, clock_->now() + engines_->patience.limit,
                                          engines_->late(index_), stream_->next());
      if (event) {
        delivered_ = true;
        co_return event;
      }
      engines_->count(index_, event.error());
      if (delivered_ || index_ + 1 == engines_->list.size()) co_return event;
      ++index_;
      auto replaced = co_await open_from(*engines_, *clock_, index_, open_);
      if (!replaced) co_return replaced.error();
      stream_ = std::move(*replaced);
    }
  }

 private:
  std::shared_ptr<const Engines<Provider>> engines_;
  std::shared_ptr<Scheduler> clock_;
  std::size_t index_;
  std::unique_ptr<EventStream<Event>> stream_;
  Open open_;
  bool delivered_ = false;
};

/// `open` is kept: it makes the stream of whichever engine is asked.
template <class Event, class Provider, class Open>
Task<Result<std::unique_ptr<EventStream<Event>>>> open_replaceable(
    std::shared_ptr<const Engines<Provider>> engines, Open open, std::size_t index = 0) {
  const auto clock = engines->patience.clock(co_await asio::this_coro::executor);
  auto stream = co_await open_from(*engines, *clock, index, open);
  if (!stream) co_return stream.error();
  co_return std::unique_ptr<EventStream<Event>>(std::make_unique<FallbackStream<Provider, Event, Open>>(
      engines, clock, index, std::move(*stream), std::move(open)));
}

class FallbackLlm final : public LlmProvider {
 public:
  explicit FallbackLlm(std::shared_ptr<const Engines<LlmProvider>> engines) : engines_(std::move(engines)) {}

  Task<Result<std::unique_ptr<LlmStream>>> chat(ChatRequest request) override {
    const auto& list = engines_->list;
    std::size_t first = 0;
    while (first + 1 < list.size() && !list[first].provider->understands(request)) ++first;
    return open_replaceable<LlmEvent>(
        engines_,
        [kept = std::make_shared<const ChatRequest>(std::move(request))](LlmProvider& engine) {
          return engine.chat(*kept);
        },
        first);
  }
  bool understands(const ChatRequest& request) const override {
    return std::ranges::any_of(engines_->list,
                               [&](const auto& engine) { return engine.provider->understands(request); });
  }
  void connect_ahead(const asio::any_io_executor& executor) override {
    // Which of them it will be depends on what is said.
    for (const auto& engine : engines_->list) engine.provider->connect_ahead(executor);
  }
  std::shared_ptr<const SpeechGrammar> grammar(const ToolSet& tools) override {
    for (const auto& engine : engines_->list) {
      if (auto grammar = engine.provider->grammar(tools)) return grammar;
    }
    return nullptr;
  }
  std::shared_ptr<const SpeechGrammar> whole_grammar() override {
    for (const auto& engine : engines_->list) {
      if (auto grammar = engine.provider->whole_grammar()) return grammar;
    }
    return nullptr;
  }

 private:
  std::shared_ptr<const Engines<LlmProvider>> engines_;
};

class FallbackTts final : public TtsProvider {
 public:
  explicit FallbackTts(std::shared_ptr<const Engines<TtsProvider>> engines) : engines_(std::move(engines)) {}

  Task<Result<std::unique_ptr<TtsStream>>> speak(TtsRequest request) override {
    return open_replaceable<TtsAudio>(
        engines_, [kept = std::make_shared<const TtsRequest>(std::move(request))](TtsProvider& engine) {
          return engine.speak(*kept);
        });
  }
  void connect_ahead(const asio::any_io_executor& executor) override {
    engines_->list.front().provider->connect_ahead(executor);
  }

 private:
  std::shared_ptr<const Engines<TtsProvider>> engines_;
};

/// Audio is pushed while next() is suspended in an engine, so a successor is fed what was kept.
class FallbackAsrStream final : public AsrStream {
 public:
  FallbackAsrStream(std::shared_ptr<const Engines<AsrProvider>> engines, std::shared_ptr<Scheduler> clock,
                    const asio::any_io_executor& executor, std::size_t index, AsrRequest request,
                    std::unique_ptr<AsrStream> stream)
      : engines_(std::move(engines)),
        clock_(std::move(clock)),
        index_(index),
        request_(std::move(request)),
        stream_(std::move(stream)),
        limit_(clock_->make_timer()),
        late_(executor) {}

  void push(audio::PcmView samples) override {
    if (finished_) return;
    // Also while the last one is being opened.
    if (!stream_ || index_ + 1 < engines_->list.size()) {
      const auto room = kMaxKept - std::min(kMaxKept, kept_.size());
      kept_.insert(kept_.end(), samples.begin(),
                   samples.begin() + static_cast<std::ptrdiff_t>(std::min(room, samples.size())));
    }
    if (stream_) stream_->push(samples);
  }

  void finish() override {
    finished_ = true;
    if (stream_) finish_engine();
  }

  Task<Result<std::optional<AsrEvent>>> next() override {
    while (true) {
      auto event = co_await next_in_time();
      if (event) {
        // A partial result may still change, so a successor may begin anew.
        delivered_ = delivered_ || !*event || (*event)->kind != AsrEvent::Kind::partial;
        co_return event;
      }
      engines_->count(index_, event.error());
      if (delivered_ || index_ + 1 == engines_->list.size()) co_return event;
      ++index_;
      stream_.reset();
      auto replaced = co_await open_from(*engines_, *clock_, index_,
                                         [this](AsrProvider& engine) { return engine.open(request_); });
      if (!replaced) co_return replaced.error();
      stream_ = std::move(*replaced);
      stream_->push(kept_);
      if (index_ + 1 == engines_->list.size()) kept_ = {};
      if (finished_) finish_engine();
    }
  }

 private:
  using Event = Result<std::optional<AsrEvent>>;

  /// An utterance may be long: the limit counts from its end.
  void finish_engine() {
    is_late_ = false;
    limit_->arm(clock_->now() + engines_->patience.limit, [this] {
      is_late_ = true;
      late_.notify();
    });
    stream_->finish();
  }

  Task<Event> next_in_time() {
    using asio::experimental::awaitable_operators::operator||;
    auto outcome = co_await (contained(stream_->next()) || lateness());
    co_return outcome.index() == 0 ? std::move(std::get<0>(outcome))
                                   : Error(Errc::timeout, engines_->late(index_), true);
  }

  Task<> lateness() {
    while (!is_late_) co_await late_.wait();
  }

  std::shared_ptr<const Engines<AsrProvider>> engines_;
  std::shared_ptr<Scheduler> clock_;
  std::size_t index_;
  AsrRequest request_;
  std::unique_ptr<AsrStream> stream_;
  std::unique_ptr<Timer> limit_;
  AsyncEvent late_;
  bool is_late_ = false;
  std::vector<std::int16_t> kept_;
  bool finished_ = false;
  bool delivered_ = false;
};

class FallbackAsr final : public AsrProvider {
 public:
  explicit FallbackAsr(std::shared_ptr<const Engines<AsrProvider>> engines) : engines_(std::move(engines)) {}

  Task<Result<std::unique_ptr<AsrStream>>> open(AsrRequest request) override {
    const auto executor = co_await asio::this_coro::executor;
    const auto clock = engines_->patience.clock(executor);
    std::size_t index = 0;
    auto stream = co_await open_from(*engines_, *clock, index,
                                     [&](AsrProvider& engine) { return engine.open(request); });
    if (!stream) co_return stream.error();
    co_return std::unique_ptr<AsrStream>(std::make_unique<FallbackAsrStream>(
        engines_, clock, executor, index, std::move(request), std::move(*stream)));
  }
  void warm_up(const AsrRequest& request) override { engines_->list.front().provider->warm_up(request); }
  void connect_ahead(const asio::any_io_executor& executor) override {
    engines_->list.front().provider->connect_ahead(executor);
  }
  Result<> validate(const SpeechGrammar& grammar) override {
    for (const auto& engine : engines_->list) {
      if (auto valid = engine.provider->validate(grammar); !valid) {
        return Error(Errc::configuration, "engine " + engine.name + ": " + valid.error().message);
      }
    }
    return {};
  }

 private:
  std::shared_ptr<const Engines<AsrProvider>> engines_;
};

template <class Provider>
std::shared_ptr<const Engines<Provider>> gather(std::vector<Named<Provider>> list,
                                                std::shared_ptr<Metrics> metrics, Patience patience,
                                                std::string role) {
  auto engines = std::make_shared<Engines<Provider>>();
  engines->list = std::move(list);
  engines->metrics = std::move(metrics);
  engines->patience = std::move(patience);
  engines->role = std::move(role);
  return engines;
}

}  // namespace

std::shared_ptr<AsrProvider> with_fallback(std::vector<Named<AsrProvider>> engines,
                                           std::shared_ptr<Metrics> metrics, Patience patience) {
  return std::make_shared<FallbackAsr>(
      gather(std::move(engines), std::move(metrics), std::move(patience), "asr"));
}
std::shared_ptr<LlmProvider> with_fallback(std::vector<Named<LlmProvider>> engines,
                                           std::shared_ptr<Metrics> metrics, Patience patience) {
  return std::make_shared<FallbackLlm>(
      gather(std::move(engines), std::move(metrics), std::move(patience), "llm"));
}
std::shared_ptr<TtsProvider> with_fallback(std::vector<Named<TtsProvider>> engines,
                                           std::shared_ptr<Metrics> metrics, Patience patience) {
  return std::make_shared<FallbackTts>(
      gather(std::move(engines), std::move(metrics), std::move(patience), "tts"));
}

}  // namespace parley::engine
