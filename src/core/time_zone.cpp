#include "parley/core/time_zone.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "parley/core/error.hpp"

namespace parley {
namespace {

constexpr std::size_t kMaxFile = 1 << 20;
/// Files that leave later years to a rule end before this; ours spell them out.
constexpr std::int64_t kSpelledOut = 2'051'222'400;  // 2035-01-01

std::filesystem::path zone_file(const std::string& name) {
  const char* directory = std::getenv("TZDIR");  // NOLINT(concurrency-mt-unsafe): read at start-up
  return std::filesystem::path(directory != nullptr ? directory : "/usr/share/zoneinfo") / name;
}

bool plausible(const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '_' || c == '-' || c == '+';
  };
  return name.front() != '/' && std::all_of(name.begin(), name.end(), allowed);
}

/// Big-endian integers of a TZif file.
class Reader {
 public:
  explicit Reader(const std::string& content) : content_(content) {}

  std::int64_t integer(std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      value = value << 8U | static_cast<unsigned char>(content_.at(at_++));
    const unsigned unused = static_cast<unsigned>(64 - 8 * bytes);
    return static_cast<std::int64_t>(value << unused) >> unused;
  }
  void skip(std::size_t bytes) {
    at_ += bytes;
    if (at_ > content_.size()) throw std::out_of_range("skip");
  }
  bool magic() {
    const bool found = content_.compare(at_, 4, "TZif") == 0;
    at_ += 4;
    return found;
  }
  std::string rest() const { return at_ < content_.size() ? content_.substr(at_) : std::string(); }

 private:
  const std::string& content_;
  std::size_t at_ = 0;
};

struct Counts {
  std::size_t utc = 0;
  std::size_t standard = 0;
  std::size_t leaps = 0;
  std::size_t times = 0;
  std::size_t types = 0;
  std::size_t characters = 0;
};

Counts read_counts(Reader& reader) {
  reader.skip(16);  // version and reserved bytes
  const auto next = [&] { return static_cast<std::size_t>(reader.integer(4)); };
  Counts out;
  out.utc = next();
  out.standard = next();
  out.leaps = next();
  out.times = next();
  out.types = next();
  out.characters = next();
  for (const std::size_t count : {out.utc, out.standard, out.leaps, out.times, out.types, out.characters}) {
    if (count > kMaxFile) throw std::out_of_range("count");
  }
  return out;
}

}  // namespace

TimeZone::TimeZone(const std::string& name) {
  if (name.empty()) return;
  std::ifstream file;
  if (plausible(name) && std::filesystem::is_regular_file(zone_file(name))) {
    file.open(zone_file(name), std::ios::binary);
  }
  if (!file.is_open()) {
    throw Failure(Error(Errc::configuration,
                        "there is no time zone `" + name + "` here; expected a name as in `Europe/Berlin`"));
  }
  *this = parse(name, {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
}

TimeZone TimeZone::parse(const std::string& name, const std::string& content) {
  const auto fail = [&](const char* why) -> Failure {
    return Failure(Error(Errc::configuration, "the time zone file of `" + name + "` " + why));
  };
  TimeZone out;
  try {
    Reader reader(content);
    if (content.size() > kMaxFile || !reader.magic() || content.at(4) < '2')
      throw fail("is not of version 2 or newer");
    // The first block has 32-bit times; the second says the same in 64 bits.
    Counts counts = read_counts(reader);
    reader.skip(counts.times * 5 + counts.types * 6 + counts.characters + counts.leaps * 8 + counts.standard +
                counts.utc);
    if (!reader.magic()) throw fail("is damaged");
    counts = read_counts(reader);
    std::vector<std::int64_t> times(counts.times);
    std::vector<std::size_t> types(counts.times);
    std::vector<std::int32_t> offsets(counts.types);
    for (auto& time : times) time = reader.integer(8);
    for (auto& type : types) type = static_cast<std::size_t>(reader.integer(1) & 0xff);
    for (auto& offset : offsets) {
      offset = static_cast<std::int32_t>(reader.integer(4));
      reader.skip(2);
    }
    reader.skip(counts.characters + counts.leaps * 12 + counts.standard + counts.utc);
    out.periods_.push_back({.since = INT64_MIN, .offset = offsets.at(0)});
    for (std::size_t i = 0; i < times.size(); ++i) {
      out.periods_.push_back({.since = times[i], .offset = offsets.at(types[i])});
    }
    const bool rule_at_end = reader.rest().find(',') != std::string::npos;
    if (rule_at_end && out.periods_.back().since < kSpelledOut)
      throw fail("leaves summer time to a rule; install the full tzdata");
  } catch (const std::out_of_range&) {
    throw fail("is cut short");
  }
  return out;
}

std::tm TimeZone::local(WallTime now) const {
  std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm out{};
  if (periods_.empty()) {
    localtime_r(&seconds, &out);
    return out;
  }
  const auto after =
      std::upper_bound(periods_.begin(), periods_.end(), std::int64_t{seconds},
                       [](std::int64_t at, const Period& period) { return at < period.since; });
  seconds += std::prev(after)->offset;
  gmtime_r(&seconds, &out);
  return out;
}

WallTime TimeZone::moment(const std::tm& shown) const {
  auto copy = shown;
  const std::int64_t naive = timegm(&copy);
  const auto at = [](std::int64_t seconds) { return WallTime(std::chrono::seconds(seconds)); };
  const auto offset = [&](std::int64_t seconds) {
    auto there = local(at(seconds));
    return timegm(&there) - seconds;
  };
  constexpr std::int64_t kDay = 86'400;  // More than any offset; zones do not change twice in two days.
  const auto before = naive - offset(naive - kDay);
  const auto after = naive - offset(naive + kDay);
  const auto fits = [&](std::int64_t seconds) { return seconds + offset(seconds) == naive; };
  return at(!fits(before) && fits(after) ? after : before);
}

}  // namespace parley
