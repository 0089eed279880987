#include "parley/dialogue/draft.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <deque>
#include <utility>

#include "parley/core/async_event.hpp"

namespace parley::dialogue {
namespace {

/// Events that are read ahead; then the model has to wait.
constexpr std::size_t kMaxAhead = 256;

std::string letters_of(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c - 'A' + 'a');
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               (static_cast<unsigned char>(c) & 0x80U) != 0) {
      out += c;
    }
  }
  return out;
}

}  // namespace

struct Draft::State {
  explicit State(const asio::any_io_executor& executor) : changed(executor) {}
  AsyncEvent changed;
  asio::cancellation_signal stop;
  std::deque<Result<std::optional<engine::LlmEvent>>> events;
  bool done = false;
};

Draft::Draft(const asio::any_io_executor& executor, TimePoint now, std::shared_ptr<engine::LlmProvider> llm,
             engine::ChatRequest request)
    : asked_at_(now), state_(std::make_shared<State>(executor)) {
  asio::co_spawn(
      executor, read(state_, std::move(llm), std::move(request)),
      asio::bind_cancellation_slot(state_->stop.slot(), [state = state_](const std::exception_ptr& thrown) {
        if (thrown) state->events.emplace_back(Error(Errc::internal, "the model was interrupted"));
        state->done = true;
        state->changed.notify();
      }));
}

Draft::~Draft() {
  if (!state_->done) state_->stop.emit(asio::cancellation_type::terminal);
}

Task<> Draft::read(std::shared_ptr<State> state, std::shared_ptr<engine::LlmProvider> llm,
                   engine::ChatRequest request) {
  auto stream = co_await llm->chat(std::move(request));
  if (!stream) {
    state->events.emplace_back(stream.error());
    co_return;
  }
  for (bool more = true; more;) {
    while (state->events.size() >= kMaxAhead) co_await state->changed.wait();
    auto event = co_await (*stream)->next();
    more = event && *event;
    state->events.push_back(std::move(event));
    state->changed.notify();
  }
}

Task<Result<std::optional<engine::LlmEvent>>> Draft::next() {
  const auto state = state_;
  while (state->events.empty() && !state->done) co_await state->changed.wait();
  if (state->events.empty()) co_return std::optional<engine::LlmEvent>();
  auto event = std::move(state->events.front());
  state->events.pop_front();
  state->changed.notify();
  co_return event;
}

bool same_words(std::string_view a, std::string_view b) {
  return letters_of(a) == letters_of(b);
}

}  // namespace parley::dialogue
