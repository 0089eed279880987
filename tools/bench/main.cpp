#include <fstream>
#include <iostream>

#include "parley/core/log.hpp"
#include "process.hpp"
#include "report.hpp"

namespace parley::tools {
namespace {

constexpr int kFailed = 1;
constexpr int kRefused = 2;

int complain(const std::string& sentence, int exit_code) {
  std::cerr << "parley-bench: " << sentence << std::endl;
  return exit_code;
}

int run(const BenchOptions& options) {
  constexpr std::size_t other_files = 64;
  const auto allowed = allow_open_files(options.devices + other_files);
  if (!allowed) return complain(allowed.error().message, kRefused);
  const auto material = make_material(options);
  if (!material) return complain(material.error().message, kRefused);
  const auto load = run_load(options, *material);
  if (!load) return complain(load.error().message, load.error().code == Errc::internal ? kFailed : kRefused);

  std::optional<Floor> floor;
  if (options.floor && load->connected > 0) {
    const auto measured = measure_floor(options, *material, *load);
    if (!measured) return complain(measured.error().message, kFailed);
    floor = *measured;
  }
  const auto report = report_json(options, *load, floor);
  std::cout << report_text(report) << std::flush;
  if (!options.json.empty()) {
    std::ofstream out(options.json);
    out << report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    if (!out.flush()) return complain("cannot write " + options.json.string(), kFailed);
  }
  if (load->connected == 0) return complain("no device could connect", kRefused);
  const bool nothing_said = options.profile == Profile::talking && load->turns_completed == 0;
  const bool failed =
      !load->failures.empty() || load->turns_failed > 0 || load->violations > 0 || nothing_said;
  return failed ? complain("devices or turns failed", kFailed) : 0;
}

}  // namespace
}  // namespace parley::tools

int main(int argc, char** argv) {
  std::optional<int> exit_code;
  const auto options = parley::tools::parse_bench_options(argc, argv, exit_code);
  if (exit_code) return *exit_code;
  parley::log::configure(parley::log::Level::warn, false, false);
  try {
    return parley::tools::run(options);
  } catch (const std::exception& unexpected) {
    std::cerr << "parley-bench: " << unexpected.what() << '\n';
    return 1;
  }
}
