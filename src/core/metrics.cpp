#include "parley/core/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace parley {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using Labels = std::map<std::string, std::string>;

Labels label(const char* name, std::string_view value) {
  return {{name, std::string(value)}};
}

const prometheus::Histogram::BucketBoundaries kMilliseconds = {1,   2,   5,    10,   20,   50,   100,
                                                               200, 500, 1000, 2000, 5000, 10000};

}  // namespace

struct Metrics::State {
  prometheus::Registry registry;

  prometheus::Family<prometheus::Counter>& counters(const char* name, const char* help) {
    return BuildCounter().Name(name).Help(help).Register(registry);
  }

  prometheus::Gauge& sessions =
      BuildGauge().Name("parley_sessions").Help("Connected devices").Register(registry).Add({});
  prometheus::Counter& sessions_begun = counters("parley_sessions_total", "Devices that said hello").Add({});
  prometheus::Family<prometheus::Counter>& sessions_ended =
      counters("parley_sessions_ended_total", "Sessions that ended, by reason");
  prometheus::Family<prometheus::Counter>& refused =
      counters("parley_connections_refused_total", "Connections refused before a session, by reason");
  prometheus::Family<prometheus::Counter>& turns = counters("parley_turns_total", "Turns, by outcome");
  prometheus::Family<prometheus::Histogram>& stages = BuildHistogram()
                                                          .Name("parley_stage_milliseconds")
                                                          .Help("Time of each stage of a turn")
                                                          .Register(registry);
  prometheus::Family<prometheus::Counter>& engine_errors =
      counters("parley_engine_errors_total", "Failures of engines and tools");
  prometheus::Family<prometheus::Counter>& frames =
      counters("parley_frames_total", "Audio frames, by direction");
  prometheus::Family<prometheus::Counter>& bytes =
      counters("parley_bytes_total", "WebSocket payload, by direction");
  prometheus::Counter& frames_received = frames.Add({{"direction", "in"}});
  prometheus::Counter& frames_sent = frames.Add({{"direction", "out"}});
  prometheus::Counter& bytes_received = bytes.Add({{"direction", "in"}});
  prometheus::Counter& bytes_sent = bytes.Add({{"direction", "out"}});
  prometheus::Family<prometheus::Counter>& dropped =
      counters("parley_frames_dropped_total", "Audio frames dropped, by reason");
  prometheus::Family<prometheus::Counter>& bad =
      counters("parley_bad_input_total", "Malformed input from devices, by kind");
  prometheus::Counter& underruns =
      counters("parley_underruns_total", "Times a device ran out of audio within a reply").Add({});
  prometheus::Histogram& lateness = BuildHistogram()
                                        .Name("parley_frame_lateness_milliseconds")
                                        .Help("How long after it was due a downlink frame was sent")
                                        .Register(registry)
                                        .Add({}, kMilliseconds);
  prometheus::Family<prometheus::Counter>& history_lost =
      counters("parley_history_lost_total", "Turns that the history does not keep, by reason");
  prometheus::Family<prometheus::Counter>& reminders =
      counters("parley_reminders_total", "Timers and reminders, by what became of them");
  prometheus::Gauge& workers = BuildGauge()
                                   .Name("parley_worker_jobs")
                                   .Help("Jobs queued or running on the worker pool")
                                   .Register(registry)
                                   .Add({});
};

Metrics::Metrics() : state_(std::make_unique<State>()) {
}
Metrics::~Metrics() = default;

void Metrics::session_began() {
  state_->sessions.Increment();
  state_->sessions_begun.Increment();
}
void Metrics::session_ended(std::string_view reason) {
  state_->sessions.Decrement();
  state_->sessions_ended.Add(label("reason", reason)).Increment();
}
void Metrics::connection_refused(std::string_view reason) {
  state_->refused.Add(label("reason", reason)).Increment();
}
void Metrics::turn_ended(std::string_view outcome) {
  state_->turns.Add(label("outcome", outcome)).Increment();
}
void Metrics::stage(std::string_view stage, double ms) {
  state_->stages.Add(label("stage", stage), kMilliseconds).Observe(ms);
}
void Metrics::engine_error(std::string_view role, std::string_view engine, std::string_view code) {
  state_->engine_errors
      .Add({{"role", std::string(role)}, {"engine", std::string(engine)}, {"code", std::string(code)}})
      .Increment();
}
void Metrics::frames_in(std::size_t bytes) {
  state_->frames_received.Increment();
  state_->bytes_received.Increment(static_cast<double>(bytes));
}
void Metrics::frame_out(std::size_t bytes) {
  state_->frames_sent.Increment();
  state_->bytes_sent.Increment(static_cast<double>(bytes));
}
void Metrics::frame_dropped(std::string_view reason) {
  state_->dropped.Add(label("reason", reason)).Increment();
}
void Metrics::bad_input(std::string_view kind) {
  state_->bad.Add(label("kind", kind)).Increment();
}
void Metrics::underrun() {
  state_->underruns.Increment();
}
void Metrics::playout_lateness(double ms) {
  state_->lateness.Observe(ms);
}
void Metrics::worker_jobs(std::size_t pending) {
  state_->workers.Set(static_cast<double>(pending));
}
void Metrics::history_lost(std::string_view reason) {
  state_->history_lost.Add(label("reason", reason)).Increment();
}
void Metrics::reminder(std::string_view event) {
  state_->reminders.Add(label("event", event)).Increment();
}

std::string Metrics::text() const {
  return prometheus::TextSerializer().Serialize(state_->registry.Collect());
}

}  // namespace parley
