#include "parley/session/turn_log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>

namespace parley::session {
namespace {

class Nowhere final : public TurnLog {
 public:
  void write(const nlohmann::ordered_json& /*line*/) override {}
};

class File final : public TurnLog {
 public:
  explicit File(const std::filesystem::path& file)
      : logger_("turns", std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string())) {
    logger_.set_pattern("%v");
    logger_.flush_on(spdlog::level::info);
  }
  void write(const nlohmann::ordered_json& line) override {
    logger_.info(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

 private:
  spdlog::logger logger_;
};

}  // namespace

Result<std::shared_ptr<TurnLog>> open_turn_log(const std::filesystem::path& file) {
  if (file.empty()) return std::shared_ptr<TurnLog>(std::make_shared<Nowhere>());
  try {
    return std::shared_ptr<TurnLog>(std::make_shared<File>(file));
  } catch (const spdlog::spdlog_ex& failure) {
    return Error(Errc::configuration, std::string("the turn log cannot be written: ") + failure.what());
  }
}

}  // namespace parley::session
