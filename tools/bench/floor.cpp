#include "floor.hpp"

#include <opus.h>

#include <algorithm>

#include "floor_server.hpp"
#include "parley/audio/resampler.hpp"
#include "process.hpp"

// The plain C VAD of webrtc-audio-processing, exported without a header.
extern "C" {
struct WebRtcVadInst;
WebRtcVadInst* WebRtcVad_Create();
int WebRtcVad_Init(WebRtcVadInst* handle);
int WebRtcVad_set_mode(WebRtcVadInst* handle, int mode);
int WebRtcVad_Process(WebRtcVadInst* handle, int rate, const std::int16_t* frame, std::size_t samples);
void WebRtcVad_Free(WebRtcVadInst* handle);
}

namespace parley::tools {
namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
/// Enough for a stable figure; more frames than that are reckoned.
constexpr std::size_t kEnoughFrames = 20'000;
constexpr std::size_t kMaxFrameSamples = 5760;

template <class Work>
double seconds_of(const Work& work) {
  const auto before = thread_cpu_seconds();
  work();
  return thread_cpu_seconds() - before;
}

std::vector<const UplinkFrame*> uplink_in_turn(const Material& material, bool talking) {
  std::vector<const UplinkFrame*> frames;
  if (talking) {
    for (const auto& phrase : material.phrases) {
      for (const auto& frame : phrase.frames) frames.push_back(&frame);
    }
    // The wait for the end of speech is silence that has to be decoded as well.
    constexpr std::size_t endpoint_frames = 12;
    for (std::size_t i = 0; i < std::min(endpoint_frames, material.silence.size()); ++i) {
      frames.push_back(&material.silence[i]);
    }
  } else {
    for (const auto& frame : material.silence) frames.push_back(&frame);
  }
  return frames;
}

Result<> measure_listening(const BenchOptions& options, const Material& material, std::size_t count,
                           Floor& floor) {
  int failed = OPUS_OK;
  const std::unique_ptr<OpusDecoder, void (*)(OpusDecoder*)> decoder(
      opus_decoder_create(audio::kListeningRate, 1, &failed), opus_decoder_destroy);
  const std::unique_ptr<WebRtcVadInst, void (*)(WebRtcVadInst*)> vad(WebRtcVad_Create(), WebRtcVad_Free);
  if (failed != OPUS_OK || !vad || WebRtcVad_Init(vad.get()) != 0) {
    return Error(Errc::internal, "libopus or the VAD cannot be started");
  }
  WebRtcVad_set_mode(vad.get(), 2);

  const auto frames = uplink_in_turn(material, options.profile == Profile::talking);
  const auto measured = std::min(count, kEnoughFrames);
  std::vector<std::int16_t> pcm(kMaxFrameSamples);
  std::vector<std::int16_t> heard;
  const auto decode_s = seconds_of([&] {
    for (std::size_t i = 0; i < measured; ++i) {
      const auto& packet = frames[i % frames.size()]->opus;
      const auto samples = opus_decode(decoder.get(), packet.data(), static_cast<opus_int32>(packet.size()),
                                       pcm.data(), static_cast<int>(pcm.size()), 0);
      // The sound for the VAD: once round is enough.
      if (i < frames.size() && samples > 0) heard.insert(heard.end(), pcm.begin(), pcm.begin() + samples);
    }
  });
  const auto vad_frame = audio::samples_in(Millis(20), audio::kListeningRate);
  const auto vad_count = static_cast<std::size_t>(static_cast<double>(measured) *
                                                  static_cast<double>(options.frame.count()) / 20);
  int voiced = 0;
  const auto positions = heard.size() / vad_frame;
  if (positions == 0) return Error(Errc::internal, "libopus decodes nothing");
  const auto vad_s = seconds_of([&] {
    for (std::size_t i = 0; i < vad_count; ++i) {
      voiced +=
          WebRtcVad_Process(vad.get(), audio::kListeningRate, &heard[(i % positions) * vad_frame], vad_frame);
    }
  });
  if (voiced < 0) return Error(Errc::internal, "the VAD fails");
  const auto scale = static_cast<double>(count) / static_cast<double>(measured);
  floor.decode_s = decode_s * scale;
  floor.decode_us = decode_s / static_cast<double>(measured) * 1e6;
  floor.vad_s = vad_s * scale;
  floor.vad_us = vad_s / static_cast<double>(std::max<std::size_t>(vad_count, 1)) * 1e6;
  return {};
}

Result<> measure_speaking(const BenchOptions& options, const Material& material, const LoadResult& load,
                          Floor& floor) {
  const auto rate = load.downlink.sample_rate;
  auto resampler = audio::Resampler::make(material.reply.rate, rate);
  if (!resampler) return resampler.error();
  std::vector<std::int16_t> speech;
  resampler->process(material.reply.samples, speech);
  const auto frame = audio::samples_in(Millis(load.downlink.frame_duration), rate);
  const auto positions = speech.size() / frame;
  int failed = OPUS_OK;
  const std::unique_ptr<OpusEncoder, void (*)(OpusEncoder*)> encoder(
      opus_encoder_create(rate, 1, OPUS_APPLICATION_AUDIO, &failed), opus_encoder_destroy);
  if (failed != OPUS_OK || positions == 0) return Error(Errc::internal, "libopus cannot be started");
  opus_encoder_ctl(encoder.get(), OPUS_SET_BITRATE(options.bitrate));
  opus_encoder_ctl(encoder.get(), OPUS_SET_COMPLEXITY(options.complexity));

  const auto measured = std::min(load.downlink_frames, kEnoughFrames);
  std::vector<std::uint8_t> packet(4000);
  bool encoded = true;
  const auto encode_s = seconds_of([&] {
    for (std::size_t i = 0; i < measured; ++i) {
      const auto size = opus_encode(encoder.get(), &speech[(i % positions) * frame], static_cast<int>(frame),
                                    packet.data(), static_cast<opus_int32>(packet.size()));
      encoded = encoded && size > 0;
    }
  });
  if (!encoded) return Error(Errc::internal, "libopus encodes nothing");
  floor.encode_us = encode_s / static_cast<double>(measured) * 1e6;
  floor.encode_s = floor.encode_us * static_cast<double>(load.downlink_frames) * 1e-6;
  return {};
}

/// The client's end of the replay.
class Replay {
 public:
  Replay(const std::vector<Trace>& traces, const FloorServer& server, Duration length)
      : traces_(traces), server_(server), length_(length), io_(1) {}

