#include "report.hpp"

#include <cmath>
#include <cstdio>

#include "parley/device/statistics.hpp"

namespace parley::tools {
namespace {

using nlohmann::ordered_json;

double rounded(double value) {
  return std::round(value * 1000) / 1000;
}

ordered_json percentile_json(const std::vector<double>& values) {
  const auto p = device::percentiles(values);
  if (p.count == 0) return {{"count", 0}};
  return {{"count", p.count},
          {"p50", rounded(p.p50)},
          {"p90", rounded(p.p90)},
          {"p99", rounded(p.p99)},
          {"max", rounded(p.max)}};
}

ordered_json server_json(const LoadResult& load) {
  ordered_json server = ordered_json::object();
  const auto devices = static_cast<double>(std::max<std::size_t>(load.connected, 1));
  if (load.server_cpu_s) {
    const auto percent = *load.server_cpu_s / load.window_s * 100;
    server["cpu_percent"] = rounded(percent);
    server["cpu_percent_per_device"] = rounded(percent / devices);
  }
  if (load.rss_before_kib && load.rss_kib) {
    server["rss_before_kib"] = *load.rss_before_kib;
    server["rss_kib"] = *load.rss_kib;
    server["rss_kib_per_device"] = rounded((*load.rss_kib - *load.rss_before_kib) / devices);
  }
  return server;
}

ordered_json floor_json(const Floor& floor, const LoadResult& load) {
  const auto percent = [&](double seconds) { return rounded(seconds / load.window_s * 100); };
  ordered_json json{{"decode_percent", percent(floor.decode_s)},
                    {"vad_percent", percent(floor.vad_s)},
                    {"encode_percent", percent(floor.encode_s)},
                    {"websocket_percent", percent(floor.websocket_s)},
                    {"cpu_percent", percent(floor.sum_s())},
                    {"decode_us", rounded(floor.decode_us)},
                    {"vad_us", rounded(floor.vad_us)},
                    {"encode_us", rounded(floor.encode_us)},
                    {"websocket_us", rounded(floor.websocket_us)}};
  if (load.server_cpu_s && floor.sum_s() > 0) {
    json["server_to_floor"] = rounded(*load.server_cpu_s / floor.sum_s());
  }
  return json;
}

class Table {
 public:
  explicit Table(const ordered_json& report) : report_(report) {}

  template <class... Values>
  void line(const char* label, const char* format, Values... values) {
    char text[256];
    std::snprintf(text, sizeof text, format, values...);
    char row[320];
    std::snprintf(row, sizeof row, "%-28s %s\n", label, text);
    text_ += row;
  }
  void percentiles(const char* label, const char* key) {
    const auto found = report_.find(key);
    if (found == report_.end()) return;
    if (found->at("count") == 0) return line(label, "%10s", "none");
    line(label, "%10.2f %10.2f %10.2f %10.2f %9zu", number(*found, "p50"), number(*found, "p90"),
         number(*found, "p99"), number(*found, "max"), count(*found, "count"));
  }
  void raw(const std::string& more) { text_ += more; }
  static double number(const ordered_json& object, const char* key) { return object.at(key).get<double>(); }
  static std::size_t count(const ordered_json& object, const char* key) {
    return object.at(key).get<std::size_t>();
  }
  std::string text() const { return text_; }

