#include "parley/providers/sqlite_history.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "parley/core/log.hpp"
#include "providers/sqlite_conversations.hpp"

namespace parley::providers {
namespace {

using engine::PastTurn;

constexpr auto kPruneEvery = std::chrono::hours(1);
/// What waits at the end is written for that long, and for the one job that is being done.
constexpr auto kLastWrites = std::chrono::seconds(5);

class SqliteHistory final : public engine::ConversationStore {
 public:
  SqliteHistory(const config::HistorySettings& settings, std::shared_ptr<Metrics> metrics,
                SqliteHistoryOptions options)
      : settings_(settings),
        metrics_(std::move(metrics)),
        options_(std::move(options)),
        conversations_(settings.file, sqlite::Database::Mode::create) {
    conversations_.limit_size(settings.max_size);
    conversations_.prune(oldest());
    writer_ = std::thread([this] { write(); });
  }
  SqliteHistory(const SqliteHistory&) = delete;
  SqliteHistory& operator=(const SqliteHistory&) = delete;
  SqliteHistory(SqliteHistory&&) = delete;
  SqliteHistory& operator=(SqliteHistory&&) = delete;
  ~SqliteHistory() override { SqliteHistory::stop(); }

  void append(const std::string& device, PastTurn turn) override {
    if (const auto refused = submit(Append{device, std::move(turn)})) {
      metrics_->history_lost(refused->code == Errc::closed ? "stopped" : "queue_full");
      log::warn("a turn is not kept in the history", {{"device", device}, {"why", refused->message}});
    }
  }

  void load(const std::string& device, std::size_t max_turns, Loaded loaded) override {
    Load job{device, max_turns, loaded};
    if (auto refused = submit(std::move(job))) loaded(*std::move(refused));
  }

  void stop() override {
    {
      const std::scoped_lock lock(mutex_);
      if (!std::exchange(stopping_, true)) stop_by_ = Clock::now() + kLastWrites;
    }
    changed_.notify_one();
    if (writer_.joinable()) writer_.join();
  }

 private:
  struct Append {
    std::string device;
    PastTurn turn;
  };
  struct Load {
    std::string device;
    std::size_t max_turns = 0;
    Loaded loaded;
  };
  using Job = std::variant<Append, Load>;

  std::optional<Error> submit(Job job) {
    {
      const std::scoped_lock lock(mutex_);
      if (stopping_) return Error(Errc::closed, "the server is stopping");
      if (jobs_.size() >= options_.max_waiting) {
        return Error(Errc::overloaded, "the storage does not keep up", true);
      }
      jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
    return std::nullopt;
  }

  /// The writer's thread; nothing else touches the database after the constructor.
  void write() {
    std::unique_lock lock(mutex_);
    auto next_prune = Clock::now() + kPruneEvery;
    while (true) {
      changed_.wait_until(lock, next_prune, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty() && stopping_) return;
      if (stopping_ && Clock::now() >= stop_by_) {
        auto left = std::exchange(jobs_, {});
        lock.unlock();
        return give_up(std::move(left));
      }
      std::optional<Job> job;
      if (!jobs_.empty()) {
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      lock.unlock();
      if (job) std::visit([this](auto& what) { carry_out(what); }, *job);
      job.reset();
      if (Clock::now() >= next_prune) {
        prune();
        next_prune = Clock::now() + kPruneEvery;
      }
      lock.lock();
    }
  }

  void give_up(std::deque<Job> jobs) {
    std::size_t turns = 0;
    for (auto& job : jobs) {
      if (auto* const load = std::get_if<Load>(&job)) {
        load->loaded(Error(Errc::closed, "the server is stopping"));
      } else {
        metrics_->history_lost("stopped");
        ++turns;
      }
    }
    log::error("the history could not be written in time", {{"turns_lost", turns}});
  }

  void carry_out(Append& job) {
    try {
      conversations_.append(job.device, job.turn, settings_.max_turns_per_device);
    } catch (const std::exception& failure) {
      metrics_->history_lost("write_failed");
      if (lost_++ == 0) {
        log::error("the history cannot be written; conversations go on without it",
                   {{"why", failure.what()}});
      }
      return;
    }
    if (lost_ > 0) log::info("the history can be written again", {{"turns_lost", std::exchange(lost_, 0)}});
  }

  void carry_out(Load& job) {
    job.loaded([&]() -> Result<std::vector<PastTurn>> {
      try {
        return conversations_.newest(job.device, job.max_turns, oldest());
      } catch (const std::exception& failure) {
        return Error(Errc::unavailable, failure.what());
      }
    }());
  }

  void prune() {
    try {
      if (const auto deleted = conversations_.prune(oldest())) {
        log::info("old turns were deleted from the history", {{"turns", deleted}});
      }
    } catch (const std::exception& failure) {
      log::error("old turns cannot be deleted from the history", {{"why", failure.what()}});
    }
  }

  WallTime oldest() const { return options_.wall_clock() - settings_.keep; }

  config::HistorySettings settings_;
  std::shared_ptr<Metrics> metrics_;
  SqliteHistoryOptions options_;
  sqlite::Conversations conversations_;
  std::size_t lost_ = 0;  ///< since it could be written last
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  TimePoint stop_by_{};
  std::thread writer_;
};

}  // namespace

std::shared_ptr<engine::ConversationStore> open_sqlite_history(const config::HistorySettings& settings,
                                                               std::shared_ptr<Metrics> metrics,
                                                               SqliteHistoryOptions options) {
  return std::make_shared<SqliteHistory>(settings, std::move(metrics), std::move(options));
}

std::unique_ptr<engine::ConversationArchive> open_sqlite_archive(const std::filesystem::path& file) {
  return std::make_unique<sqlite::Conversations>(file, sqlite::Database::Mode::existing);
}

}  // namespace parley::providers
