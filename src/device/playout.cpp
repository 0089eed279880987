#include "parley/device/playout.hpp"

#include <algorithm>
#include <utility>

namespace parley::device {

PlayoutCounts& PlayoutCounts::operator+=(const PlayoutCounts& more) {
  received += more.received;
  played += more.played;
  dropped_full += more.dropped_full;
  dropped_outside += more.dropped_outside;
  cleared += more.cleared;
  underruns += more.underruns;
  gaps += more.gaps;
  return *this;
}

PlayoutCounts PlayoutCounts::since(const PlayoutCounts& earlier) const {
  auto rest = *this;
  rest.received -= earlier.received;
  rest.played -= earlier.played;
  rest.dropped_full -= earlier.dropped_full;
  rest.dropped_outside -= earlier.dropped_outside;
  rest.cleared -= earlier.cleared;
  rest.underruns -= earlier.underruns;
  rest.gaps -= earlier.gaps;
  return rest;
}

void Playout::post(TimePoint now, bool start) {
  run(now);
  loop_.push_back({now_ + settings_.loop_delay, start});
}

void Playout::push(Packet packet, TimePoint now) {
  run(now);
  ++counts_.received;
  if (!speaking_) {
    ++counts_.dropped_outside;
  } else if (queue_.size() >= settings_.capacity) {
    ++counts_.dropped_full;
  } else {
    queue_.push_back({std::move(packet), now_});
    run(now_);
  }
}

std::vector<Playout::Packet> Playout::advance(TimePoint now) {
  run(now);
  return std::exchange(started_, {});
}

std::optional<TimePoint> Playout::next_change() const {
  std::optional<TimePoint> next;
  if (!loop_.empty()) next = loop_.front().at;
  if (busy_until_ > now_) next = next ? std::min(*next, busy_until_) : busy_until_;
  return next;
}

TimePoint Playout::plays_until() const {
  return std::max(busy_until_, now_) + settings_.frame * static_cast<Duration::rep>(queue_.size());
}

void Playout::run(TimePoint now) {
  now_ = std::max(now_, now);
  while (true) {
    const bool playable = !queue_.empty();
    const auto play_at = playable ? std::max(busy_until_, queue_.front().arrived) : TimePoint{};
    if (!loop_.empty() && loop_.front().at <= now_ && (!playable || loop_.front().at <= play_at)) {
      const auto event = loop_.front();
      loop_.pop_front();
      handle(event);
    } else if (playable && play_at <= now_) {
      play_front(play_at);
    } else {
      return;
    }
  }
}

void Playout::handle(const LoopEvent& event) {
  speaking_ = event.start;
  if (!event.start) return;
  ++starts_;
  counts_.cleared += queue_.size();
  queue_.clear();
  busy_until_ = std::min(busy_until_, event.at);
  begun_ = false;
}

void Playout::play_front(TimePoint at) {
  if (begun_ && at > busy_until_) {
    ++counts_.underruns;
    counts_.gaps += at - busy_until_;
  }
  begun_ = true;
  busy_until_ = at + settings_.frame;
  ++counts_.played;
  started_.push_back(std::move(queue_.front().packet));
  queue_.pop_front();
}

}  // namespace parley::device
