#pragma once

#include "load.hpp"

namespace parley::tools {

/// What the measured traffic costs when nothing but the unavoidable is done. CPU seconds for the whole
/// window.
struct Floor {
  double decode_s = 0;
  double vad_s = 0;
  double encode_s = 0;
  double websocket_s = 0;
  double decode_us = 0;     ///< per frame
  double vad_us = 0;        ///< per 20 ms
  double encode_us = 0;     ///< per frame
  double websocket_us = 0;  ///< per message, either way

  double sum_s() const { return decode_s + vad_s + encode_s + websocket_s; }
};

/// libopus and the VAD on as many frames as the run had, and its WebSocket messages, sizes and times replayed
/// against a bare Beast server in a process of its own. Nothing of a load is there to replay: all zero.
Result<Floor> measure_floor(const BenchOptions& options, const Material& material, const LoadResult& load);

}  // namespace parley::tools
