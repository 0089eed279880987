#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "parley/engine/vad.hpp"

namespace parley::test {

/// Judges by a function of the frame; counts what it is asked.
class ScriptedVad final : public engine::Vad {
 public:
  struct Record {
    std::size_t frames = 0;
    std::size_t resets = 0;
  };
  using Judge = std::function<bool(audio::PcmView)>;

  ScriptedVad(Judge judge, Record* record) : judge_(std::move(judge)), record_(record) {}
  bool is_voice(audio::PcmView frame) override {
    ++record_->frames;
    return judge_(frame);
  }
  void reset() override { ++record_->resets; }

 private:
  Judge judge_;
  Record* record_;
};

}  // namespace parley::test
