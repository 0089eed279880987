#pragma once

#include <optional>
#include <vector>

#include "parley/engine/stream.hpp"

namespace parley::test {

/// Everything of a stream, in order, up to its end or its error.
template <class Event>
struct Heard {
  std::vector<Event> events;
  std::optional<Error> error;
};

template <class Event>
Task<Heard<Event>> drain(engine::EventStream<Event>& stream) {
  Heard<Event> heard;
  while (true) {
    auto event = co_await stream.next();
    if (!event) heard.error = event.error();
    if (!event || !*event) co_return heard;
    heard.events.push_back(std::move(**event));
  }
}

}  // namespace parley::test