 private:
  const ordered_json& report_;
  std::string text_;
};

void add_frames(Table& table, const ordered_json& report) {
  const auto& frames = report.at("frames");
  table.line("frames", "%zu up (%zu to be decoded), %zu down", Table::count(frames, "uplink"),
             Table::count(frames, "uplink_heard"), Table::count(frames, "downlink"));
  const auto& pacing = report.at("pacing");
  table.line("pacing", "%zu late, %zu over 20 ms too early (by %.1f ms at most)",
             Table::count(pacing, "late_frames"), Table::count(pacing, "early_frames"),
             Table::number(pacing, "most_early_ms"));
  table.line("playout", "%zu gaps (%.1f ms), %zu dropped", Table::count(pacing, "gaps"),
             Table::number(pacing, "gap_ms"), Table::count(pacing, "dropped"));
}

void add_cost(Table& table, const ordered_json& report) {
  const auto& server = report.at("server");
  if (server.contains("cpu_percent")) {
    table.line("server CPU", "%.2f %% of a core, %.4f %% a device", Table::number(server, "cpu_percent"),
               Table::number(server, "cpu_percent_per_device"));
  }
  if (server.contains("rss_kib")) {
    table.line("server memory", "%.1f MiB, before %.1f MiB, %.1f KiB a device",
               Table::number(server, "rss_kib") / 1024, Table::number(server, "rss_before_kib") / 1024,
               Table::number(server, "rss_kib_per_device"));
  }
  if (const auto floor = report.find("floor");
      floor != report.end() && Table::number(*floor, "cpu_percent") > 0) {
    const auto cost = [&](const char* label, const char* percent, const char* us) {
      table.line(label, "%.2f %% of a core, %.1f us each", Table::number(*floor, percent),
                 Table::number(*floor, us));
    };
    cost("floor: Opus decode", "decode_percent", "decode_us");
    cost("floor: VAD (20 ms)", "vad_percent", "vad_us");
    cost("floor: Opus encode", "encode_percent", "encode_us");
    cost("floor: WebSocket", "websocket_percent", "websocket_us");
    table.line("floor", "%.2f %% of a core", Table::number(*floor, "cpu_percent"));
    if (floor->contains("server_to_floor")) {
      table.line("server / floor", "%.2f", Table::number(*floor, "server_to_floor"));
    }
  }
  table.line("this program", "%.2f %% of a core", Table::number(report.at("bench"), "cpu_percent"));
}

}  // namespace

ordered_json report_json(const BenchOptions& options, const LoadResult& load,
                         const std::optional<Floor>& floor) {
  ordered_json report{{"url", options.url_text},
                      {"profile", to_string(options.profile)},
                      {"devices", options.devices},
                      {"connected", load.connected},
                      {"failures", load.failures},
                      {"window_s", rounded(load.window_s)},
                      {"turns", {{"completed", load.turns_completed}, {"failed", load.turns_failed}}},
                      {"tool_calls", load.tool_calls},
                      {"violations", load.violations},
                      {"handshake_ms", percentile_json(load.handshake_ms)}};
  if (load.added_ms) report["added_ms"] = percentile_json(*load.added_ms);
  if (options.profile == Profile::talking) {
    report["answer_ms"] = percentile_json(load.answer_ms);
    report["lateness_ms"] = percentile_json(load.lateness_ms);
  }
  report["frames"] = {{"uplink", load.uplink_frames},
                      {"uplink_heard", load.uplink_heard},
                      {"downlink", load.downlink_frames}};
  report["pacing"] = {{"send_ahead_ms", to_ms(options.send_ahead)},
                      {"late_frames", load.late_frames},
                      {"early_frames", load.early_frames},
                      {"most_early_ms", rounded(load.most_early_ms)},
                      {"gaps", load.playout.underruns},
                      {"gap_ms", rounded(to_ms(load.playout.gaps))},
                      {"dropped", load.playout.dropped()}};
  report["server"] = server_json(load);
  if (floor && load.window_s > 0) report["floor"] = floor_json(*floor, load);
  report["bench"] = {{"cpu_percent", rounded(load.window_s > 0 ? load.own_cpu_s / load.window_s * 100 : 0)}};
  report["bench_lag_ms"] = percentile_json(load.loop_lag_ms);
  return report;
}

std::string report_text(const ordered_json& report) {
  Table table(report);
  table.line("devices", "%zu %s, %zu connected, measured for %.1f s", Table::count(report, "devices"),
             report.at("profile").get<std::string>().c_str(), Table::count(report, "connected"),
             Table::number(report, "window_s"));
  for (const auto& [reason, times] : report.at("failures").items()) {
    table.raw("  failed " + times.dump() + " times: " + reason + "\n");
  }
  const auto& turns = report.at("turns");
  table.line("turns", "%zu completed, %zu failed, %zu tool calls, %zu protocol violations",
             Table::count(turns, "completed"), Table::count(turns, "failed"),
             Table::count(report, "tool_calls"), Table::count(report, "violations"));
  table.line("", "%10s %10s %10s %10s %9s", "p50", "p90", "p99", "max", "count");
  table.percentiles("handshake ms", "handshake_ms");
  table.percentiles("added ms", "added_ms");
  table.percentiles("answer ms", "answer_ms");
  table.percentiles("frame lateness ms", "lateness_ms");
  table.percentiles("this program's lag ms", "bench_lag_ms");
  add_frames(table, report);
  add_cost(table, report);
  return table.text();
}

}  // namespace parley::tools
