#include "providers/pocketsphinx/pool.hpp"

#include <algorithm>
#include <utility>

namespace parley::providers::pocketsphinx {

std::optional<std::unique_ptr<Decoder>> DecoderPool::acquire(const std::string& grammar_id,
                                                             std::weak_ptr<Waiter> waiter) {
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<Decoder> decoder;
  const auto fitting = std::find_if(idle_.rbegin(), idle_.rend(), [&grammar_id](const auto& idle) {
    return idle->grammar_id() == grammar_id;
  });
  if (fitting != idle_.rend()) {
    decoder = std::move(*fitting);
    idle_.erase(std::next(fitting).base());
  } else if (taken_ + idle_.size() >= places_) {
    if (idle_.empty()) {
      std::erase_if(waiting_, [](const auto& waiting) { return waiting.expired(); });
      waiting_.push_back(std::move(waiter));
      return std::nullopt;
    }
    decoder = std::move(idle_.front());
    idle_.pop_front();
  }
  ++taken_;
  return decoder;
}

void DecoderPool::release(std::unique_ptr<Decoder> decoder) {
  while (true) {
    std::shared_ptr<Waiter> next;
    {
      const std::scoped_lock lock(mutex_);
      while (!next && !waiting_.empty()) {
        next = waiting_.front().lock();
        waiting_.pop_front();
      }
      if (!next) {
        --taken_;
        if (decoder) idle_.push_back(std::move(decoder));
        return;
      }
    }
    if (next->offer(decoder)) return;
  }
}

bool DecoderPool::has_idle(const std::string& grammar_id) const {
  const std::scoped_lock lock(mutex_);
  return std::any_of(idle_.begin(), idle_.end(),
                     [&grammar_id](const auto& idle) { return idle->grammar_id() == grammar_id; });
}

}  // namespace parley::providers::pocketsphinx
