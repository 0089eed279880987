#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "parley/engine/asr.hpp"
#include "parley/engine/tts.hpp"
#include "parley/providers/flite_tts.hpp"

namespace parley::test {

/// Runs a task on `io` to its end, on this thread.
template <class T>
T run(asio::io_context& io, Task<T> task) {
  std::optional<T> result;
  std::exception_ptr failure;
  asio::co_spawn(io, std::move(task), [&](std::exception_ptr thrown, T value) {
    failure = thrown;
    if (!thrown) result.emplace(std::move(value));
    io.stop();
  });
  io.restart();
  const auto work = asio::make_work_guard(io);
  io.run();
  if (failure) std::rethrow_exception(failure);
  return std::move(*result);
}

/// What `voice` says, with silence before and after, at 16 kHz.
inline std::vector<std::int16_t> spoken(std::string_view text, std::string_view voice) {
  auto pcm = providers::flite_synthesize(text, voice);
  EXPECT_TRUE(pcm.has_value());
  std::vector<std::int16_t> samples(4000);
  if (pcm.has_value()) samples.insert(samples.end(), pcm->samples.begin(), pcm->samples.end());
  samples.insert(samples.end(), 8000, 0);
  return samples;
}

/// Pushes in frames of 60 ms and finishes.
inline void feed(engine::AsrStream& stream, audio::PcmView samples) {
  constexpr std::size_t frame = 960;
  while (!samples.empty()) {
    const auto piece = samples.first(std::min(frame, samples.size()));
    stream.push(piece);
    samples = samples.subspan(piece.size());
  }
  stream.finish();
}

/// The one event of a recogniser's stream, after which it has to end.
inline Task<Result<engine::AsrEvent>> only_event(engine::AsrStream& stream) {
  auto first = co_await stream.next();
  if (first.has_error()) co_return first.error();
  if (!*first) co_return Error(Errc::internal, "the stream ended without an event");
  auto second = co_await stream.next();
  if (second.has_error()) co_return second.error();
  if (*second) co_return Error(Errc::internal, "there was a second event");
  co_return std::move(**first);
}

/// One utterance from open() to its event.
inline Task<Result<engine::AsrEvent>> recognise(engine::AsrProvider& provider, engine::AsrRequest request,
                                                audio::PcmView samples) {
  auto opened = co_await provider.open(std::move(request));
  if (opened.has_error()) co_return opened.error();
  feed(**opened, samples);
  co_return co_await only_event(**opened);
}

}  // namespace parley::test
