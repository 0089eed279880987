#include "parley/providers/webrtc_vad.hpp"

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

// The library exports its plain C detector, but installs no header for it.
extern "C" {
struct WebRtcVadInst;
WebRtcVadInst* WebRtcVad_Create();
void WebRtcVad_Free(WebRtcVadInst* handle);
int WebRtcVad_Init(WebRtcVadInst* handle);
int WebRtcVad_set_mode(WebRtcVadInst* handle, int mode);
int WebRtcVad_Process(WebRtcVadInst* handle, int fs, const std::int16_t* audio_frame,
                      std::size_t frame_length);
}

namespace parley::providers {
namespace {

constexpr int kMostAggressive = 3;
constexpr int kDefaultAggressiveness = 2;

class WebrtcVad final : public engine::Vad {
 public:
  explicit WebrtcVad(int aggressiveness) : handle_(WebRtcVad_Create()), aggressiveness_(aggressiveness) {
    if (!handle_) throw std::bad_alloc();
    start();
  }

  bool is_voice(audio::PcmView frame) override {
    return WebRtcVad_Process(handle_.get(), audio::kListeningRate, frame.data(), frame.size()) == 1;
  }

  void reset() override { start(); }

 private:
  struct Free {
    void operator()(WebRtcVadInst* handle) const { WebRtcVad_Free(handle); }
  };

  void start() {
    // Init returns to mode 0.
    if (WebRtcVad_Init(handle_.get()) != 0 || WebRtcVad_set_mode(handle_.get(), aggressiveness_) != 0) {
      throw Failure(Error(Errc::internal, "webrtc's voice detector does not start"));
    }
  }

  std::unique_ptr<WebRtcVadInst, Free> handle_;
  int aggressiveness_;
};

class WebrtcVadProvider final : public engine::VadProvider {
 public:
  explicit WebrtcVadProvider(int aggressiveness) : aggressiveness_(aggressiveness) {}
  std::unique_ptr<engine::Vad> make() const override { return std::make_unique<WebrtcVad>(aggressiveness_); }

 private:
  int aggressiveness_;
};

}  // namespace

std::shared_ptr<engine::VadProvider> make_webrtc_vad(int aggressiveness) {
  if (aggressiveness < 0 || aggressiveness > kMostAggressive) {
    throw Failure(Error(Errc::configuration, "the aggressiveness of the voice detector must be 0 to 3, not " +
                                                 std::to_string(aggressiveness)));
  }
  return std::make_shared<WebrtcVadProvider>(aggressiveness);
}

std::shared_ptr<engine::VadProvider> webrtc_vad_from_config(const config::Node& node,
                                                            const engine::EngineContext& /*context*/) {
  return make_webrtc_vad(
      static_cast<int>(node.get("aggressiveness", std::int64_t{kDefaultAggressiveness}, 0, kMostAggressive)));
}

}  // namespace parley::providers