  /// CPU seconds of the server while the traffic ran.
  Result<double> run() {
    asio::co_spawn(io_, conduct(), [](const std::exception_ptr& thrown) {
      if (thrown) std::rethrow_exception(thrown);
    });
    io_.run();
    if (error_) return *error_;
    return cpu_s_;
  }

 private:
  Task<> conduct() {
    asio::steady_timer timer(io_);
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      const device::Url url{"127.0.0.1", std::to_string(server_.port()), "/" + std::to_string(i)};
      auto target = co_await device::Target::resolve(url);
      if (!target) co_return give_up(target.error());
      auto socket = co_await device::Socket::connect(*target, {}, Millis(10'000));
      if (!socket) co_return give_up(socket.error());
      sockets_.push_back(std::move(*socket));
      asio::co_spawn(io_, swallow(sockets_.back()), asio::detached);
    }
    const auto before = process_cpu_seconds(server_.pid());
    begin_ = Clock::now();
    for (std::size_t i = 0; i < traces_.size(); ++i) asio::co_spawn(io_, send(i), asio::detached);
    timer.expires_at(begin_ + length_);
    co_await timer.async_wait(kAwait);
    const auto after = process_cpu_seconds(server_.pid());
    if (!before || !after) co_return give_up(Error(Errc::internal, "the floor's server vanished"));
    cpu_s_ = *after - *before;
    for (const auto& socket : sockets_) socket->close();
  }

  void give_up(const Error& error) {
    error_ = error;
    io_.stop();
  }

  static Task<> swallow(std::shared_ptr<device::Socket> socket) {
    while (true) {
      const auto message = co_await socket->read();
      if (!message) co_return;
    }
  }

  Task<> send(std::size_t index) {
    asio::steady_timer timer(io_);
    const auto socket = sockets_[index];
    socket->send_text("go");
    for (const auto& frame : traces_[index].uplink) {
      const auto due = begin_ + std::chrono::microseconds(frame.at_us);
      if (due > Clock::now()) {
        timer.expires_at(due);
        co_await timer.async_wait(kAwait);
      }
      socket->send_binary(std::make_shared<const std::vector<std::uint8_t>>(frame.bytes));
    }
  }

  const std::vector<Trace>& traces_;
  const FloorServer& server_;
  Duration length_;
  asio::io_context io_;
  TimePoint begin_{};
  std::vector<std::shared_ptr<device::Socket>> sockets_;
  std::optional<Error> error_;
  double cpu_s_ = 0;
};

/// The traffic up to `length`, of the devices that had any.
std::vector<Trace> shorten(const std::vector<Trace>& traces, Duration length, std::size_t& messages) {
  std::vector<Trace> kept;
  const auto limit = std::chrono::duration_cast<std::chrono::microseconds>(length).count();
  const auto cut = [&](std::vector<TracedFrame> frames) {
    std::erase_if(frames, [&](const TracedFrame& frame) { return frame.at_us >= limit; });
    messages += frames.size();
    return frames;
  };
  for (const auto& trace : traces) kept.push_back({cut(trace.uplink), cut(trace.downlink)});
  return kept;
}

Result<> measure_websocket(const BenchOptions& options, const LoadResult& load, Floor& floor) {
  const auto length = std::min(options.duration, options.floor_duration);
  std::size_t messages = 0;
  const auto traces = shorten(load.traces, length, messages);
  if (messages == 0) return {};
  const auto server = FloorServer::start(traces);
  if (!server) return server.error();
  const auto cpu = Replay(traces, *server, length).run();
  if (!cpu) return cpu.error();
  floor.websocket_us = *cpu / static_cast<double>(messages) * 1e6;
  floor.websocket_s =
      floor.websocket_us * static_cast<double>(load.uplink_frames + load.downlink_frames) * 1e-6;
  return {};
}

}  // namespace

Result<Floor> measure_floor(const BenchOptions& options, const Material& material, const LoadResult& load) {
  Floor floor;
  if (load.uplink_heard > 0) {
    const auto listened = measure_listening(options, material, load.uplink_heard, floor);
    if (!listened) return listened.error();
  }
  if (load.downlink_frames > 0) {
    const auto spoken = measure_speaking(options, material, load, floor);
    if (!spoken) return spoken.error();
  }
  const auto carried = measure_websocket(options, load, floor);
  if (!carried) return carried.error();
  return floor;
}

}  // namespace parley::tools
